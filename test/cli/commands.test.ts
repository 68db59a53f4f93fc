import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/style.ts';
import { transcriptOf } from '../../cli/sessions/transcript.ts';
import { call, say, type TestProvider } from '../provider.ts';
import { useCommand } from './command.ts';
import { start, type Outcome, type Place } from './program.ts';

const { program, provide, project } = useCommand();
const cast = (
  args: readonly string[],
  place: Place,
  more: { readonly provider?: TestProvider; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Outcome> => start(args, { program: program(), place, ...more }).done;
const ROOT = new URL('../..', import.meta.url);

describe('cast plugins', () => {
  test('list: hooks with their taps in order, each with its source line, then plugins', async () => {
    const run = await cast(['plugins', 'list'], project());
    expect([run.code, run.stderr]).toEqual([0, '']);
    const gate = run.stdout.slice(run.stdout.indexOf('\ngate '), run.stdout.indexOf('\nask '));
    expect(gate).toMatch(/1 +policy +permissions\/\S[^\n]* plugins\/permissions\/index\.ts:\d+\n/);
    expect(run.stdout).toMatch(/✓ +bash +active/);
    expect(run.stdout).toMatch(/… +replay +waiting/);
    expect(run.stdout).not.toContain('\u001b');
  });

  test('the line that is named is where the tap is', async () => {
    const { hooks } = JSON.parse((await cast(['plugins', 'list', '--json'], project())).stdout) as {
      hooks: { name: string; taps: { label: string; source: string; plugin: string }[] }[];
    };
    for (const { name, taps } of hooks) {
      for (const { source, label } of taps) {
        const [, file = '', line] = /^(.*):(\d+)$/.exec(source) ?? [];
        const code = readFileSync(new URL(file, ROOT), 'utf8')
          .split('\n')
          .slice(Number(line) - 1, Number(line) + 3)
          .join('\n');
        expect([code.includes(name) || code.includes('tap('), label]).toEqual([true, label]);
      }
    }
    expect(hooks.map(({ name }) => name).slice(0, 3)).toEqual(['open', 'input', 'prepare']);
  });

  test('list: what a session did is counted, and whose it is', async () => {
    const place = project();
    const provider = await provide(call('bash', { command: 'true' }), say('ok'));
    await cast(['run', 'go'], place, { provider });
    const run = await cast(['plugins', 'list'], place);
    expect(run.stdout).toMatch(/those of session \S+/);
    expect(run.stdout).toMatch(/permissions\/[^\n]* 1 +\d+(?:\.\d)? ms/);
  });

  test('off, waiting and refused plugins have a reason', async () => {
    const place = project({ '~/settings.json': '{ "plugins": { "reminders": false, "mine": "./mine.mjs" } }', '~/mine.mjs': 'export default { kind: 5 };' });
    const { plugins } = JSON.parse((await cast(['plugins', 'list', '--json', '--plugin', 'usage=off'], place)).stdout) as {
      plugins: { name: string; state: string; why: string }[];
    };
    const of = (name: string) => plugins.find((plugin) => plugin.name === name);
    expect(of('reminders')).toMatchObject({ state: 'off', why: expect.stringContaining('settings.json') });
    expect(of('usage')).toMatchObject({ state: 'off', why: expect.stringContaining('flags') });
    expect(of('mine')).toMatchObject({ state: 'refused', why: expect.stringContaining('mine.mjs') });
    expect(of('replay')).toMatchObject({ state: 'waiting' });
  });

  test('code of an untrusted project is not run', async () => {
    const place = project({ 'cast.config.mjs': `process.stderr.write('config was run\\n'); export default {};` });
    const run = await cast(['plugins', 'list'], place);
    expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(/^cast: .*cast\.config\.mjs.*\n$/)]);
  });

  test('inspect: a plugin and a hook', async () => {
    const plugin = await cast(['plugins', 'inspect', 'permissions'], project());
    expect(plugin.stdout).toMatch(/state +✓ active[\s\S]*\ngate\n +1 +policy/);
    const hook = await cast(['plugins', 'inspect', 'gate', '--json'], project());
    expect(JSON.parse(hook.stdout)).toMatchObject({ name: 'gate', policy: 'refuse', taps: expect.arrayContaining([expect.objectContaining({ place: 1 })]) });
    const none = await cast(['plugins', 'inspect', 'permisions'], project());
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('Did you mean permissions?')]);
  });
});

describe('cast config', () => {
  const files = {
    '~/settings.json': JSON.stringify({
      model: 'saved',
      providers: { mine: { baseUrl: 'http://x/v1', headers: { 'x-extra': 'very-secret' } } },
      provider: 'mine',
    }),
  };

  test('each key with its layer and file, secrets left out', async () => {
    const place = project(files);
    const run = await cast(['config'], place, { env: { CAST_MODEL: 'wished' } });
    expect(run.stdout).toMatch(/^model +wished +environment$/m);
    expect(run.stdout).toMatch(new RegExp(`^providers\\.mine\\.baseUrl +http://x/v1 +${place.castHome}/settings\\.json$`, 'm'));
    expect(run.stdout).not.toContain('very-secret');
    const { entries } = JSON.parse((await cast(['config', '--json'], place)).stdout) as { entries: object[] };
    expect(entries).toContainEqual({ key: 'model', value: 'saved', layer: 'user-settings', file: join(place.castHome, 'settings.json') });
  });

  test('a mistake names file, line and layer', async () => {
    const place = project({ '~/settings.json': '{\n  "model": \n}' });
    const run = await cast(['config'], place);
    expect([run.code, run.stderr]).toEqual([3, expect.stringMatching(/settings\.json:3:\d+/)]);
  });
});

describe('cast doctor', () => {
  test('all is well with a provider that answers', async () => {
    const provider = await provide(say('ok'));
    const run = await cast(['doctor'], project(), { provider });
    expect([run.code, run.stdout.match(/✗/g)]).toEqual([0, null]);
    for (const name of ['node', 'config', 'store', 'sqlite', 'ripgrep', 'git', 'bash', 'provider']) expect(run.stdout).toMatch(new RegExp(`^✓ ${name} `, 'm'));
    expect(provider.questions).toEqual(['/v1/models']);
  });

  test('a provider is asked as a session asks it, and its address shown without what opens it', async () => {
    const provider = await provide(say('ok'));
    const settings = { model: 'm', provider: 'p', providers: { p: { baseUrl: `${provider.url}?api-version=2&api_key=opens-it`, key: '' } } };
    const run = await cast(['doctor'], project({ '~/settings.json': JSON.stringify(settings) }), { env: { CAST_API_KEY: 'for-another-host' } });
    expect(run.stdout).toMatch(/✓ provider +p at .*api-version=2/);
    expect(run.stdout).not.toContain('opens-it');
    expect(provider.questions).toEqual(['/v1/models?api-version=2&api_key=opens-it']);
  });

  test('what is wrong is marked, and the exit code says so', async () => {
    const place = project({ '~/settings.json': '{ "model": 7 }' });
    const broken = await cast(['doctor', '--json'], place);
    const findings = JSON.parse(broken.stdout) as { name: string; isFine: boolean }[];
    expect([broken.code, findings.find(({ name }) => name === 'config')?.isFine, findings.find(({ name }) => name === 'node')?.isFine]).toEqual([
      1,
      false,
      true,
    ]);
    const alone = await cast(['doctor'], project(), { env: { CAST_BASE_URL: 'http://127.0.0.1:9/v1', CAST_MODEL: 'm' } });
    expect([alone.code, alone.stdout]).toEqual([1, expect.stringMatching(/✗ provider .*127\.0\.0\.1:9/)]);
  });
});

describe('cast context', () => {
  test('the newest session of the project, another one by its id, or a new one', async () => {
    const place = project();
    expect((await cast(['context'], place)).stdout).toMatch(/^A new session with no model: about [\d,]+ of 128,000 tokens/);
    const provider = await provide(call('read', { path: 'nothing.txt' }), say('ok'));
    await cast(['run', 'look'], place, { provider });
    const run = await cast(['context'], place, { provider });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(/^Session (\S+) with env\/test-model: about /);
    expect(run.stdout).toMatch(/section identity +identity +\d+/);
    expect(run.stdout).toMatch(/tool read +files +\d+/);
    expect(run.stdout).toMatch(/prompts \(1\) +user +\d+/);
    expect(run.stdout).toMatch(/results of read \(1\) +files +\d+/);
    expect(run.stdout).toContain('The provider counted 100 tokens in the newest request.');
    const [, id = ''] = /^Session (\S+)/.exec(run.stdout) ?? [];
    const { session, parts } = JSON.parse((await cast(['context', '-s', id, '--json'], place)).stdout) as { session: string; parts: { kind: string }[] };
    expect([session, parts.some(({ kind }) => kind === 'messages')]).toEqual([id, true]);
    expect((await cast(['context', '--new'], place, { provider })).stdout).not.toContain('prompts');
    expect((await cast(['context', '-s', 'nothing'], place)).code).toBe(3);
    expect(provider.requests).toHaveLength(2);
  });
});

describe('cast sessions', () => {
  test('list and show', async () => {
    const place = project();
    const provider = await provide(call('bash', { command: 'echo shown' }), say('The end.'));
    await cast(['run', 'Do the thing'], place, { provider });
    const [record] = JSON.parse((await cast(['sessions', 'list', '--json'], place)).stdout) as { id: string; title: string }[];
    expect(record?.title).toContain('Do the thing');
    const list = await cast(['sessions', 'list'], place);
    expect(list.stdout).toMatch(new RegExp(`^${record?.id} .*test-model.*Do the thing$`, 'm'));
    const show = await cast(['sessions', 'show', record?.id ?? ''], place);
    expect(show.stdout).toMatch(/Do the thing[\s\S]*→ bash [\s\S]*shown[\s\S]*The end\./);
    expect((await cast(['sessions', 'list', '--cwd', place.home], place)).stdout).toContain('--all');
    expect((await cast(['sessions', 'list', '--all', '--cwd', place.home], place)).stdout).toContain('Do the thing');
    const none = await cast(['sessions', 'show', 'nope'], place);
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('there is no session nope')]);
  });

  test('a transcript can neither steer a terminal nor fill it', () => {
    const record = { id: 's', title: 't\u001b[2J', createdAt: 0, model: 'm', cwd: '/p' };
    const result = { type: 'result', id: 'c', tool: 'bash', status: 'ok', content: `\u001b]0;x\u0007${'line\n'.repeat(40)}` };
    const entry = { kind: 'message', data: { role: 'tool', origin: 'kernel', blocks: [result] } };
    const lines = transcriptOf(record as never, [entry as never], createPaint(false, {}));
    expect(lines.join('\n')).not.toMatch(/[^\P{Cc}\n]/u);
    expect(lines.at(-1)).toMatch(/28 more lines/);
  });
});

describe('cast trust', () => {
  test('a project is trusted, changes, is trusted again and forgotten', async () => {
    const place = project({ 'cast.config.json': '{ "model": "from-project" }', 'AGENTS.md': 'Be nice.' });
    const model = async (): Promise<unknown> => {
      const { entries } = JSON.parse((await cast(['config', '--json'], place)).stdout) as { entries: { key: string; value: unknown }[] };
      return entries.find(({ key }) => key === 'model')?.value;
    };
    expect(await model()).toBeUndefined();
    const trusted = await cast(['trust'], place);
    expect(trusted.stdout).toMatch(/Trusted:[\s\S]*may run +cast\.config\.json[\s\S]*is read +AGENTS\.md/);
    expect(await model()).toBe('from-project');
    expect((await cast(['trust', 'list'], place)).stdout).toContain(place.cwd);
    expect((await cast(['trust', 'revoke'], place)).stdout).toContain('No longer trusted');
    expect(await model()).toBeUndefined();
    expect((await cast(['trust', 'revoke'], place)).stdout).toContain('no decision');
    await cast(['trust', '--trust=text'], place);
    expect(await model()).toBeUndefined();
  });

  test('a record that cannot be read is not written over', async () => {
    const place = project({ '~/trust.json': 'not json' });
    const run = await cast(['trust'], place);
    expect([run.code, readFileSync(join(place.castHome, 'trust.json'), 'utf8')]).toEqual([3, 'not json']);
  });
});

describe('cast demo', () => {
  test('a real turn, no key, no network, nothing left behind', async () => {
    const place = project();
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('cast-demo-'));
    // A proxy that does not exist: whatever went to the network would fail.
    const run = await cast(['demo'], place, { env: { HTTPS_PROXY: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9', ALL_PROXY: 'http://127.0.0.1:9' } });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(/read median\.js[\s\S]*✗ bash[\s\S]*fail 1[\s\S]*✓ edit[\s\S]*✓ bash[\s\S]*fail 0[\s\S]*✓ The test passes/);
    expect(run.ms).toBeLessThan(10_000);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('cast-demo-'))).toEqual(before);
    expect(existsSync(place.castHome)).toBe(false);
  });

  test('when the project is not mended it says so', async () => {
    const place = project({ 'spoil.sh': 'rm -f median.js\n' });
    const run = await cast(['demo'], place, { env: { BASH_ENV: join(place.cwd, 'spoil.sh') } });
    expect([run.code, run.stdout]).toEqual([1, expect.stringContaining('does not pass')]);
  });
});

test('help names every command, and each command its flags', async () => {
  const place = project();
  const help = (await cast(['--help'], place)).stdout;
  for (const name of [
    'run',
    'plugins list',
    'plugins inspect',
    'config',
    'doctor',
    'context',
    'sessions list',
    'sessions show',
    'trust',
    'demo',
    'usage',
    'record FILE',
    'replay FILE',
  ])
    expect(help).toContain(`cast ${name}`);
  expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
  expect((await cast(['run', '--help'], place)).stdout).toMatch(/-m, --model ID +\S/);
  expect((await cast(['sessions', 'show', '--help'], place)).stdout).toContain('cast sessions show [flags] ID');
});
