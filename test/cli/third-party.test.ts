/** Plugins of others, by the three ways in: in the configuration itself, from node_modules, and a TypeScript file beside it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, say, startProvider, type TestProvider } from '../provider.ts';
import { bundleCommand, type Bundle } from './bundle.ts';
import { createPlace, linesOf, start, type Outcome, type Place } from './program.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleCommand();
}, 60_000);
afterAll(() => bundle.remove());

/** Brings one of each: a tool, a command, a section of the prompt and a tap. */
const body = (name: string): string => `definePlugin({
  ${name === 'inline' ? '' : `name: '${name}',`}
  options: z.object({ greeting: z.string().default('hello') }),
  apply({ hooks, registries, options }) {
    registries.tools.add(defineTool({ name: '${name}_tool', description: 'x', effect: 'read', input: z.object({ who: z.string() }), run: async ({ who }) => options.greeting + ' ' + who + ' from ${name}' }));
    registries.commands.add({ name: '${name}', summary: 'x', run: (args) => '${name} was given ' + args });
    registries.sections.add({ name: '${name}', slot: 'conduct', text: () => 'Section of ${name}.' });
    hooks.result.tap('sign', (result) => ({ content: result.content + ' [${name}]' }));
  },
})`;
const IMPORTS = `import { definePlugin, defineTool, z } from 'cast';`;
const files = {
  'cast.config.ts': `import { defineConfig } from 'cast';\n${IMPORTS}\nimport packaged from 'cast-plugin-packaged';\nimport beside from './beside.ts';\nexport default defineConfig({ plugins: { inline: ${body('inline')}, packaged, beside: beside.with({ greeting: 'good day' }), web: false, usage: false } });\n`,
  'beside.ts': `${IMPORTS}\nexport default ${body('beside')};\n`,
  'node_modules/cast-plugin-packaged/package.json': JSON.stringify({ name: 'cast-plugin-packaged', version: '1.2.3', type: 'module', exports: './index.js' }),
  'node_modules/cast-plugin-packaged/index.js': `${IMPORTS}\nexport default ${body('packaged')};\n`,
};
const NAMES = ['inline', 'packaged', 'beside'] as const;

const at = async (place: Place, args: readonly string[], provider?: TestProvider): Promise<Outcome> =>
  start(args, { program: bundle.file, place, ...(provider ? { provider } : {}) }).done;

describe('three ways in', () => {
  let place: Place;
  beforeAll(() => {
    place = createPlace(files);
  });
  afterAll(() => place.remove());

  test('a tool, a section and a tap of each are at work in a turn', async () => {
    const provider = await startProvider(...NAMES.map((name) => call(`${name}_tool`, { who: 'world' })), say('done'));
    const outcome = await at(place, ['run', '--trust', '--format', 'stream-json', 'go'], provider);
    expect(outcome.code, outcome.stderr).toBe(0);
    const system = JSON.stringify(provider.requests[0]?.body.messages[0]);
    for (const name of NAMES) expect(system).toContain(`Section of ${name}.`);
    // Order of the taps: by name, whatever the order in which they came.
    expect(linesOf(outcome).flatMap((line) => (line.type === 'tool_end' ? [line['result']] : []))).toEqual([
      'hello world from inline [beside] [inline] [packaged]',
      'hello world from packaged [beside] [inline] [packaged]',
      'good day world from beside [beside] [inline] [packaged]',
    ]);
    await provider.close();
  });

  test.each(NAMES)('the command of %s answers without a model', async (name) => {
    const provider = await startProvider(say('done'));
    const outcome = await at(place, ['run', '--trust', `/${name} some words`], provider);
    expect([outcome.code, outcome.stdout.trim(), provider.requests.length]).toEqual([0, `${name} was given some words`, 0]);
    await provider.close();
  });

  test('B030: an argument with dollar signs reaches a command as it was written, once', async () => {
    const provider = await startProvider(say('done'));
    const outcome = await at(place, ['run', '--trust', '/inline cost $100 $& $1 $$ $` ${HOME} $ARGUMENTS'], provider);
    expect([outcome.code, outcome.stdout.trim()]).toEqual([0, 'inline was given cost $100 $& $1 $$ $` ${HOME} $ARGUMENTS']);
    await provider.close();
  });

  test('the list shows each with its source, its taps with the line they stand on, and what is off and why', async () => {
    const outcome = await at(place, ['plugins', 'list', '--trust', '--json']);
    const report = JSON.parse(outcome.stdout) as {
      plugins: { name: string; state: string; why: string; source: string }[];
      hooks: { name: string; taps: { plugin: string; place: number; source: string; calls: number }[] }[];
    };
    const plugin = (name: string) => report.plugins.find((each) => each.name === name);
    expect(plugin('packaged')).toMatchObject({ state: 'active' });
    expect(plugin('inline')?.source).toContain('cast.config.ts');
    expect(plugin('usage')).toMatchObject({ state: 'off', why: expect.stringMatching(/cast\.config\.ts/) });
    const taps = report.hooks.find((hook) => hook.name === 'result')?.taps ?? [];
    expect(taps.map((tap) => [tap.place, tap.plugin])).toEqual([
      [1, 'beside'],
      [2, 'inline'],
      [3, 'packaged'],
    ]);
    expect(taps[0]?.source).toMatch(/beside\.ts:\d+/);
    // Counted in the newest session of this project.
    expect(taps.every((tap) => tap.calls === 3)).toBe(true);
  });

  test('a flag takes one away for a run', async () => {
    const provider = await startProvider(call('inline_tool', { who: 'you' }), say('done'));
    const outcome = await at(place, ['run', '--trust', '--plugin', 'packaged=off', '--plugin', 'search=off', '--format', 'stream-json', 'go'], provider);
    const tools = JSON.stringify(provider.requests[0]?.body.tools);
    expect(tools).not.toContain('packaged_tool');
    expect(tools).not.toContain('"grep"');
    expect(JSON.stringify(linesOf(outcome))).toContain('[beside] [inline]"');
    const listed = await at(place, ['plugins', 'list', '--trust', '--plugin', 'search=off']);
    expect(listed.stdout).toMatch(/search\s+off.*flags/);
    await provider.close();
  });

  test('untrusted, nothing of it is read, and one line says so', async () => {
    const provider = await startProvider(say('done'));
    const outcome = await at(place, ['run', 'go'], provider);
    expect([outcome.code, JSON.stringify(provider.requests[0]?.body).includes('inline')]).toEqual([0, false]);
    expect(outcome.stderr.trim().split('\n')).toHaveLength(1);
    expect(outcome.stderr).toMatch(/cast trust/);
    await provider.close();
  });
});

describe('what is wrong is named, with where', () => {
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, readonly RegExp[]])[] = [
    [
      'an option of the wrong type',
      { 'cast.config.ts': `export default { plugins: { bash: { timeoutMs: 'long' } } };` },
      [/plugins\.bash\.timeoutMs/, /cast\.config\.ts/],
    ],
    [
      'an option of a plugin beside it',
      {
        'cast.config.ts': `import beside from './beside.ts';\nexport default { plugins: { beside: beside.with({ greeting: 7 }) } };`,
        'beside.ts': files['beside.ts'],
      },
      [/plugins\.beside\.greeting/, /cast\.config\.ts/],
    ],
    ['a name that nobody has', { 'cast.config.ts': `export default { plugins: { serch: false } };` }, [/plugins\.serch/, /search/, /cast\.config\.ts/]],
    ['a file that cannot be read', { 'cast.config.ts': `export default { plugins: { ` }, [/cast\.config\.ts/]],
    ['a configuration that throws', { 'cast.config.ts': `throw new Error('no good');` }, [/no good/, /cast\.config\.ts/]],
    ['a key of the wrong type', { '.cast/settings.json': `{ "model": 7 }` }, [/model/, /settings\.json/]],
    ['half a file of settings', { '.cast/settings.json': `{ "model": ` }, [/settings\.json/, /1/]],
  ];
  test.each(rows)('%s: exit 3, nothing sent, nothing overwritten', async (_, given, wordings) => {
    const place = createPlace(given);
    const provider = await startProvider(say('done'));
    const outcome = await at(place, ['run', '--trust', 'go'], provider);
    expect([outcome.code, provider.requests.length], outcome.stderr).toEqual([3, 0]);
    for (const wording of wordings) expect(outcome.stderr).toMatch(wording);
    expect(outcome.stderr).not.toMatch(/^\s+at /m);
    await provider.close();
    place.remove();
  });

  test.each([
    ['throws when it is loaded', `throw new Error('broken inside');`, /broken inside/],
    ['exports no plugin', `export default { apply: () => {} };`, /beside.*exports an object/s],
    ['exports nothing', `export const x = 1;`, /beside/],
    ['throws in apply', `${IMPORTS}\nexport default definePlugin({ name: 'beside', apply: () => { throw new Error('not today'); } });`, /not today/],
    [
      'calls process.exit when it is applied',
      `${IMPORTS}\nexport default definePlugin({ name: 'beside', apply: () => process.exit(9) });`,
      /process\.exit\(9\)/,
    ],
  ])('a plugin that %s is named once and the turn goes on without it', async (_, code, wording) => {
    const place = createPlace({ 'cast.config.ts': `export default { plugins: { beside: './beside.ts' } };`, 'beside.ts': code });
    const provider = await startProvider(say('done'));
    const outcome = await at(place, ['run', '--trust', 'go'], provider);
    expect([outcome.code, outcome.stdout.trim()], outcome.stderr).toEqual([0, 'done']);
    expect(outcome.stderr).toMatch(wording);
    expect(
      outcome.stderr
        .trim()
        .split('\n')
        .filter((line) => line.includes('beside')),
    ).toHaveLength(1);
    await provider.close();
    place.remove();
  });
});
