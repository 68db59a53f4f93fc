/** What programs write: whole whoever writes beside whom, never over what cannot be read, and never where it would not count. */
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigLayer } from '../../../kernel/index.ts';
import { systemClock } from '../../../kernel/host/clock.ts';
import { mergeLayers } from '../../../kernel/host/config.ts';
import { saveSettings, type SettingsTarget } from '../../../kernel/host/settings-file.ts';
import { openTrust } from '../../../kernel/host/trust.ts';

let folder = '';
let home = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cast-settings-'));
  home = join(folder, 'home');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (): string => join(home, 'settings.json');
const kept = (): Record<string, unknown> => {
  const { updatedAt, ...rest } = JSON.parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;
  expect(updatedAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  return rest;
};
const given = (text: string): void => {
  mkdirSync(home, { recursive: true });
  writeFileSync(file(), text);
};
const target = (layers: readonly ConfigLayer[] = [], more: Partial<SettingsTarget> = {}): SettingsTarget => ({
  home,
  root: join(folder, 'project'),
  where: 'user',
  config: mergeLayers(layers),
  ...more,
});
const save = (changes: Readonly<Record<string, unknown>>, layers: readonly ConfigLayer[] = []) => saveSettings(target(layers), changes);

describe('what is written', () => {
  test.each<[string, object, Readonly<Record<string, unknown>>, object]>([
    ['a key', {}, { model: 'm' }, { model: 'm' }],
    ['a path', { limits: { maxSteps: 3 } }, { 'limits.maxCost': 2 }, { limits: { maxSteps: 3, maxCost: 2 } }],
    [
      'an object, key by key',
      { providers: { a: { baseUrl: 'x' } } },
      { providers: { a: { api: 'chat' } } },
      { providers: { a: { baseUrl: 'x', api: 'chat' } } },
    ],
    [
      'names with dots, as they are',
      {},
      { providers: { a: { models: { 'm-1.5': { images: true } } } } },
      { providers: { a: { models: { 'm-1.5': { images: true } } } } },
    ],
    ['beside keys of others', { theme: 'dark', unheardOf: [1] }, { model: 'm' }, { theme: 'dark', unheardOf: [1], model: 'm' }],
    ['a list in place of a list', { fallback: ['a'] }, { fallback: ['b', 'c'] }, { fallback: ['b', 'c'] }],
    ['a removal, with what it leaves empty', { model: 'm', providers: { a: { api: 'chat' } } }, { 'providers.a.api': undefined }, { model: 'm' }],
    ['a removal of all below', { providers: { a: { api: 'chat' }, b: {} } }, { 'providers.a': undefined }, { providers: { b: {} } }],
    ['a removal of nothing', { model: 'm' }, { 'providers.a': undefined }, { model: 'm' }],
    ['keys that objects have by themselves', {}, { providers: { constructor: { toString: 'x' } } }, { providers: { constructor: { toString: 'x' } } }],
    [
      'old flat keys under their new names',
      { modelProvider: 'a', permissionMode: 'ask' },
      { model: 'm' },
      { provider: 'a', permissions: { mode: 'ask' }, model: 'm' },
    ],
  ])('%s', async (_, before, changes, after) => {
    given(JSON.stringify(before));
    const saved = await save(changes);
    expect(kept()).toEqual(after);
    expect(saved).toMatchObject({ file: file(), shadowed: [] });
  });

  test('is for its owner alone, and readable for people', async () => {
    await save({ model: 'm' });
    expect([statSync(file()).mode & 0o777, statSync(home).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readFileSync(file(), 'utf8')).toMatch(/^\{\n {2}"model": "m",\n/);
    expect(readdirSync(home)).toEqual(['settings.json']);
  });

  test('tightens a file that others could read', async () => {
    given('{}');
    expect(statSync(file()).mode & 0o044).not.toBe(0);
    await save({ model: 'm' });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  test('goes through a link', async () => {
    mkdirSync(home);
    writeFileSync(join(folder, 'mine.json'), '{"theme":"x"}');
    symlinkSync(join(folder, 'mine.json'), file());
    await save({ model: 'm' });
    expect(lstatSync(file()).isSymbolicLink()).toBe(true);
    expect(kept()).toEqual({ theme: 'x', model: 'm' });
  });
});

describe('nothing is written', () => {
  const nobody = { code: 'CONFIG_INVALID' };
  test.each([
    ['cut off', '{"model": "sk-in-plain-sight'],
    ['a list', '[]'],
    ['empty', ''],
  ])('over a file that is %s', async (_, text) => {
    given(text);
    const failing = save({ model: 'm' });
    await expect(failing).rejects.toMatchObject({ ...nobody, message: expect.stringContaining(file()), fix: expect.stringContaining('.bad') });
    await expect(failing).rejects.not.toThrow(/plain-sight/);
    expect(readFileSync(file(), 'utf8')).toBe(text);
    expect(readdirSync(home)).toEqual(['settings.json']);
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['a wrong type', { model: 3 }],
    ['a wrong word', { 'permissions.mode': 'maybe' }],
    ['no key', { '': 1 }],
    ['a prototype', { 'providers.__proto__.x': 1 }],
    ['a prototype below', { providers: JSON.parse('{"__proto__":{"polluted":true}}') as unknown }],
  ])('of %s', async (_, changes) => {
    await expect(save(changes)).rejects.toMatchObject(nobody);
    expect(existsSync(file())).toBe(false);
    expect('polluted' in {}).toBe(false);
  });

  const mine = { name: 'user', file: '/home/me/.cast/cast.config.ts' } as const;
  test.each<[string, ConfigLayer, Readonly<Record<string, unknown>>, RegExp]>([
    ['the same key', { ...mine, data: { model: 'theirs' } }, { model: 'm' }, /set model to "m"/],
    ['a removal', { ...mine, data: { model: 'theirs' } }, { model: undefined }, /take model out/],
    ['a key below', { ...mine, data: { providers: { a: { baseUrl: 'x' } } } }, { 'providers.a': undefined }, /change providers\.a\.baseUrl/],
    ['a value above', { ...mine, data: { plugins: { bash: false } } }, { 'plugins.bash.timeoutMs': 1 }, /change plugins\.bash/],
    ['a file of the project', { name: 'project', file: '/p/cast.config.ts', data: { model: 'theirs' } }, { model: 'm' }, /\/p\/cast\.config\.ts, set model/],
    ['settings of the project', { name: 'project-local', file: '/p/.cast/settings.local.json', data: { model: 'a' } }, { model: 'm' }, /settings\.local\.json/],
  ])('that a nearer file would hide: %s', async (_, layer, changes, fix) => {
    await expect(save(changes, [layer])).rejects.toMatchObject({
      ...nobody,
      message: expect.stringContaining(layer.file ?? ''),
      fix: expect.stringMatching(fix),
    });
    expect(existsSync(file())).toBe(false);
  });

  test.each<[string, ConfigLayer, Readonly<Record<string, unknown>>]>([
    ['another key of it', { ...mine, data: { provider: 'a', providers: { a: { baseUrl: 'x' } } } }, { providers: { a: { api: 'chat' } } }],
    ['the same value', { ...mine, data: { model: 'm' } }, { model: 'm' }],
    ['lists that add up', { ...mine, data: { permissions: { allow: ['read'] } } }, { 'permissions.allow': ['bash'] }],
    ['its own layer', { name: 'user-settings', file: 'settings.json', data: { model: 'old' } }, { model: 'm' }],
  ])('but %s is no obstacle', async (_, layer, changes) => {
    await save(changes, [layer]);
    expect(Object.keys(kept())).toHaveLength(1);
  });

  test('without saying which keys are not in force: those of environment and flags', async () => {
    const saved = await save({ model: 'm', provider: 'p' }, [{ name: 'environment', data: { model: 'theirs' } }]);
    expect(saved.shadowed).toEqual([{ key: 'model', origin: { layer: 'environment' } }]);
    expect(saved.keys).toEqual(['model', 'provider']);
    expect(kept()).toEqual({ model: 'm', provider: 'p' });
  });
});

describe('several writers', () => {
  test('of one process lose nothing', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => save({ providers: { [`p${i}`]: { baseUrl: 'x' } } })));
    expect(Object.keys(kept()['providers'] as object)).toHaveLength(20);
  });

  test('of several processes lose nothing', async () => {
    const program = join(folder, 'write.mjs');
    const [from, root] = [
      fileURLToPath(new URL('../../../kernel/host/settings-file.ts', import.meta.url)),
      fileURLToPath(new URL('../../..', import.meta.url)),
    ];
    const contents = `import { saveSettings } from ${JSON.stringify(from)};
      const [, , home, name] = process.argv;
      for (let i = 0; i < 10; i++) await saveSettings({ home, where: 'user' }, { providers: { [name + i]: { baseUrl: 'x' } } });`;
    await build({ stdin: { contents, resolveDir: root, loader: 'ts' }, outfile: program, bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' });
    const codes = await Promise.all(
      ['a', 'b', 'c'].map(
        (name) =>
          new Promise((resolve) => {
            spawn(process.execPath, [program, home, name], { stdio: 'inherit' }).once('close', resolve);
          }),
      ),
    );
    expect(codes).toEqual([0, 0, 0]);
    expect(Object.keys(kept()['providers'] as object)).toHaveLength(30);
    expect(readdirSync(home)).toEqual(['settings.json']);
  }, 30_000);

  test('a lock that stays is named', async () => {
    mkdirSync(home);
    writeFileSync(`${file()}.lock`, '');
    await expect(save({ model: 'm' })).rejects.toMatchObject({ code: 'CONFIG_INVALID', fix: expect.stringContaining(`${file()}.lock`) });
  }, 10_000);
});

describe('settings of a project', () => {
  const local = (): string => join(folder, 'project', '.cast', 'settings.local.json');
  const trust = () => openTrust({ home, clock: systemClock });
  const root = (): string => join(folder, 'project');

  test('are written where it is trusted, and stay trusted', async () => {
    await trust().decide(root(), 'trusted', { code: { 'cast.config.ts': 'hash' }, text: [] });
    await saveSettings(target([], { where: 'project' }), { model: 'm' });
    await saveSettings(target([], { where: 'project' }), { model: 'n' });
    expect(JSON.parse(readFileSync(local(), 'utf8'))).toMatchObject({ model: 'n' });
    const [record] = trust().list();
    expect(Object.keys(record?.code ?? {})).toEqual(['cast.config.ts', '.cast/settings.local.json']);
    expect(trust().status(root(), { code: record?.code ?? {}, text: [] }).decision).toBe('trusted');
  });

  test('are not written where they would not be read, or were changed by somebody else', async () => {
    const failing = { code: 'CONFIG_UNTRUSTED', fix: expect.stringContaining('cast trust') };
    await expect(saveSettings(target([], { where: 'project' }), { model: 'm' })).rejects.toMatchObject(failing);
    await trust().decide(root(), 'trusted', { code: {}, text: [] });
    mkdirSync(join(root(), '.cast'), { recursive: true });
    writeFileSync(local(), '{"model":"theirs"}');
    await expect(saveSettings(target([], { where: 'project' }), { model: 'm' })).rejects.toMatchObject(failing);
    expect(readFileSync(local(), 'utf8')).toBe('{"model":"theirs"}');
  });

  test('need a project', async () => {
    await expect(saveSettings(target([], { where: 'project', root: undefined }), { model: 'm' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
