import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { isPlugin } from '../../../kernel/index.ts';
import { mergeLayers, optionsOf } from '../../../kernel/host/config.ts';
import { fill, folder, read, repository, type Files } from './folder.ts';

// Each start compiles or starts something, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const plugin = (spec: string): string => `import { definePlugin } from 'cast';\nexport default definePlugin(${spec});`;
const installed = (name: string, manifest: object, code: string): Files => ({
  [`node_modules/${name}/package.json`]: { name, version: '1.2.0', type: 'module', exports: { '.': { types: './t.d.ts', import: './index.js' } }, ...manifest },
  [`node_modules/${name}/index.js`]: code,
});
const config = (plugins: object): Files => ({ 'cast.config.json': { plugins } });
const marked = (spec: string): string => `${plugin(spec)}\nimport { writeFileSync } from 'node:fs';\nwriteFileSync(new URL('./marker', import.meta.url), '');`;

describe('forms', () => {
  test('in place: its name is the key, its source the file', async () => {
    const root = repository({
      'cast.config.ts': `import { definePlugin } from 'cast'; export default { plugins: { guard: definePlugin({ summary: 'S', capabilities: ['net'] }) } };`,
    });
    const [ref] = (await read(root)).plugins;
    expect(ref).toMatchObject({
      builtin: false,
      source: join(root, 'cast.config.ts'),
      manifest: { name: 'guard', summary: 'S', capabilities: ['net'], taps: null },
    });
    expect(isPlugin(await ref?.load())).toBe(true);
  });

  test('in place under another name: known by its own', async () => {
    const root = repository({
      'cast.config.ts': `import { definePlugin } from 'cast'; export default { plugins: { short: definePlugin({ name: 'my-guard' }).with({ a: 1 }) } };`,
    });
    const { layers, plugins } = await read(root, { flags: { plugins: { short: { b: 2 } } } });
    expect(plugins.map((ref) => ref.manifest.name)).toEqual(['my-guard']);
    const view = mergeLayers(layers);
    expect(optionsOf(view, 'my-guard')).toEqual({ a: 1, b: 2 });
    expect(view.value.plugins?.['short']).toBeUndefined();
    expect(view.origin('plugins.my-guard.a')).toEqual({ layer: 'project', file: join(root, 'cast.config.ts') });
  });

  test.each<[string, unknown, Files, string]>([
    ['a file', './p/mine.ts', { 'p/mine.ts': plugin('{ summary: "S" as string }') }, './p/mine.ts'],
    ['a file without its extension', './p/mine', { 'p/mine.mjs': plugin('{ summary: "S" }') }, './p/mine'],
    ['a file that is JavaScript', './p/mine.js', { 'p/mine.js': plugin('{ summary: "S" }') }, './p/mine.js'],
    ['a folder with an index', './p', { 'p/index.ts': plugin('{ summary: "S" }') }, './p'],
    [
      'a folder that is a package',
      './p',
      { 'p/package.json': { main: './dist/a.cjs' }, 'p/dist/a.cjs': 'module.exports = require("cast").definePlugin({ summary: "S" })' },
      './p',
    ],
    ['from', { from: './mine.ts' }, { 'mine.ts': plugin('{ summary: "S" }') }, './mine.ts'],
    ['a package', 'lint-it', installed('lint-it', {}, plugin('{ summary: "S" }')), 'package lint-it 1.2.0'],
    ['a package of a scope', '@me/lint', installed('@me/lint', {}, plugin('{ summary: "S" }')), 'package @me/lint 1.2.0'],
    ['a package that states its manifest', 'lint-it', installed('lint-it', { castPlugin: { summary: 'S' } }, plugin('{}')), 'package lint-it 1.2.0'],
    [
      'a package with TypeScript',
      'lint-it',
      { 'node_modules/lint-it/package.json': { main: 'a.ts', version: '2.0.0' }, 'node_modules/lint-it/a.ts': plugin('{ summary: "S" as string }') },
      'package lint-it 2.0.0',
    ],
  ])('%s', async (_, entry, files, source) => {
    const root = repository({ ...files, ...config({ mine: entry }) });
    const { plugins } = await read(root);
    expect(plugins).toHaveLength(1);
    expect(plugins[0]).toMatchObject({ builtin: false, source, manifest: { name: 'mine', summary: 'S' } });
    expect(isPlugin(await plugins[0]?.load())).toBe(true);
  });

  test('a package is found from the folder of the file that names it, and in folders above', async () => {
    const root = repository({ ...installed('lint-it', {}, plugin('{}')), 'a/b/cast.config.json': { plugins: { lint: 'lint-it' } } });
    const [ref] = (await read(root, { cwd: join(root, 'a/b') })).plugins;
    expect(isPlugin(await ref?.load())).toBe(true);
  });

  test('options beside a plugin and in its file are found under its name, the ones beside it first', async () => {
    const root = repository({
      'mine.ts': `import { definePlugin } from 'cast'; export default definePlugin({ name: 'mine' }).with({ a: 1, b: 1 });`,
      ...config({ mine: { from: './mine.ts', options: { b: 2, c: 2 } } }),
    });
    const { layers } = await read(root);
    expect(optionsOf(mergeLayers(layers), 'mine')).toEqual({ a: 1, b: 2, c: 2 });
  });

  test('the nearest place to load from counts', async () => {
    const castHome = folder({ 'mine.mjs': plugin('{ summary: "far" }'), 'settings.json': { plugins: { mine: './mine.mjs' } } });
    const root = repository({ 'mine.mjs': plugin('{ summary: "near" }'), ...config({ mine: './mine.mjs' }) });
    const { plugins } = await read(root, { castHome });
    expect(plugins.map((ref) => ref.manifest.summary)).toEqual(['near']);
    expect((await read(repository(), { castHome })).plugins.map((ref) => ref.manifest.summary)).toEqual(['far']);
  });

  test('what a flag names is found from the working directory', async () => {
    const root = repository({ 'mine.mjs': plugin('{}') });
    const [ref] = (await read(root, { flags: { plugins: { mine: './mine.mjs' } } })).plugins;
    expect(isPlugin(await ref?.load())).toBe(true);
  });
});

describe('laziness', () => {
  test('code of a package that states its manifest waits for load', async () => {
    const root = repository({
      ...installed(
        'lint-it',
        { castPlugin: { name: 'lint', capabilities: ['process'], taps: ['result'] } },
        marked('{ name: "lint", capabilities: ["process"] }'),
      ),
      ...config({ lint: 'lint-it' }),
    });
    const [ref] = (await read(root)).plugins;
    expect(ref?.manifest).toMatchObject({ name: 'lint', version: '1.2.0', capabilities: ['process'], taps: ['result'] });
    expect(existsSync(join(root, 'node_modules/lint-it/marker'))).toBe(false);
    await ref?.load();
    expect(existsSync(join(root, 'node_modules/lint-it/marker'))).toBe(true);
  });

  test('code of a plugin that is off does not run, and the plugin is listed', async () => {
    const root = repository({ 'mine.mjs': marked('{}'), ...config({ mine: './mine.mjs' }) });
    const { plugins } = await read(root, { flags: { plugins: { mine: false } } });
    expect(plugins.map((ref) => ref.manifest.name)).toEqual(['mine']);
    expect(existsSync(join(root, 'marker'))).toBe(false);
  });
});

describe('broken plugins are named by load, and the rest works', () => {
  test.each<[string, unknown, Files, RegExp]>([
    ['a file that is not there', './gone.ts', {}, /^plugin bad: \.\/gone\.ts does not exist \(project, .*cast\.config\.json\)$/],
    ['a package that is not installed', 'gone', {}, /^plugin bad: package gone is not installed/],
    ['code that throws', './bad.mjs', { 'bad.mjs': 'throw new Error("boom")' }, /^plugin bad: .*bad\.mjs cannot be loaded: boom$/],
    ['an object', './bad.mjs', { 'bad.mjs': 'export default { apply() {} }' }, /exports an object, expected definePlugin\(\.\.\.\)$/],
    ['a function', './bad.mjs', { 'bad.mjs': 'export default () => 1' }, /exports a function, expected definePlugin/],
    ['no default export', './bad.mjs', { 'bad.mjs': 'export const a = 1' }, /exports no default, expected definePlugin/],
    ['a wrong manifest', './bad.mjs', { 'bad.mjs': plugin('{ capabilities: ["root"] }') }, /^plugin bad: `capabilities` names "root"/],
    ['another version of the face', './bad.mjs', { 'bad.mjs': plugin('{ apiVersion: 7 }') }, /`apiVersion` is 7/],
    ['a wrong stated manifest', 'lint-it', installed('lint-it', { castPlugin: { taps: ['nope'] } }, plugin('{}')), /`taps` names "nope"/],
    [
      'a stated manifest that is no object',
      'lint-it',
      installed('lint-it', { castPlugin: 'x' }, plugin('{}')),
      /`castPlugin` in its package\.json must be an object/,
    ],
    [
      'more capabilities than stated',
      'lint-it',
      installed('lint-it', { castPlugin: { capabilities: ['net'] } }, plugin('{ capabilities: ["net", "fs"] }')),
      /asks for fs, which the manifest .* does not say/,
    ],
    ['another name than stated', 'lint-it', installed('lint-it', { castPlugin: {} }, plugin('{ name: "other" }')), /calls itself other/],
    ['a stated manifest over no plugin', 'lint-it', installed('lint-it', { castPlugin: {} }, 'export default 3'), /exports a number/],
    ['a package without an entry', 'lint-it', { 'node_modules/lint-it/package.json': {} }, /package lint-it is not installed/],
  ])('%s', async (_, entry, files, message) => {
    const root = repository({ 'good.mjs': plugin('{}'), ...files, ...config({ bad: entry, good: './good.mjs' }) });
    const { plugins } = await read(root);
    expect(plugins.map((ref) => ref.manifest.name)).toEqual(['bad', 'good']);
    await expect(plugins[0]?.load()).rejects.toMatchObject({ code: 'PLUGIN_INVALID', plugin: 'bad', message: expect.stringMatching(message) });
    expect(isPlugin(await plugins[1]?.load())).toBe(true);
  });

  test('in place with a wrong field', async () => {
    const root = repository({
      'cast.config.ts': `import { definePlugin } from 'cast'; export default { plugins: { bad: definePlugin({ taps: ['x'] as never }), good: definePlugin({}) } };`,
    });
    const { plugins } = await read(root);
    await expect(plugins[0]?.load()).rejects.toMatchObject({ code: 'PLUGIN_INVALID', message: expect.stringContaining('`taps`') });
    expect(isPlugin(await plugins[1]?.load())).toBe(true);
  });

  test('a failed load is tried again', async () => {
    const root = repository({ ...installed('lint-it', { castPlugin: {} }, 'export default 3'), ...config({ lint: 'lint-it' }) });
    const [ref] = (await read(root)).plugins;
    await expect(ref?.load()).rejects.toThrow(/exports a number/);
    fill(root, { 'node_modules/lint-it/index.js': plugin('{}') });
    expect(isPlugin(await ref?.load())).toBe(true);
  });
});

test('two entries that bring one name are an error', async () => {
  const root = repository({ 'a.mjs': plugin('{ name: "same" }'), ...config({ one: './a.mjs', two: './a.mjs' }) });
  await expect(read(root)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/^plugins\.one and plugins\.two both bring a plugin named same/),
  });
});

describe('locked names', () => {
  const locked = new Set(['permissions']);
  test.each<[string, object, Files]>([
    ['by key', { permissions: './evil.mjs' }, { 'evil.mjs': plugin('{}') }],
    ['by name', { harmless: './evil.mjs' }, { 'evil.mjs': plugin('{ name: "permissions" }') }],
  ])('a project cannot take the place of a locked plugin, %s', async (_, plugins, files) => {
    const settings = await read(repository({ ...files, ...config(plugins) }), { locked });
    expect(settings.plugins).toEqual([]);
    const view = mergeLayers(settings.layers, locked);
    expect(view.value.plugins?.['permissions']).toBeUndefined();
    expect(view.refusals.map((refusal) => refusal.key)).toEqual(['plugins.permissions']);
  });
  test('the user may', async () => {
    const castHome = folder({ 'mine.mjs': plugin('{}'), 'settings.json': { plugins: { permissions: './mine.mjs' } } });
    expect((await read(repository(), { castHome, locked })).plugins.map((ref) => ref.manifest.name)).toEqual(['permissions']);
  });
  test('a plugin of a project cannot lock itself', async () => {
    const root = repository({ 'mine.mjs': plugin('{ locked: true }'), ...config({ mine: './mine.mjs' }) });
    expect((await read(root)).plugins[0]?.manifest.locked).toBeUndefined();
  });
});
