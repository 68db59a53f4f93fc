/** What is shipped: the built files, and nothing of what they are made from. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DIST, ROOT } from './sources.ts';

const isBuilt = existsSync(join(DIST, 'cli.js'));

test('the package holds the built files, the licence and the readme', () => {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [{ files }] = JSON.parse(output) as [{ files: readonly { path: string }[] }];
  const tops = new Set(files.map(({ path }) => path.split('/')[0]));
  const allowed = ['LICENSE', 'README.md', 'dist', 'package.json'];
  expect([...tops].filter((top) => top === undefined || !allowed.includes(top))).toEqual([]);
  expect([...tops]).toEqual(expect.arrayContaining(['LICENSE', 'package.json']));
}, 60_000);

describe.skipIf(!isBuilt)('dist (npm run build comes first)', () => {
  test('has the command, the three faces with their types, and the licences of what is bundled', () => {
    const names = ['cli.js', 'index.js', 'index.d.ts', 'kernel.js', 'kernel.d.ts', 'testkit.js', 'testkit.d.ts', 'THIRD-PARTY-LICENSES.txt'];
    expect(names.filter((name) => !existsSync(join(DIST, name)))).toEqual([]);
    expect(statSync(join(DIST, 'cli.js')).mode & 0o111).toBe(0o111);
  });

  test('has a chunk for each plugin, and a source map for each chunk', () => {
    const chunks = readdirSync(join(DIST, 'chunks'));
    const bodies = readdirSync(join(ROOT, 'plugins')).filter((name) => existsSync(join(ROOT, 'plugins', name, 'index.ts')));
    expect(bodies.filter((name) => !chunks.some((chunk) => new RegExp(`^plugin-${name}-[\\w-]{8}\\.js$`).test(chunk)))).toEqual([]);
    expect(chunks.filter((chunk) => chunk.endsWith('.js') && !chunks.includes(`${chunk}.map`))).toEqual([]);
  });
});
