/** A plugin is a folder, a line in the table of built-ins, a page and tests; and its manifest tells the truth. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claimOf, disagreements, loadPlugin, missingPieces, useOf } from './plugin-claims.ts';
import { FIXTURES, importsOf, parse, pluginFolders, readSource, ROOT } from './sources.ts';

const builtins = readSource('cli/builtins.ts');

describe.each(pluginFolders())('plugin %s', (name) => {
  test('is complete', () => {
    expect(missingPieces(name, ROOT, builtins)).toEqual([]);
  });

  test('has a manifest of data alone, with the name of its folder', async () => {
    const { manifest, exports } = await loadPlugin(join(ROOT, 'plugins', name));
    expect(exports).toHaveLength(1);
    expect(importsOf(parse(`plugins/${name}/manifest.ts`))).toEqual(['../../kernel/index.ts']);
    expect(JSON.parse(JSON.stringify(manifest))).toEqual(manifest);
    expect(manifest.name).toBe(name);
  });

  test('says the same in manifest and body', async () => {
    const { manifest, plugin } = await loadPlugin(join(ROOT, 'plugins', name));
    expect(disagreements(manifest, plugin)).toEqual([]);
  });

  test('declares what it uses, and uses what it declares', async () => {
    const { manifest } = await loadPlugin(join(ROOT, 'plugins', name));
    expect(useOf(`plugins/${name}`)).toEqual(claimOf(manifest));
  });
});

test('nothing is left of plugins that are gone', () => {
  const names = (folder: string): readonly string[] => readdirSync(join(ROOT, folder)).map((entry) => entry.replace(/\.md$/, ''));
  const mentioned = [...builtins.matchAll(/\.\.\/plugins\/([^/]+)\//g)].map(([, name]) => name ?? '');
  const strangers = [...names('test/plugins'), ...names('docs/plugins').filter((name) => name !== 'README'), ...mentioned];
  expect(strangers.filter((name) => !pluginFolders().includes(name))).toEqual([]);
});

describe('a plugin that does not tell the truth', () => {
  test('is told from one that does', async () => {
    const { manifest, plugin } = await loadPlugin(join(FIXTURES, 'claims/plugins/liar'));
    expect(disagreements(manifest, plugin)).toEqual([
      'summary: the manifest says "Says one thing and does another.", the body "Says another thing."',
      'capabilities: the manifest says ["secrets"], the body ["process","net"]',
      'locked: the manifest says undefined, the body true',
    ]);
    expect(useOf('claims/plugins/liar', FIXTURES)).toEqual({ capabilities: ['fs', 'net', 'process'], taps: ['call', 'gate'], provides: [], uses: ['shell'] });
    expect(claimOf(manifest)).toEqual({ capabilities: ['secrets'], taps: ['ended'], provides: ['usage'], uses: ['grants'] });
  });

  test('lacks what it lacks', () => {
    expect(missingPieces('liar', join(FIXTURES, 'claims'), '')).toEqual([
      'test/plugins/liar',
      'docs/plugins/liar.md',
      "'../plugins/liar/manifest.ts' in cli/builtins.ts",
      "import('../plugins/liar/index.ts') in cli/builtins.ts",
    ]);
  });
});
