import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { mergeLayers } from '../../../kernel/host/config.ts';
import { fill, folder, read, repository, type Files } from './folder.ts';

// Each start compiles or starts something, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const TYPED = 'enum Level { High = "high" }\nexport default { model: "m" as string, reasoning: Level.High };';
const ESM = 'export default { model: "m", reasoning: "high" };';
const CJS = 'module.exports = { model: "m", reasoning: "high" };';
const JSON_TEXT = '{ "model": "m", "reasoning": "high" }';
const YAML = 'model: m\nreasoning: high\n';

describe('forms', () => {
  test.each<[string, string, Files?]>([
    ['cast.config.ts', TYPED],
    ['cast.config.ts', TYPED, { 'package.json': { type: 'module' } }],
    ['cast.config.mts', TYPED],
    ['cast.config.js', ESM, { 'package.json': { type: 'module' } }],
    ['cast.config.js', CJS],
    ['cast.config.mjs', ESM],
    ['cast.config.cjs', CJS],
    ['cast.config.json', JSON_TEXT],
    ['.castrc', YAML],
    ['.castrc', JSON_TEXT],
    ['.castrc.json', JSON_TEXT],
    ['.castrc.yaml', YAML],
    ['.castrc.yml', YAML],
    ['package.json', `{"name":"x","cast":${JSON_TEXT}}`],
    ['cast.config.ts', 'export default Promise.resolve({ model: "m", reasoning: "high" });'],
  ])('%s %#', async (name, text, more = {}) => {
    const root = repository({ ...more, [name]: text });
    const { layers, warnings } = await read(root);
    expect(layers).toEqual([{ name: 'project', file: join(root, name), data: { model: 'm', reasoning: 'high' } }]);
    expect(warnings).toEqual([]);
  });

  test('a package.json without the key is no configuration, nor is a broken one', async () => {
    expect((await read(repository({ 'package.json': { name: 'cast', keywords: ['cast'] } }))).layers).toEqual([]);
    expect((await read(repository({ 'package.json': '{"cast": ' }))).layers).toEqual([]);
  });

  test('an empty rc file says nothing', async () => {
    expect((await read(repository({ '.castrc': '' }))).layers).toEqual([]);
  });

  test('of several files in a folder the first counts, and the others are named', async () => {
    const root = repository({ 'cast.config.ts': ESM, '.castrc': YAML, 'package.json': { cast: { model: 'p' } } });
    const { layers, warnings } = await read(root);
    expect(layers.map((layer) => layer.file)).toEqual([join(root, 'cast.config.ts')]);
    expect(warnings).toEqual(
      ['.castrc', 'package.json'].map((name) => `${join(root, name)} is not read, because ${join(root, 'cast.config.ts')} comes first.`),
    );
  });

  test('a configuration imports local files, installed packages and what cast offers', async () => {
    const root = repository({
      'node_modules/esm-pkg/package.json': { name: 'esm-pkg', type: 'module', exports: './index.js' },
      'node_modules/esm-pkg/index.js': 'export const level = "high";',
      'node_modules/cjs-pkg/package.json': { name: 'cjs-pkg', main: 'main.js' },
      'node_modules/cjs-pkg/main.js': 'module.exports = { window: 1000 };',
      'lib/model.ts': 'export const model: string = "from-lib";',
      'lib/plain.cjs': 'exports.steps = 3;',
      'cast.config.ts': `
        import { defineConfig, definePlugin, z } from 'cast';
        import { API_VERSION } from 'cast/kernel';
        import { level } from 'esm-pkg';
        import cjs from 'cjs-pkg';
        import { model } from './lib/model';
        import plain from './lib/plain.cjs';
        const options = z.object({ a: z.number() });
        export default defineConfig({
          model, reasoning: level, limits: { contextWindow: cjs.window, maxSteps: plain.steps, maxTokens: API_VERSION },
          plugins: { guard: definePlugin({ options }).with({ a: options.parse({ a: 4 }).a }) },
        });`,
    });
    const { layers, plugins } = await read(root);
    expect(mergeLayers(layers).value).toEqual({
      model: 'from-lib',
      reasoning: 'high',
      limits: { contextWindow: 1000, maxSteps: 3, maxTokens: 1 },
      plugins: { guard: { a: 4 } },
    });
    expect(plugins.map((ref) => ref.manifest.name)).toEqual(['guard']);
  });

  test('a file is read again after a change', async () => {
    const root = repository({
      'cast.config.mjs': 'import { model } from "./model.mts"; export default { model };',
      'model.mts': 'export const model: string = "one";',
    });
    expect((await read(root)).layers[0]?.data.model).toBe('one');
    fill(root, { 'model.mts': 'export const model: string = "two";' });
    expect((await read(root)).layers[0]?.data.model).toBe('two');
  });

  test('compiled files are kept in the home of cast, which nobody else can read', async () => {
    const root = repository({ 'cast.config.ts': TYPED });
    const castHome = join(folder(), 'home');
    await read(root, { castHome });
    expect(statSync(join(castHome, 'cache/jiti')).isDirectory()).toBe(true);
    expect(statSync(castHome).mode & 0o777).toBe(0o700);
  });
});

describe('errors of configuration files', () => {
  test.each<[string, string, RegExp]>([
    ['cast.config.ts', 'throw new Error("boom");', /cast\.config\.ts cannot be loaded: boom \(project\)$/],
    ['cast.config.mjs', 'throw new Error("boom");', /cast\.config\.mjs cannot be loaded: boom/],
    ['cast.config.ts', 'export default {\n  model: ,\n};', /cast\.config\.ts cannot be loaded: .*:2:/],
    ['cast.config.ts', 'import "./gone.ts"; export default {};', /cannot be loaded: .*gone\.ts/],
    ['cast.config.ts', 'export const model = "m";', /it has no default export, expected an object/],
    ['cast.config.mjs', 'export const model = "m";', /it has no default export, expected an object/],
    ['cast.config.ts', 'export default () => ({});', /its default export is a function/],
    ['cast.config.ts', 'export default [];', /its default export is a list/],
    ['cast.config.cjs', 'module.exports = 3;', /its default export is a number/],
    ['cast.config.ts', 'import { definePlugin } from "cast"; export default definePlugin({});', /it exports a plugin; put it below `plugins`/],
    ['cast.config.ts', 'export default { model: 3 };', /^model must be a text, got 3 \(project, .*cast\.config\.ts\)$/],
    ['cast.config.json', '{ "model": "m", }', /cast\.config\.json:1:15: a comma stands before a closing bracket \(project\)/],
    ['.castrc', 'model: [', /\.castrc cannot be loaded: .*\(/],
    ['.castrc.yaml', '- a\n- b\n', /the configuration must be an object, got a list/],
    ['.castrc.yaml', 'a: b: c\n', /\.castrc\.yaml cannot be loaded: .*1:5/],
  ])('%s: %j', async (name, text, message) => {
    const root = repository({ [name]: text });
    await expect(read(root)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(message), fix: expect.any(String) });
    await expect(read(root)).rejects.toThrow(join(root, name));
  });

  test('a throwing configuration runs once', async () => {
    const root = repository({
      'cast.config.mjs': 'import fs from "node:fs"; fs.appendFileSync(new URL("./runs", import.meta.url), "x"); throw new Error("boom");',
    });
    await expect(read(root)).rejects.toThrow(/boom/);
    expect(readFileSync(join(root, 'runs'), 'utf8')).toBe('x');
  });

  test('unknown keys are warnings', async () => {
    const root = repository({ 'cast.config.json': '{"modle":"m"}' });
    expect((await read(root)).warnings).toEqual([expect.stringMatching(/^modle is no setting .*cast\.config\.json\)\. Did you mean `model`\?$/)]);
  });
});

describe('settings files', () => {
  const keys = Array.from({ length: 10 }, (_, i) => `  "key${i}": ${i}`).join(',\n');
  test.each<[string, string, string]>([
    ['a comma before the end', `{\n${keys},\n}`, '11:12: a comma stands before a closing bracket'],
    ['a comment', `{\n  // mine\n${keys}\n}`, '2:3: comments are not allowed'],
    ['both', `{\n  // mine\n${keys},\n}`, '2:3: comments are not allowed'],
    ['a byte order mark', `\u{feff}{\n${keys}\n}`, '1:1: the file begins with a byte order mark'],
    ['nothing', '', '1:1: the file is empty'],
    ['white space', ' \n', '1:1: the file is empty'],
    ['half of it', '{\n  "model": "m",\n  "pro', '3:3: a text is not closed'],
    ['half of it, at a value', '{\n  "model": ', '2:12: a value is missing'],
    ['no closing brace', '{"model": "m"', '1:14: a closing } is missing'],
    ['single quotes', "{'model': 1}", '1:2: '],
    ['two values', '{} {}', '1:4: something follows'],
    ['no comma', '{"a": 1\n"b": 2}', '2:1: a comma is missing'],
  ])('%s: named with line and column, and not a byte is changed', async (_, text, message) => {
    const castHome = folder({ 'settings.json': text });
    const file = join(castHome, 'settings.json');
    const before = statSync(file).mtimeMs;
    await expect(read(repository(), { castHome })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`${file}:${message}`),
      fix: expect.stringMatching(/The file was not changed\.$/),
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(statSync(file).mtimeMs).toBe(before);
  });

  test.each<[string, string, RegExp]>([
    ['a wrong type', '{"limits": {"maxSteps": "many"}}', /^limits\.maxSteps must be .* got "many" \(user-settings, /],
    ['a list', '[]', /^the configuration must be an object, got a list \(user-settings, /],
  ])('%s: named, and not a byte is changed', async (_, text, message) => {
    const castHome = folder({ 'settings.json': text });
    await expect(read(repository(), { castHome })).rejects.toThrow(message);
    expect(readFileSync(join(castHome, 'settings.json'), 'utf8')).toBe(text);
  });

  test('a read-only file is read', async () => {
    const castHome = folder({ 'settings.json': { model: 'm' } });
    chmodSync(join(castHome, 'settings.json'), 0o400);
    expect((await read(repository(), { castHome })).layers[0]?.data).toEqual({ model: 'm' });
  });

  test('flat keys of earlier versions are read as what they are called now', async () => {
    const castHome = folder({
      'settings.json': {
        modelProvider: 'a',
        reasoningLevel: 'high',
        permissionMode: 'bypass',
        maxTurnIterations: 7,
        searchProvider: 'brave',
        limits: { maxCost: 1 },
        providers: [{ name: 'a', url: 'http://h/v1', reasoningFormat: 'qwen' }],
      },
    });
    const { layers, warnings } = await read(repository(), { castHome });
    expect(layers[0]?.data).toEqual({
      provider: 'a',
      reasoning: 'high',
      permissions: { mode: 'bypass' },
      limits: { maxCost: 1, maxSteps: 7 },
      plugins: { web: { search: 'brave' } },
      providers: { a: { baseUrl: 'http://h/v1', dialect: 'qwen' } },
    });
    expect(warnings).toEqual([]);
  });

  test('the one shape wins over a flat key', async () => {
    const castHome = folder({ 'settings.json': { reasoning: 'low', reasoningLevel: 'high' } });
    expect((await read(repository(), { castHome })).layers[0]?.data).toEqual({ reasoning: 'low' });
  });
});

describe('layers', () => {
  test('from the user down to the folder, environment, flags', async () => {
    const castHome = folder({ 'settings.json': { model: '1' }, 'cast.config.json': { model: '2' } });
    const root = repository({
      '.cast/settings.json': { model: '3' },
      '.cast/settings.local.json': { model: '4' },
      'cast.config.json': { model: '5' },
      'a/.cast/settings.json': { model: '6' },
      'a/b/.castrc': 'model: "7"',
    });
    const { layers } = await read(root, { cwd: join(root, 'a/b'), castHome, environment: { CAST_MODEL: '8' }, flags: { model: '9' } });
    expect(layers.map((layer) => [layer.data.model, layer.name])).toEqual([
      ['1', 'user-settings'],
      ['2', 'user'],
      ['3', 'project-settings'],
      ['4', 'project-local'],
      ['5', 'project'],
      ['6', 'project-settings'],
      ['7', 'project'],
      ['8', 'environment'],
      ['9', 'flags'],
    ]);
    expect(mergeLayers(layers).origin('model')).toEqual({ layer: 'flags' });
  });

  test("the user's own folder is no project's", async () => {
    const home = folder({ '.cast/settings.json': { model: 'm' }, '.cast/cast.config.json': { reasoning: 'low' } });
    const castHome = join(home, '.cast');
    for (const cwd of [home, castHome]) {
      const { layers } = await read(cwd, { castHome });
      expect(layers.map((layer) => layer.name)).toEqual(['user-settings', 'user']);
    }
  });

  test.each<[string, Record<string, string>, object]>([
    ['nothing', {}, {}],
    ['empty values', { CAST_MODEL: '', CAST_BASE_URL: '', CAST_API: '', CAST_CONTEXT_WINDOW: '' }, {}],
    ['a model', { CAST_MODEL: 'm' }, { model: 'm' }],
    ['a base URL', { CAST_BASE_URL: 'http://h/v1' }, { provider: 'env', providers: { env: { baseUrl: 'http://h/v1' } } }],
    ['the other base URL', { OPENAI_BASE_URL: 'http://o/v1' }, { provider: 'env', providers: { env: { baseUrl: 'http://o/v1' } } }],
    [
      'both',
      { CAST_BASE_URL: 'http://h/v1', OPENAI_BASE_URL: 'http://o/v1', CAST_API: 'responses' },
      { provider: 'env', providers: { env: { baseUrl: 'http://h/v1', api: 'responses' } } },
    ],
    [
      'a key of the other name',
      { CAST_BASE_URL: 'http://h/v1', OPENAI_API_KEY: 'k' },
      { provider: 'env', providers: { env: { baseUrl: 'http://h/v1', key: 'OPENAI_API_KEY' } } },
    ],
    ['both keys', { CAST_BASE_URL: 'http://h/v1', CAST_API_KEY: '', OPENAI_API_KEY: 'k' }, { provider: 'env', providers: { env: { baseUrl: 'http://h/v1' } } }],
    ['limits', { CAST_CONTEXT_WINDOW: '1000', CAST_MAX_OUTPUT: '50' }, { limits: { contextWindow: 1000, maxOutputTokens: 50 } }],
  ])('environment: %s', async (_, environment, expected) => {
    const { layers } = await read(repository(), { environment });
    expect(mergeLayers(layers).value).toEqual(expected);
    expect(JSON.stringify(layers)).not.toContain('"k"');
  });

  test('CAST_API alone is about the provider that is active', async () => {
    const castHome = folder({ 'settings.json': { provider: 'a', providers: { a: { baseUrl: 'http://h' } } } });
    const { layers } = await read(repository(), { castHome, environment: { CAST_API: 'responses' } });
    expect(mergeLayers(layers).value.providers).toEqual({ a: { baseUrl: 'http://h', api: 'responses' } });
  });

  test.each([
    ['CAST_API', 'soap'],
    ['CAST_CONTEXT_WINDOW', 'big'],
    ['CAST_MAX_OUTPUT', '-1'],
    ['CAST_MAX_OUTPUT', '1.5'],
  ])('%s=%s is an error', async (name, value) => {
    await expect(read(repository(), { environment: { [name]: value } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(`^${name} must be .*"${value}"`),
    });
  });
});

describe('safe', () => {
  test('only data of the user is read, without plugins', async () => {
    const castHome = folder({ 'settings.json': { model: 'm', plugins: { web: false } }, 'cast.config.ts': 'throw new Error("boom");' });
    const root = repository({ 'cast.config.ts': 'throw new Error("boom");' });
    const settings = await read(root, { castHome, safe: true, environment: { CAST_BASE_URL: 'http://h' }, flags: { reasoning: 'low' } });
    expect(settings.layers.map((layer) => layer.name)).toEqual(['user-settings', 'environment', 'flags']);
    expect(settings.layers[0]?.data).toEqual({ model: 'm' });
    expect(settings.plugins).toEqual([]);
    expect(settings.untrusted).toEqual([]);
  });
  test('broken settings are named and left out', async () => {
    const castHome = folder();
    writeFileSync(join(castHome, 'settings.json'), '{');
    const { layers, warnings } = await read(repository(), { castHome, safe: true });
    expect(layers).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('settings.json:1:2')]);
  });
});
