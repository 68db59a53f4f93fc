/** `cast` for the first time, on a terminal: from nothing to a configuration that answers. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { nameFor } from '../../../cli/first-run/set-up.ts';
import { useCommand } from '../command.ts';
import type { Place } from '../program.ts';
import { LOCAL_KINDS, startLocalServer } from './local-servers.ts';

const DRIVER = fileURLToPath(new URL('./terminal.py', import.meta.url));
const hasTerminal = spawnSync('python3', ['-c', 'import pty'], { stdio: 'ignore' }).status === 0;
if (!hasTerminal) process.stdout.write('python3 with pty is not here, so the first run is not tested on a terminal\n');

const { program, project, cast, later } = useCommand();
const [ESC, END, INTERRUPT] = ['\u001b', '\u0004', '\u0003'];

interface Shown {
  readonly code: number | null;
  readonly shown: string;
  /** Steps that were not come to. */
  readonly left: readonly unknown[];
}
const onTerminal = async (
  place: Place,
  args: readonly string[],
  steps: readonly (readonly [shown: string, typed: string])[],
  env: Record<string, string> = {},
): Promise<Shown> => {
  const child = spawn('python3', [DRIVER, JSON.stringify(steps), process.execPath, program(), ...args], {
    cwd: place.cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: place.home, CAST_HOME: place.castHome, TERM: 'xterm', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(out) as Shown;
};
const serve = async (...given: Parameters<typeof startLocalServer>) => {
  const server = await startLocalServer(...given);
  later(server.close);
  return server;
};
const kept = (place: Place, file: string): unknown =>
  existsSync(join(place.castHome, file)) ? JSON.parse(readFileSync(join(place.castHome, file), 'utf8')) : undefined;
/** What is found first, whatever runs on the machine of the tests. */
const found = (port: number) => ({ OLLAMA_HOST: `127.0.0.1:${port}` });

describe.skipIf(!hasTerminal)('on a terminal', () => {
  test.each(LOCAL_KINDS)(
    '$name is found, chosen by numbers, and answers with its real window',
    async ({ name, model, window, answers }) => {
      const { port } = await serve(answers);
      const place = project();
      const first = await onTerminal(
        place,
        [],
        [
          ['Which one', '1\r'],
          ['Which model', '1\r'],
        ],
        found(port),
      );
      expect(first).toMatchObject({ code: 0, left: [] });
      expect(first.shown).toMatch(new RegExp(`1\\.\\s+${name.replace('.', '\\.')}\\s+http://127\\.0\\.0\\.1:${port}/v1\\s+1 model`));
      expect(first.shown).toContain(`${model} answers, with a context window of ${window} tokens`);
      expect(first.shown).toContain('cast run');
      const settings = kept(place, 'settings.json') as { provider: string };
      expect(settings).toMatchObject({
        model,
        provider: expect.any(String),
        providers: { [settings.provider]: { baseUrl: `http://127.0.0.1:${port}/v1`, key: '', model } },
      });
      expect(statSync(join(place.castHome, 'settings.json')).mode & 0o777).toBe(0o600);
      const run = await cast(['run', 'hi'], { place });
      expect(run).toMatchObject({ code: 0, stdout: 'hello from here\n' });
      const context = await cast(['context', '--json'], { place });
      expect(JSON.parse(context.stdout)).toMatchObject({ window });
    },
    60_000,
  );

  test('an address and a key of one’s own; what went behind `cast` is the first prompt', async () => {
    const { port } = await serve({ 'GET /v1/models': { data: [{ id: 'alpha' }, { id: 'beta' }] } });
    const place = project();
    const steps = [
      ['Which one', 'another\r'],
      ['another address', ''],
      ['Which one', '1\r'],
      ['Address', '127.0.0.1:9/v1\r'],
      ['API key', '\r'],
      ['cannot be reached', ''],
      ['Which one', 'another address\r'],
      ['Address', `\u0015http://127.0.0.1:${port}\r`],
      ['API key', 'sk-typed-in-secret\r'],
      ['Which model', 'bet\r'],
      ['Which model', '1\r'],
    ] as const;
    const { port: other } = await serve(LOCAL_KINDS[3]?.answers ?? {});
    const { code, shown, left } = await onTerminal(place, ['tell', 'me', 'something'], steps, found(other));
    expect({ code, left }, shown).toEqual({ code: 0, left: [] });
    expect(shown).not.toContain('sk-typed-in-secret');
    expect(shown).toMatch(/hello from here\s*$/);
    expect(kept(place, 'settings.json')).toMatchObject({
      provider: 'local',
      model: 'beta',
      providers: { local: { baseUrl: `http://127.0.0.1:${port}/v1`, key: 'CAST_KEY_LOCAL' } },
    });
    expect(kept(place, 'secrets.json')).toEqual({ CAST_KEY_LOCAL: 'sk-typed-in-secret' });
    expect(statSync(join(place.castHome, 'secrets.json')).mode & 0o777).toBe(0o600);
    expect((await cast(['run', 'hi'], { place })).stdout).toBe('hello from here\n');
  }, 60_000);

  test('a key is shown nowhere, however it is pasted', async () => {
    const { port } = await serve({ 'GET /v1/models': { data: [{ id: 'alpha' }] } });
    const place = project();
    const steps = [
      ['Which one', 'another address\r'],
      ['Address', `http://127.0.0.1:${port}\rsk-pasted-whole-line\rsk-pasted-and-not-sent`],
      ['API key', '\r'],
      ['Which model', '1\r'],
    ] as const;
    const { port: other } = await serve(LOCAL_KINDS[3]?.answers ?? {});
    const { code, shown, left } = await onTerminal(place, [], steps, found(other));
    expect({ code, left }, shown).toEqual({ code: 0, left: [] });
    expect(shown).not.toContain('sk-pasted');
    expect(kept(place, 'secrets.json')).toEqual({ CAST_KEY_LOCAL: 'sk-pasted-and-not-sent' });
  }, 60_000);

  test('a wrong key is told without the name that it would have; the address stays, and a name that means something else is none', async () => {
    const place = project();
    const { port } = await serve({}, '', { status: 401 });
    const steps = [
      ['Which one', 'another address\r'],
      ['Address', `http://list:${port}\r`],
      ['API key', '\r'],
      ['cannot be reached', ''],
      ['Which one', 'another address\r'],
      ['Address', `\u0015http://127.0.0.1:${port}/v1\r`],
      ['API key', 'sk-wrong\r'],
      ['Check the key and the address', ''],
      ['Which one', 'another address\r'],
      [`http://127.0.0.1:${port}/v1`, ESC],
    ] as const;
    const { port: other } = await serve(LOCAL_KINDS[3]?.answers ?? {});
    const { code, shown, left } = await onTerminal(place, [], steps, found(other));
    expect({ code, left }, shown).toEqual({ code: 0, left: [] });
    expect(shown).not.toContain('CAST_KEY');
  }, 60_000);

  test('nothing and a number too high choose nothing, even where any model is taken', async () => {
    const { port } = await serve(LOCAL_KINDS[2]?.answers ?? {});
    const place = project();
    const steps = [
      ['Which one', '\r'],
      ['Which one', '1\r'],
      ['Which model', '\r'],
      ['Which model', '0\r'],
      ['There is no 0', ''],
      ['Which model', '7\r'],
      ['There is no 7', ''],
      ['Which model', '1\r'],
    ] as const;
    const { code, shown, left } = await onTerminal(place, [], steps, found(port));
    expect({ code, left }, shown).toEqual({ code: 0, left: [] });
    expect(kept(place, 'settings.json')).toMatchObject({ model: 'some-model.gguf' });
  }, 60_000);

  test('a long answer is edited within the width of the screen', async () => {
    const { port } = await serve(LOCAL_KINDS[0]?.answers ?? {});
    const steps = [
      ['Which one', 'another address\r'],
      ['Address', `http://127.0.0.1/${'a'.repeat(200)}`],
      ['aaa', '\u007f\u007f'],
      // Up to the line on which the question begins.
      ['\u001b[', ESC],
    ] as const;
    const { shown } = await onTerminal(project(), [], steps, found(port));
    // Nothing is ever put into a column that is not there.
    expect(shown.split(ESC).filter((part) => /^\[(?:[89]\d|\d{3})G/.test(part))).toEqual([]);
  }, 60_000);

  test('settings that cannot be written are named, and nobody is asked in vain for ever', async () => {
    const { port } = await serve(LOCAL_KINDS[0]?.answers ?? {});
    const place = project({ '~/settings.json.lock/in-the-way': '' });
    const steps = [
      ['Which one', '1\r'],
      ['Which model', '1\r'],
      ['settings.json', ''],
      ['Which model', ESC],
    ] as const;
    const { code, shown, left } = await onTerminal(place, [], steps, found(port));
    expect({ code, left }, shown).toEqual({ code: 0, left: [] });
    expect(shown).toContain('settings.json.lock');
  }, 60_000);

  test.each<[string, string, readonly (readonly [string, string])[]]>([
    ['Esc at the list', ESC, [['Which one', ESC]]],
    ['Ctrl-C at the list', INTERRUPT, [['Which one', INTERRUPT]]],
    ['the end of input at the list', END, [['Which one', END]]],
    [
      'Esc at the address',
      ESC,
      [
        ['Which one', 'another address\r'],
        ['Address', ESC],
      ],
    ],
    [
      'Ctrl-C at the key',
      INTERRUPT,
      [
        ['Which one', 'another address\r'],
        ['Address', 'x\r'],
        ['API key', `half${INTERRUPT}`],
      ],
    ],
    [
      'Esc at the model',
      ESC,
      [
        ['Which one', '1\r'],
        ['Which model', ESC],
      ],
    ],
    [
      'Ctrl-C at the model',
      INTERRUPT,
      [
        ['Which one', '1\r'],
        ['Which model', INTERRUPT],
      ],
    ],
  ])(
    '%s ends it with nothing saved',
    async (_, __, steps) => {
      const { port } = await serve(LOCAL_KINDS[0]?.answers ?? {});
      const place = project();
      const { code, shown, left } = await onTerminal(place, [], steps, found(port));
      expect({ code, left }, shown).toEqual({ code: 0, left: [] });
      expect(shown).toMatch(/Nothing was saved\.\s*$/);
      const files = existsSync(place.castHome) ? readdirSync(place.castHome) : [];
      expect(files.filter((name) => /settings|secrets/.test(name))).toEqual([]);
    },
    60_000,
  );

  test('who has configured something is asked nothing', async () => {
    const place = project({ '~/settings.json': '{"model":"m","provider":"p","providers":{"p":{"baseUrl":"http://127.0.0.1:9/v1"}}}' });
    const { code, shown } = await onTerminal(place, [], []);
    expect(code).toBe(3);
    expect(shown).toContain('interactive terminal');
    expect((await onTerminal(project(), ['rnu', 'the', 'tests'], [])).shown).toContain('Did you mean `cast run the tests`');
  }, 60_000);
});

test('without a terminal nobody is asked', async () => {
  expect(await cast([])).toMatchObject({ code: 3, stderr: expect.stringContaining('cast run') });
  expect(await cast(['run', 'hi'])).toMatchObject({ code: 3, stderr: expect.stringContaining('Run `cast` in a terminal') });
});

test.each([
  ['https://api.openai.com/v1', 'openai'],
  ['openrouter.ai/api/v1', 'openrouter'],
  ['http://localhost:1234', 'local'],
  ['http://[::1]:1234/v1', 'local'],
  ['127.0.0.1:8080', 'local'],
  ['http://192.168.0.2:8000/v1', 'mine'],
  ['http://box:8000/v1', 'box'],
  ['://', 'mine'],
  ['https://api.example.co.uk/v1', 'example'],
  ['https://co.uk', 'co'],
  [`https://${'x'.repeat(60)}.com/v1`, 'x'.repeat(30)],
  ['https://-x.example.', 'x'],
])('%s is called %s', (url, name) => expect(nameFor(url)).toBe(name));
