/** The reference pages say what the sources say. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ERRORS } from '../../kernel/errors.ts';
import { HOOKS } from '../../kernel/hooks/catalogue.ts';
import { checkConfig } from '../../kernel/host/config.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { ROOT } from '../architecture/sources.ts';
import { configKeys, documentedVariables, pluginOptions, staleWords as staleKeys, usedVariables } from './config-page.ts';
import { membersOf } from './declarations.ts';
import { staleWords as staleEvents } from './events-page.ts';
import { referencePages } from './pages.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

let pages: Readonly<Record<string, string>>;
beforeAll(async () => {
  pages = await referencePages();
}, 60_000);

// Mend it with: node docs/generate.mjs
test.each(['docs/hooks.md', 'docs/events.md', 'docs/errors.md', 'docs/config.md'])('%s is in step with the sources', (path) => {
  expect(read(path)).toBe(pages[path]);
});

describe('nothing is left out, and nothing made up:', () => {
  const headings = (path: string): readonly string[] => [...read(path).matchAll(/^### (.+)$/gm)].map(([, name]) => name ?? '');
  const firstCells = (path: string): readonly string[] => [...read(path).matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name ?? '');

  test('hooks', () => {
    const names = Object.keys(HOOKS);
    expect(headings('docs/hooks.md').filter((name) => /^[a-z]/.test(name))).toEqual(names);
    expect(membersOf('kernel/hooks/catalogue.ts', 'Hooks').length + membersOf('kernel/hooks/catalogue.ts', 'CallHooks').length).toBe(names.length);
  });

  test('events', () => {
    expect(headings('docs/events.md')).toEqual(membersOf('kernel/events.ts', 'EventMap').map(({ name }) => name));
    expect(staleEvents()).toEqual([]);
  });

  test('error codes', () => {
    const codes = firstCells('docs/errors.md');
    expect([...codes].sort()).toEqual(Object.keys(ERRORS).sort());
  });

  test('configuration keys, options, variables and bounds', async () => {
    const cells = new Set(firstCells('docs/config.md'));
    const options = await pluginOptions();
    const expected = [...configKeys().map(({ name }) => name), ...options.map(({ plugin, name }) => `plugins.${plugin}.${name}`), ...Object.keys(LIMITS)];
    expect(expected.filter((name) => !cells.has(name))).toEqual([]);
    expect(staleKeys()).toEqual([]);
    expect(usedVariables()).toEqual([...documentedVariables()].sort());
  });

  test('every option says what it is for', async () => {
    const silent = (await pluginOptions()).filter(({ schema }) => typeof schema['description'] !== 'string');
    expect(silent.map(({ plugin, name }) => `plugins.${plugin}.${name}`)).toEqual([]);
  });
});

test('every key of the page is a key that the kernel knows', () => {
  const unknown = configKeys().flatMap(({ name }) => {
    // Only unknown names are told apart here; a known one may refuse the value.
    const data = name.split('.').reduceRight<unknown>((value, key) => ({ [key]: value }), undefined);
    return checkConfig(data, { layer: 'user' }).warnings;
  });
  expect(unknown).toEqual([]);
});
