import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { validate } from '../../../kernel/index.ts';
import bash from '../../../plugins/bash/index.ts';
import { running, uniqueSleep } from './bench.ts';
import { openBash } from './session.ts';

const optionsOf = async (given: object) => {
  if (!bash.spec.options) throw new Error('no options');
  return validate(bash.spec.options, given);
};

const DEFAULTS = { timeoutMs: 180_000, foregroundMs: 60_000, maxLines: 2000, maxBytes: 131_072 };

test.each([
  [{}, DEFAULTS],
  [
    { timeoutMs: 1000, foregroundMs: 5 },
    { ...DEFAULTS, timeoutMs: 1000, foregroundMs: 5 },
  ],
])('options %j', async (given, value) => {
  expect(await optionsOf(given)).toEqual({ value });
});

test.each([{ timeoutMs: 0 }, { timeoutMs: '5' }, { foregroundMs: 0 }, { maxBytes: 1e9 }, { maxLines: -1 }, { lines: 5 }])(
  'options %j are refused',
  async (given) => {
    expect(await optionsOf(given)).toHaveProperty('issues');
  },
);

describe('what the model is told', () => {
  const told = async (interactive: boolean) => {
    await using at = await openBash({}, { interactive });
    await at.session.run('go');
    return JSON.stringify(at.session.requests[0]?.tools.filter(({ name }) => name.startsWith('bash')));
  };

  test('is what holds in its session', async () => {
    expect(await told(false)).toMatch(/2000 lines or 131072 bytes in all.*killed after 180 seconds/);
    expect(await told(true)).toMatch(/runs after 60 seconds.*is not killed.*run_in_background.*bash_output.*bash_kill/);
  });
});

test('other names for it are pointed out, and arguments with raw line ends are read', async () => {
  await using at = await openBash();
  expect((await at.call('execute', { command: 'true' })).content).toMatch(/bash/);
  await using other = await openBash({}, { interactive: false });
  expect(await other.call('bash', '{"command":"echo a\necho b"}' as never)).toMatchObject({ status: 'ok', content: 'a\nb' });
});

test('with the shell of the environment', async () => {
  await using at = await openBash({}, { interactive: false, environment: { CAST_BASH: '/bin/echo' } });
  expect(await at.call('bash', { command: 'true' })).toMatchObject({ content: '-c true' });
});

test('nothing is left behind the session, and all of it is there until then', async () => {
  const at = await openBash({ maxLines: 100 }, { interactive: false });
  const nap = uniqueSleep(400);
  const { content } = await at.call('bash', { command: `seq 1 200; ${nap} &` });
  const log = / in (\/\S+?)\]/.exec(content)?.[1] ?? '';
  expect(content).toMatch(/^1\n\[100 lines[^]*\n200\n\nStill running: pid/);
  // A renewal of the plugins is no end of the session.
  await at.session.client.command('renew', '');
  await at.call('bash', { command: 'true' });
  expect([running(nap).length, existsSync(log)]).toEqual([1, true]);
  await at.session.close();
  expect([running(nap).length, existsSync(dirname(log))]).toEqual([0, false]);
});
