import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, say, type Reply } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf, streamFaults, type Outcome } from './program.ts';

const { provide, project, cast } = useCommand();
const stream = (...rest: readonly string[]): readonly string[] => ['run', '--format', 'stream-json', ...rest];

describe('formats', () => {
  const replies = [call('bash', { command: 'echo from-the-tool' }, { text: 'Looking.', reasoning: 'hm' }), say('The answer.')];

  test('text: answers on standard output, the rest on standard error', async () => {
    const run = await cast(['run', 'go'], { provider: await provide(...replies) });
    expect(run).toMatchObject({ code: 0, stdout: 'Looking.\nThe answer.\n' });
    expect(run.stderr).toContain('  bash echo from-the-tool');
    expect(run.stderr).not.toContain('\u001b');
  });

  test('json: one object', async () => {
    const run = await cast(['run', '--format', 'json', 'go'], { provider: await provide(...replies) });
    expect(JSON.parse(run.stdout)).toMatchObject({
      model: 'test-model',
      result: 'The answer.',
      error: null,
      reason: 'stop',
      turns: 1,
      steps: 2,
      toolCalls: 1,
      usage: { promptTokens: 200 },
      permissionDenials: [],
    });
    expect(run.code).toBe(0);
  });

  test('stream-json: every event on a line of its own, in order', async () => {
    const run = await cast(stream('go'), { provider: await provide(...replies) });
    expect(streamFaults(run)).toEqual([]);
    expect(linesOf(run).map(({ type }) => type)).toEqual([
      'session',
      'thinking',
      'token',
      'usage',
      'assistant_message',
      'tool_start',
      'tool_end',
      'token',
      'usage',
      'assistant_message',
      'end',
    ]);
    expect(linesOf(run)[0]).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), tools: expect.arrayContaining(['bash', 'read']) });
  });

  test('characters that break lines or pairs survive', async () => {
    const text = 'one\u2028two 🙂🙂🙂 three';
    const run = await cast(stream('go'), { provider: await provide(say(text, { piece: 1 })) });
    expect(streamFaults(run)).toEqual([]);
    const tokens = linesOf(run).filter(({ type }) => type === 'token');
    expect(tokens.map((line) => line['text']).join('')).toBe(text);
    expect(run.stdout).not.toContain('\u2028');
  });

  test('a denial is listed', async () => {
    const run = await cast(['run', '--format', 'json', '--deny', 'bash', 'go'], { provider: await provide(...replies) });
    expect(JSON.parse(run.stdout).permissionDenials).toMatchObject([{ tool: 'bash' }]);
  });
});

describe('exit codes, the same in every format', () => {
  const failures: readonly (readonly [name: string, code: number, reply: Reply])[] = [
    ['the provider refuses the request', 1, { status: 400, error: 'unknown field frobnicate' }],
    ['the key is wrong', 2, { status: 401, error: 'frobnicate key' }],
    ['the quota is used up', 2, { status: 429, error: 'You exceeded your current quota: frobnicate' }],
  ];
  for (const [name, code, reply] of failures) {
    test.each(['text', 'json', 'stream-json'])(`${name}: %s`, async (format) => {
      const run = await cast(['run', '--format', format, 'go'], { provider: await provide(reply) });
      expect(run.code).toBe(code);
      expect(run.stdout + run.stderr).toContain('frobnicate');
      if (format === 'json') expect(JSON.parse(run.stdout)).toMatchObject({ reason: 'error', error: { message: expect.stringContaining('frobnicate') } });
      if (format === 'text') expect(run.stdout).toBe('');
      if (format === 'stream-json') expect(streamFaults(run)).toEqual([]);
    });
  }

  test('the limit of steps', async () => {
    const provider = await provide(call('bash', { command: 'echo 1' }), call('bash', { command: 'echo 2' }), call('bash', { command: 'echo 3' }));
    const run = await cast(stream('--max-steps', '2', 'go'), { provider });
    expect([run.code, provider.requests.length, linesOf(run).at(-1)]).toMatchObject([1, 2, { reason: 'limit' }]);
  });
});

describe('refused before anything is sent', () => {
  const REFUSALS: readonly (readonly [name: string, args: readonly string[], says: string | RegExp])[] = [
    ['an unknown flag, with the nearest one', ['run', '--modle', 'x', 'p'], '--model'],
    ['an unknown flag behind the prompt', ['run', 'p', '--bogus'], '--bogus'],
    ['a flag without its value', ['run', '-m'], '-m needs a value'],
    ['a wrong value', ['run', '--format', 'yaml', 'p'], 'text, json, stream-json'],
    ['no number', ['run', '--max-steps', 'many', 'p'], '--max-steps many'],
    ['a wrong switch', ['run', '--plugin', 'bash', 'p'], 'NAME=on'],
    ['an unknown plugin', ['run', '--plugin', 'bahs=off', 'p'], 'bash'],
    ['a flag of a later version', ['run', '--max-cost', '1', 'p'], '--max-cost'],
    ['two sessions', ['run', '-c', '-s', 'x', 'p'], '-c and -s'],
    ['two modes', ['run', '--bypass-permissions', '--permission-mode', 'ask', 'p'], 'cannot be combined'],
    ['a folder that is none', ['run', '--cwd', 'nowhere', 'p'], 'nowhere'],
    ['an unreadable schema', ['run', '--output-schema', 'none.json', 'p'], 'none.json'],
    ['an image that is none', ['run', '--image', 'a.txt', 'p'], 'PNG'],
    ['an unreadable image', ['run', '--image', 'none.png', 'p'], 'none.png'],
    ['no session to go on with', ['run', '-c', 'p'], 'no session to continue'],
    ['an unknown session', ['run', '-s', 'nope1234', 'p'], 'nope1234'],
    ['no prompt', ['run'], 'there is no prompt'],
    ['a mistyped command', ['modls', 'list'], 'no command modls'],
    ['a mistyped command that is near one', ['plugin', 'list'], 'cast plugins list'],
    ['a mistyped second word', ['plugins', 'lst'], 'cast plugins list'],
    ['a typo of a server command', ['web', 'stpo'], 'no command web'],
    ['a prompt without run', ['fix', 'the', 'tests'], 'cast run'],
    ['nothing at all', [], 'cast run'],
  ];

  test.each(REFUSALS)('%s', async (_, args, says) => {
    const provider = await provide(say('no'));
    const run = await cast(args, { provider, place: project({ 'a.txt': 'text' }) });
    expect(run.stderr).toMatch(says);
    expect(run.stderr).not.toMatch(/^\s+at /m);
    expect([run.code, run.stdout, provider.requests.length]).toEqual([3, '', 0]);
  });

  test.each([
    ['a bad flag', stream('--bogus', 'p')],
    ['a bad configuration', stream('p')],
  ])('%s is JSON as well, and told on standard error', async (_, args) => {
    const place = project({ '~/settings.json': '{ "model": 7 }' });
    const run = await cast(args, { place, provider: await provide() });
    expect(linesOf(run)).toMatchObject([
      { type: 'error', seq: 1, code: expect.any(String) },
      { type: 'end', seq: 2, reason: 'error', exitCode: 3 },
    ]);
    expect([run.code, run.stderr]).toEqual([3, expect.stringMatching(/^cast: /)]);
  });

  test('nothing is configured: what to set is named', async () => {
    const run = await cast(['run', 'hello']);
    expect([run.code, run.stderr]).toEqual([3, expect.stringMatching(/CAST_BASE_URL.*CAST_MODEL/)]);
  });

  test('a provider without a model', async () => {
    const run = await cast(['run', 'hello'], { env: { CAST_BASE_URL: 'http://127.0.0.1:9/v1' } });
    expect([run.code, run.stderr]).toEqual([3, expect.stringContaining('--model')]);
  });

  test('words behind -- are the prompt', async () => {
    const provider = await provide(say('ok'));
    expect((await cast(['run', '--', '--help', 'me'], { provider })).code).toBe(0);
    expect(provider.prompts()).toContain('--help me');
  });
});

describe('standard input', () => {
  test('alone it is the prompt', async () => {
    const provider = await provide(say('ok'));
    expect((await cast(['run'], { provider, stdin: 'what is this?\n' })).code).toBe(0);
    expect(provider.prompts()).toContain('what is this?');
  });

  test('beside a prompt it is added, marked as what it is', async () => {
    const provider = await provide(say('ok'));
    await cast(['run', 'explain'], { provider, stdin: 'a line\n' });
    expect(provider.prompts()).toContain('explain\n\n<stdin>\na line\n</stdin>');
  });

  test('a pipe that is held open without data does not hold up a run', async () => {
    const provider = await provide(say('ok'));
    const run = await cast(['run', 'go'], { provider, stdin: { heldOpen: true } });
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('standard input')]);
    expect(provider.requests[0]?.at).toBeLessThan(4_000);
    expect(run.ms).toBeLessThan(6_000);
  });

  test('no input at all', async () => {
    expect((await cast(['run', 'go'], { provider: await provide(say('ok')), stdin: null })).code).toBe(0);
    expect((await cast(['run'], { provider: await provide(say('ok')), stdin: null })).code).toBe(3);
  });

  test('too much of it', async () => {
    const provider = await provide(say('ok'));
    const run = await cast(['run', 'go'], { provider, stdin: 'x'.repeat(10 * 1024 * 1024 + 1) });
    expect([run.code, provider.requests.length, run.stderr]).toEqual([3, 0, expect.stringContaining('10 MiB')]);
  });
});

describe('flags', () => {
  test('-m and -r, --allow, --permission-mode and --plugin reach the session', async () => {
    const provider = await provide(say('ok'));
    const flags = ['-m', 'other', '-r', 'high', '--permission-mode', 'ask', '--allow', 'read', '--plugin', 'reminders=off'];
    expect((await cast(['run', ...flags, 'go'], { provider })).code).toBe(0);
    expect(provider.requests[0]?.body.model).toBe('other');
    expect(JSON.stringify(provider.requests[0]?.body)).toContain('high');
    expect(provider.prompts()).not.toContain('<system-reminder>');
  });

  test('--permission-mode ask denies what nobody can be asked about, --bypass-permissions allows it', async () => {
    const write = call('write', { path: 'new.txt', content: 'x' });
    const asked = await cast(stream('--permission-mode', 'ask', 'go'), { provider: await provide(write, say('ok')) });
    const bypassed = await cast(stream('--bypass-permissions', 'go'), { provider: await provide(write, say('ok')) });
    const statusIn = (run: Outcome): unknown => linesOf(run).find(({ type }) => type === 'tool_end')?.['status'];
    expect([statusIn(asked), statusIn(bypassed)]).toEqual(['denied', 'ok']);
    expect(linesOf(asked).some(({ type }) => type === 'permission')).toBe(true);
  });

  test('--cwd', async () => {
    const place = project();
    mkdirSync(join(place.cwd, 'inner'));
    const run = await cast(stream('--cwd', 'inner', 'go'), { place, provider: await provide(say('ok')) });
    expect(linesOf(run)[0]?.['cwd']).toBe(realpathSync(join(place.cwd, 'inner')));
  });

  test('--image is sent along', async () => {
    const place = project();
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    writeFileSync(join(place.cwd, 'dot.png'), png);
    const provider = await provide(say('ok'));
    expect((await cast(['run', '--image', 'dot.png', 'what is it?'], { place, provider })).code).toBe(0);
    expect(JSON.stringify(provider.requests[0]?.body.messages)).toContain(`data:image/png;base64,${png.toString('base64')}`);
  });

  test('-c, -s and --resume go on, a plain run does not, --no-session leaves nothing', async () => {
    const place = project();
    const provider = await provide(say('first answer'), say('second answer'), say('third answer'));
    const first = await cast(stream('first prompt'), { place, provider });
    await cast(['run', '-c', 'second prompt'], { place, provider });
    expect(provider.prompts()).toContain('first prompt');
    const id = String(linesOf(first)[0]?.['sessionId']);
    await cast(['run', '-s', id, '--cwd', place.home, 'third prompt'], { place, provider });
    expect(provider.prompts()).toMatch(/first prompt[\s\S]*second prompt[\s\S]*third prompt/);
    await cast(['run', `--resume=${id}`, '--cwd', place.home, 'again'], { place, provider });
    expect(provider.prompts()).toMatch(/first prompt[\s\S]*third prompt[\s\S]*again/);
    await cast(['run', 'fourth prompt'], { place, provider });
    expect(provider.prompts()).not.toContain('first prompt');

    const other = project();
    await cast(['run', '--no-session', 'go'], { place: other, provider });
    expect((await cast(['run', '-c', 'go'], { place: other, provider })).code).toBe(3);
  });

  test('a session goes on where it worked, with the configuration of that place, wherever cast is started', async () => {
    const place = project({ 'inner/.cast/settings.json': '{ "plugins": { "todo": false } }' });
    const provider = await provide(say('one'), say('two'), say('three'));
    const first = await cast(stream('--trust', '--cwd', 'inner', 'first'), { place, provider });
    const id = String(linesOf(first)[0]?.['sessionId']);
    const second = await cast(stream('--trust', '-s', id, 'second'), { place, provider });
    expect(linesOf(second)[0]?.['cwd']).toBe(realpathSync(join(place.cwd, 'inner')));
    for (const run of [first, second]) expect(linesOf(run)[0]?.['tools']).not.toContain('todo_write');
    rmSync(join(place.cwd, 'inner'), { recursive: true });
    const third = await cast(stream('-s', id, 'third'), { place, provider });
    expect(linesOf(third)[0]?.['cwd']).toBe(realpathSync(place.cwd));
    expect(third.stdout).toContain('is gone');
    expect(provider.prompts()).toMatch(/first[\s\S]*second[\s\S]*third/);
  });

  test('--fork goes on with a copy', async () => {
    const place = project();
    const provider = await provide(say('one'), say('two'), say('three'), say('four'));
    const id = String(linesOf(await cast(stream('first'), { place, provider }))[0]?.['sessionId']);
    const fork = linesOf(await cast(stream('--fork', '-s', id, 'second'), { place, provider }))[0]?.['sessionId'];
    expect(fork).not.toBe(id);
    await cast(['run', '-s', id, 'third'], { place, provider });
    expect(provider.prompts()).toMatch(/first[\s\S]*third/);
    expect(provider.prompts()).not.toContain('second');
    const newest = linesOf(await cast(stream('--fork', 'fourth'), { place, provider }))[0]?.['sessionId'];
    expect([id, fork]).not.toContain(newest);
    expect(provider.prompts()).toMatch(/first[\s\S]*third[\s\S]*fourth/);
    expect((await cast(['run', '--fork', '--no-session', 'x'], { place, provider })).code).toBe(3);
  });

  test('--safe reads no plugins of the user', async () => {
    const place = project({
      '~/settings.json': '{ "plugins": { "mine": "./mine.mjs" } }',
      '~/mine.mjs': 'process.stderr.write("mine was loaded"); export default 1;',
    });
    const run = await cast(['run', '--safe', 'go'], { place, provider: await provide(say('ok')) });
    expect([run.code, run.stderr]).toEqual([0, expect.not.stringContaining('mine was loaded')]);
  });
});

describe('commands and trust', () => {
  test('a prompt that is a command asks no model', async () => {
    const provider = await provide(say('no'));
    const run = await cast(['run', '/permissions'], { provider });
    expect([run.code, provider.requests.length]).toEqual([0, 0]);
    expect(run.stdout.trim()).not.toBe('');
    const machine = await cast(stream('/permissions'), { provider });
    expect(streamFaults(machine)).toEqual([]);
    const json = await cast(['run', '--format', 'json', '/permissions'], { provider });
    expect(JSON.parse(json.stdout)).toMatchObject({ reason: 'stop', error: null, result: expect.stringMatching(/\S/) });
  });

  test('a path at the beginning is a prompt', async () => {
    const provider = await provide(say('ok'));
    await cast(['run', '/usr/bin/env does not work'], { provider });
    expect(provider.prompts()).toContain('/usr/bin/env does not work');
  });

  test('an untrusted project: one line says so, nothing of it is used', async () => {
    const place = project({ 'cast.config.mjs': 'process.stderr.write("config was run\\n"); export default { model: "from-project" };' });
    const provider = await provide(say('ok'));
    const run = await cast(['run', 'go'], { place, provider, env: { CAST_MODEL: '' } });
    expect(run.stderr).not.toContain('config was run');
    const lines = run.stderr.split('\n').filter((line) => line.includes('cast.config.mjs'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/cast trust/);

    const trusted = await cast(['run', '--trust', 'go'], { place, provider, env: { CAST_MODEL: '' } });
    expect([trusted.code, provider.requests.at(-1)?.body.model]).toEqual([0, 'from-project']);
    const textOnly = await cast(['run', '--trust=text', 'go'], { place, provider });
    expect(textOnly.stderr).not.toContain('config was run');
  });
});
