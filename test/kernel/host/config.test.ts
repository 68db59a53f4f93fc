import { describe, expect, test } from 'vitest';
import type { CastConfig, ConfigLayer, LayerName } from '../../../kernel/index.ts';
import { definePlugin } from '../../../kernel/index.ts';
import { checkConfig, checkPluginNames, mergeLayers, optionsOf } from '../../../kernel/host/config.ts';

const layer = (name: LayerName, data: object): ConfigLayer => ({ name, file: `/${name}.json`, data: data as CastConfig });
const merged = (...data: object[]): CastConfig => mergeLayers(data.map((part, i) => layer(i === 0 ? 'user' : 'project', part))).value;

describe('merging', () => {
  test.each<[string, object[], object]>([
    ['the nearest value wins', [{ model: 'a', reasoning: 'low' }, { model: 'b' }], { model: 'b', reasoning: 'low' }],
    ['objects merge by key', [{ limits: { maxSteps: 1, maxCost: 2 } }, { limits: { maxCost: 3 } }], { limits: { maxSteps: 1, maxCost: 3 } }],
    [
      'permission rules are added up, each once',
      [{ permissions: { allow: ['a'], deny: ['x'] } }, { permissions: { allow: ['b', 'a'], deny: ['y'] } }],
      { permissions: { allow: ['a', 'b'], deny: ['x', 'y'] } },
    ],
    ['other lists are replaced', [{ fallback: ['p/a', 'p/b'] }, { fallback: ['q/c'] }], { fallback: ['q/c'] }],
    ['undefined sets nothing', [{ model: 'a' }, { model: undefined }], { model: 'a' }],
    [
      'options of a plugin merge by key',
      [{ plugins: { bash: { a: 1, b: { c: 1 } } } }, { plugins: { bash: { b: { d: 2 } } } }],
      { plugins: { bash: { a: 1, b: { c: 1, d: 2 } } } },
    ],
    ['true over options keeps the options', [{ plugins: { bash: { a: 1 } } }, { plugins: { bash: true } }], { plugins: { bash: { a: 1 } } }],
    ['false switches off', [{ plugins: { bash: { a: 1 } } }, { plugins: { bash: false } }], { plugins: { bash: false } }],
    ['a nearer true switches on again', [{ plugins: { bash: false } }, { plugins: { bash: true } }], { plugins: { bash: true } }],
    ['nearer options switch on again', [{ plugins: { bash: false } }, { plugins: { bash: { a: 1 } } }], { plugins: { bash: { a: 1 } } }],
    ['options survive off and on', [{ plugins: { x: { a: 1 } } }, { plugins: { x: false } }, { plugins: { x: true } }], { plugins: { x: { a: 1 } } }],
    ['a plugin replaces options', [{ plugins: { x: { a: 1 } } }, { plugins: { x: definePlugin({}) } }], { plugins: { x: true } }],
    [
      'a place to load from replaces options',
      [{ plugins: { x: { a: 1 } } }, { plugins: { x: { from: './x.ts', options: { b: 2 } } } }],
      { plugins: { x: { b: 2 } } },
    ],
    [
      'nearer options change those of a plugin',
      [{ plugins: { x: definePlugin({}).with({ a: 1 } as never) } }, { plugins: { x: { b: 2 } } }],
      { plugins: { x: { a: 1, b: 2 } } },
    ],
    ['lists in options are replaced', [{ plugins: { x: { l: [1, 2] } } }, { plugins: { x: { l: [3] } } }], { plugins: { x: { l: [3] } } }],
  ])('%s', (_, layers, expected) => {
    expect(merged(...layers)).toEqual(expected);
  });

  test('a value of a class is a value', () => {
    const pattern = /a/;
    expect(merged({ plugins: { x: { pattern } } }).plugins?.['x']).toEqual({ pattern });
  });

  test('layers are not changed, and no object is shared with them', () => {
    const first = layer('user', { permissions: { allow: ['a'] }, plugins: { x: { list: [1] } } });
    const second = layer('project', { permissions: { allow: ['b'] }, plugins: { x: { list: [2] } } });
    const before = JSON.stringify([first, second]);
    const view = mergeLayers([first, second]);
    ((view.value.permissions?.allow ?? []) as string[]).push('c');
    (optionsOf(view, 'x')['list'] as number[]).push(9);
    expect(JSON.stringify([first, second])).toBe(before);
  });

  test('a key cannot reach the prototype of objects', () => {
    const hostile = JSON.parse(
      '{"__proto__":{"p1":1},"limits":{"__proto__":{"p2":1}},"plugins":{"__proto__":{"p3":1},"x":{"__proto__":{"p4":1},"constructor":{"prototype":{"p5":1}}}}}',
    ) as object;
    const view = mergeLayers([layer('user', hostile), layer('project', hostile)]);
    for (const key of ['p1', 'p2', 'p3', 'p4', 'p5']) expect(({} as Record<string, unknown>)[key]).toBeUndefined();
    expect(view.value.limits).toEqual({});
  });
});

describe('origins', () => {
  const view = mergeLayers([
    layer('user', { model: 'a', limits: { maxSteps: 5 }, permissions: { deny: ['x'] }, plugins: { bash: { timeoutMs: 1, maxLines: 2 }, gone: { old: 1 } } }),
    layer('project', { model: 'b', permissions: { deny: ['y'] }, plugins: { bash: { timeoutMs: 3 }, gone: './gone.ts' } }),
  ]);
  test.each([
    ['model', 'project'],
    ['limits.maxSteps', 'user'],
    ['plugins.bash', 'project'],
    ['plugins.bash.timeoutMs', 'project'],
    ['plugins.bash.maxLines', 'user'],
    ['permissions.deny.0', 'user'],
    ['permissions.deny.1', 'project'],
  ])('%s comes from %s', (key, from) => {
    expect(view.origin(key)).toEqual({ layer: from, file: `/${from}.json` });
  });
  test('what nobody set, or what was replaced, has none', () => {
    expect(view.origin('provider')).toBeUndefined();
    expect(view.origin('plugins.gone.old')).toBeUndefined();
  });
  test('entries are the keys that were set, with their values', () => {
    expect(view.entries().map(({ key, value, origin }) => [key, value, origin.layer])).toEqual([
      ['model', 'b', 'project'],
      ['limits.maxSteps', 5, 'user'],
      ['permissions.deny', ['x', 'y'], 'project'],
      ['plugins.bash.timeoutMs', 3, 'project'],
      ['plugins.bash.maxLines', 2, 'user'],
      ['plugins.gone', true, 'project'],
    ]);
  });
  test('options of a plugin', () => {
    expect(optionsOf(view, 'bash')).toEqual({ timeoutMs: 3, maxLines: 2 });
    expect(optionsOf(view, 'gone')).toEqual({});
    expect(optionsOf(view, 'unknown')).toEqual({});
  });
});

describe('locked plugins', () => {
  const locked = new Set(['permissions']);
  test.each<[LayerName, unknown]>([
    ['project-settings', false],
    ['project-local', { mode: 'lax' }],
    ['project', definePlugin({})],
    ['project', './mine.ts'],
  ])('%s may not change them', (name, entry) => {
    const view = mergeLayers([layer('user', { plugins: { permissions: { strict: true } } }), layer(name, { plugins: { permissions: entry } })], locked);
    expect(view.value.plugins?.['permissions']).toEqual({ strict: true });
    expect(view.refusals).toEqual([{ key: 'plugins.permissions', reason: expect.stringMatching(/locked/), origin: { layer: name, file: `/${name}.json` } }]);
    expect(view.origin('plugins.permissions')?.layer).toBe('user');
  });
  test.each<[LayerName, unknown]>([
    ['user-settings', false],
    ['flags', false],
    ['project', true],
  ])('%s may say %s', (name, entry) => {
    const view = mergeLayers([layer(name, { plugins: { permissions: entry } })], locked);
    expect(view.value.plugins?.['permissions']).toBe(entry);
    expect(view.refusals).toEqual([]);
  });
});

describe('checkConfig', () => {
  const origin = { layer: 'project', file: '/p/cast.config.ts' } as const;
  test.each<[string, object, RegExp]>([
    ['model', { model: 3 }, /^model must be a text, got 3 /],
    ['provider', { provider: null }, /^provider must be a text, got null/],
    ['providers', { providers: [] }, /^providers must be an object, got a list/],
    ['a provider', { providers: { a: 'http://x' } }, /^providers\.a must be an object, got "http:\/\/x"/],
    ['api', { providers: { a: { api: 'soap' } } }, /^providers\.a\.api must be "chat" or "responses", got "soap"/],
    ['headers', { providers: { a: { headers: { h: 1 } } } }, /^providers\.a\.headers\.h must be a text, got 1/],
    ['fallback', { fallback: 'p/m' }, /^fallback must be a list of texts, got "p\/m"/],
    ['reasoning', { reasoning: true }, /^reasoning must be a text, got true/],
    ['mode', { permissions: { mode: 'yolo' } }, /^permissions\.mode must be "default" or "ask" or "bypass", got "yolo"/],
    ['allow', { permissions: { allow: 'bash' } }, /^permissions\.allow must be a list of texts/],
    ['deny', { permissions: { deny: [1] } }, /^permissions\.deny must be a list of texts, got a list/],
    ['limits', { limits: { maxSteps: '5' } }, /^limits\.maxSteps must be a whole number above 0, got "5"/],
    ['negative', { limits: { maxCost: -1 } }, /^limits\.maxCost must be a number of at least 0, got -1/],
    ['plugins', { plugins: ['web'] }, /^plugins must be an object, got a list/],
    ['a plugin entry', { plugins: { web: 3 } }, /^plugins\.web must be true, false, options, a plugin, or where to load one from, got 3/],
    ['from', { plugins: { web: { from: 3 } } }, /^plugins\.web must be/],
  ])('%s of a wrong type is an error that says where', (_, data, message) => {
    const check = (): unknown => checkConfig(data, origin);
    expect(check).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) }));
    expect(check).toThrow(/\(project, \/p\/cast\.config\.ts\)$/);
  });
  test.each([[], 'x', null, 5].map((data) => [data]))('%j is no configuration', (data) => {
    expect(() => checkConfig(data, origin)).toThrow(/the configuration must be an object/);
  });
  test('unknown keys are warnings with the nearest known key', () => {
    const { warnings } = checkConfig({ modle: 'x', permissions: { alow: [] }, limits: { steps: 1 }, nothingLikeIt: 1 }, origin);
    expect(warnings).toEqual([
      'modle is no setting and was left out of account (project, /p/cast.config.ts). Did you mean `model`?',
      'permissions.alow is no setting and was left out of account (project, /p/cast.config.ts). Did you mean `allow`?',
      expect.stringMatching(/^limits\.steps is no setting/),
      expect.stringMatching(/^nothingLikeIt is no setting .*\)\.$/),
    ]);
  });
  test.each([
    'sk-proj-abcdef123456789',
    'gsk_abcdef1234567890',
    'AIzaSyA1234567890abcdefghijk',
    'eyJhbGciOi.eyJzdWIiOi.sig',
    '0123456789abcdef0123456789abcdef',
    'with a space',
    'a/b+c=',
  ])('a key in the place of its name is refused without being quoted: %s', (key) => {
    const check = (): unknown => checkConfig({ providers: { p: { key } } }, origin);
    expect(check).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', fix: expect.stringContaining('/provider add') }));
    expect(check).not.toThrow(expect.objectContaining({ message: expect.stringContaining(key) }));
  });
  test.each(['', 'CAST_API_KEY', 'openrouter', 'sk-openrouter', 'my.key_for-project-2', '_X'])('%j is the name of a secret', (key) => {
    expect(checkConfig({ providers: { p: { key } } }, origin).warnings).toEqual([]);
  });
  test('a key beside the address, as in earlier settings, is a warning', () => {
    const { warnings } = checkConfig({ providers: { p: { apiKey: 'sk-of-old-1234567' } } }, origin);
    expect(warnings).toEqual([expect.stringMatching(/^providers\.p\.apiKey is not read/)]);
    expect(warnings[0]).not.toContain('sk-of-old');
  });
  test('a whole right configuration passes, with keys of surfaces and of providers', () => {
    const data = {
      $schema: 'x',
      theme: 'cast',
      model: 'm',
      provider: 'p',
      providers: { p: { baseUrl: 'http://h/v1', api: 'chat', key: 'K', headers: { a: 'b' }, dialect: 'qwen', own: { x: 1 } } },
      fallback: ['p/m'],
      reasoning: 'high',
      permissions: { mode: 'ask', allow: ['bash(ls:*)'], deny: [] },
      limits: { maxSteps: 1, maxCost: 0, maxTokens: 1, contextWindow: 1, maxOutputTokens: 1 },
      plugins: { a: true, b: false, c: {}, d: './d.ts', e: { from: 'e', options: {} }, f: definePlugin({}) },
    };
    expect(checkConfig(data, origin).warnings).toEqual([]);
  });
});

describe('checkPluginNames', () => {
  test('an unknown name is an error with the nearest known one', () => {
    const check = (): unknown => checkPluginNames([layer('project', { plugins: { bsh: {} } })], ['bash', 'web']);
    expect(check).toThrow(
      expect.objectContaining({
        code: 'CONFIG_UNKNOWN_PLUGIN',
        message: expect.stringMatching(/^plugins\.bsh: .*\(project, \/project\.json\)\. Did you mean `bash`\?$/),
      }),
    );
  });
  test.each<[LayerName, unknown, string]>([
    ['user-settings', {}, 'lint-it'],
    ['user', true, 'lint-it'],
    ['user-settings', false, 'wbe'],
  ])('%s with %j for %s is an error', (name, entry, plugin) => {
    expect(() => checkPluginNames([layer(name, { plugins: { [plugin]: entry } })], ['bash', 'web'])).toThrow(/there is no plugin of this name/);
  });
  test.each<LayerName>(['user-settings', 'project', 'flags'])('%s may switch off what is not here: a warning', (name) => {
    expect(checkPluginNames([layer(name, { plugins: { 'lint-it': false, web: false } })], ['bash', 'web'])).toEqual([
      expect.stringMatching(/^plugins\.lint-it/),
    ]);
  });
});
