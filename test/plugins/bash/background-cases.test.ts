/** Cases of the catalogue that concern tasks in the background. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { systemClock } from '../../../kernel/host/clock.ts';
import { createMemoryStore } from '../../../kernel/session/memory-store.ts';
import { createTestSession, say, use } from '../../../kernel/testkit/index.ts';
import bash from '../../../plugins/bash/index.ts';
import { running, uniqueSleep, until } from './bench.ts';
import { openBash, type BashSession } from './session.ts';

const start = (at: BashSession, command: string, more: object = {}) => at.call('bash', { command, run_in_background: true, ...more });
const noticed = (at: BashSession): Promise<boolean> => until(() => at.notices().length === 1, 8000);

describe('B026: a task that fails', () => {
  test.each([
    ['with a status', 'echo out; echo err >&2; sleep 0.2; exit 3', 'Process exited with code 3'],
    ['by a signal', 'echo out; echo err >&2; sleep 0.2; kill -9 $$', 'Process was killed by SIGKILL'],
  ])('%s is an error whenever it is polled, in events, and after a resume', async (_name, command, end) => {
    const store = createMemoryStore(systemClock);
    const at = await openBash({}, { store });
    await start(at, command);
    expect(await noticed(at)).toBe(true);
    expect(at.notices()[0]).toContain(end);
    const error = { status: 'error', error: { code: 'EXTERNAL_ERROR', retryable: false } };
    expect(await at.call('bash_output', { task_id: 'bg-1' })).toMatchObject({ ...error, content: expect.stringMatching(`\nout\nerr\n\n${end}$`) });
    expect(await at.call('bash_output', { task_id: 'bg-1' })).toMatchObject({ ...error, content: expect.stringMatching(`no new output\\)\n\n${end}$`) });
    await at.session.close();
    await using again = await openBash({}, { store, session: at.session.id });
    await again.session.run('go on');
    expect(again.session.results().map(({ status }) => status)).toEqual(['ok', 'error', 'error']);
    expect(again.session.results()[1]?.content).toContain(end);
  });

  test('while it is waited for is an error at once', async () => {
    await using at = await openBash();
    await start(at, 'sleep 0.5; exit 7');
    expect(await at.call('bash_output', { task_id: 'bg-1', wait: 20 })).toMatchObject({ status: 'error', content: expect.stringMatching(/code 7$/) });
  });
});

describe('B027: the limits of a task', () => {
  test('the limit of the foreground is none of its own', async () => {
    await using at = await openBash({ timeoutMs: 300 });
    await start(at, 'sleep 1.2; echo over');
    expect(await at.call('bash_output', { task_id: 'bg-1', wait: 20 })).toMatchObject({ status: 'ok', content: expect.stringMatching(/\nover\n/) });
  });

  test.each([0, -1])('a timeout of %s is none', async (timeout) => {
    await using at = await openBash({ timeoutMs: 300 });
    await start(at, 'sleep 0.8; echo over', { timeout });
    expect(await at.call('bash_output', { task_id: 'bg-1', wait: 20 })).toMatchObject({ status: 'ok' });
  });

  test('one that was asked for kills it, which is told and stays an error', async () => {
    await using at = await openBash();
    const nap = uniqueSleep(400);
    await start(at, `echo begun; ${nap} & ${nap}`, { timeout: 0.6 });
    expect(await noticed(at)).toBe(true);
    expect(at.notices()[0]).toMatch(/has ended \(killed\) after \d+ seconds: \[TIMED OUT\] after 0\.6 seconds/);
    expect(running(nap)).toEqual([]);
    for (const output of ['begun', '(no new output)'])
      expect(await at.call('bash_output', { task_id: 'bg-1' })).toMatchObject({
        status: 'error',
        content: expect.stringContaining(`\n${output}\n`),
        error: { code: 'TIMEOUT', retryable: true },
      });
  });
});

test('B022: a task whose child left the group names it', async () => {
  await using at = await openBash();
  const nap = uniqueSleep(20);
  await start(at, `setsid ${nap} > /dev/null 2>&1 & sleep 0.3; exit 0`);
  const { content } = await at.call('bash_output', { task_id: 'bg-1', wait: 20 });
  const pids = running(nap);
  if (process.platform === 'linux')
    expect(content).toContain(`May still run, in a session of its own and so killed neither with the command nor with this session: pid ${pids[0]} (${nap})`);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
});

test('a renewal that switches the plugin off ends what runs', async () => {
  const nap = uniqueSleep(400);
  const off = definePlugin({
    name: 'off',
    capabilities: ['settings'],
    apply: ({ registries, powers }) =>
      void registries.commands.add({
        name: 'off',
        summary: 'off',
        run: async (_, at) => {
          await powers.settings.set({ plugins: { bash: false } });
          await at.renew();
        },
      }),
  });
  const model = { provider: 'script', model: 'script-model' };
  await using session = await createTestSession({
    plugins: [bash, off],
    interactive: true,
    settings: model,
    script: [use('bash', { command: nap, run_in_background: true }), say('ok')],
  });
  await session.run('go');
  expect(await until(() => running(nap).length === 1, 8000)).toBe(true);
  expect(await session.client.command('off', '')).toMatchObject({ ok: true });
  expect(await until(() => running(nap).length === 0)).toBe(true);
});

test('B024: the output of a task that never stops printing stays within its bounds', { timeout: 60_000 }, async () => {
  await using at = await openBash({ maxBytes: 2000 });
  const before = process.memoryUsage().rss;
  await start(at, 'yes "0123456789 0123456789"');
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  await new Promise((resolve) => setTimeout(resolve, 4000));
  const part = await at.call('bash_output', { task_id: 'bg-1' });
  clearInterval(watch);
  expect(Buffer.byteLength(part.content)).toBeLessThan(2600);
  expect(part.content).toMatch(/\d+ lines \(\d+ bytes\) were left out here\. The (whole output is|first 64 MiB are) in /);
  const log = / in (\/\S+?)\]/.exec(part.content)?.[1] ?? '';
  expect(existsSync(log)).toBe(true);
  expect((most - before) / 1_048_576).toBeLessThan(150);
  await at.call('bash_kill', { task_id: 'bg-1' });
  expect(readFileSync(log).length).toBeLessThanOrEqual(67_108_864);
});
