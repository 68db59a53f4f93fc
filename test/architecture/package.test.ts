/** What is shipped: the built files, and nothing of what they are made from. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import * as index from '../../cli/index.ts';
import * as kernel from '../../kernel/index.ts';
import * as testkit from '../../kernel/testkit/index.ts';
import { DIST, nodesOf, parse, ROOT } from './sources.ts';

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
    const names = [
      'cli.js',
      'import.js',
      'package.json',
      'index.js',
      'index.d.ts',
      'kernel.js',
      'kernel.d.ts',
      'testkit.js',
      'testkit.d.ts',
      'THIRD-PARTY-LICENSES.txt',
    ];
    expect(names.filter((name) => !existsSync(join(DIST, name)))).toEqual([]);
    expect(statSync(join(DIST, 'cli.js')).mode & 0o111).toBe(0o111);
  });

  test('has a chunk for each plugin, and a source map for each chunk', () => {
    const chunks = readdirSync(join(DIST, 'chunks'));
    const bodies = readdirSync(join(ROOT, 'plugins')).filter((name) => existsSync(join(ROOT, 'plugins', name, 'index.ts')));
    expect(bodies.filter((name) => !chunks.some((chunk) => new RegExp(`^plugin-${name}-[\\w-]{8}\\.js$`).test(chunk)))).toEqual([]);
    expect(chunks.filter((chunk) => chunk.endsWith('.js') && !chunks.includes(`${chunk}.map`))).toEqual([]);
  });

  test('is CommonJS whose names an ES module sees, one by one', () => {
    const faces = { cast: index, 'cast/kernel': kernel, 'cast/testkit': testkit };
    const script = `
      import { definePlugin, z } from 'cast';
      import { definePlugin as same } from 'cast/kernel';
      if (definePlugin !== same || !z.object({}).safeParse({}).success) throw new Error('not what was asked for');
      for (const face of ${JSON.stringify(Object.keys(faces))}) console.log(JSON.stringify(Object.keys(await import(face))));
    `;
    const lines = inProject({ 'face.mjs': script }, (run) => run(['face.mjs'])).trim();
    // What Node adds for those who import all of a CommonJS module as one.
    const names = lines.split('\n').map((line) => (JSON.parse(line) as string[]).filter((name) => !['default', 'module.exports', '__esModule'].includes(name)));
    expect(names.map((each) => each.sort())).toEqual(Object.values(faces).map((face) => Object.keys(face).sort()));
  });

  test('gives a configuration in TypeScript the kernel that runs', () => {
    const config = `
      import { createRequire } from 'node:module';
      import { CastError, defineConfig } from 'cast';
      const loaded = Object.values(createRequire(import.meta.url).cache).filter((module) => module.exports?.CastError);
      process.stderr.write(loaded.length > 1 && loaded.every((module) => module.exports.CastError === CastError) ? 'the same' : 'another');
      export default defineConfig({});
    `;
    const shown = inProject({ 'cast.config.ts': config }, (run) => [1, 2].map(() => run([join(DIST, 'cli.js'), 'config', '--trust'])));
    expect(shown).toEqual([expect.stringContaining('the same'), expect.stringContaining('the same')]);
  });

  // V8 forgets how to import when it takes a chunk from the code cache (docs/decisions/007).
  test('has no import() in a chunk', () => {
    const files = readdirSync(join(DIST, 'chunks')).filter((name) => name.endsWith('.js'));
    expect(files.length).toBeGreaterThan(20);
    const texts = files.map((name) => [name, readFileSync(join(DIST, 'chunks', name), 'utf8')] as const).filter(([, text]) => /\bimport\s*\(/.test(text));
    expect(texts.flatMap(([name, text]) => (callsImport(name, text) ? [name] : []))).toEqual([]);
    expect(callsImport('x.js', 'f(await import("x"))')).toBe(true);
  });
});

const callsImport = (name: string, text: string): boolean => [...nodesOf(parse(name, text))].some(({ kind }) => kind === ts.SyntaxKind.ImportKeyword);

/** In a project that has the package as its dependency. What `run` returns is what node printed. */
const inProject = <T>(files: Readonly<Record<string, string>>, work: (run: (args: readonly string[]) => string) => T): T => {
  const folder = mkdtempSync(join(tmpdir(), 'cast-package-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(ROOT, join(folder, 'node_modules', 'cast'));
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const env = { PATH: process.env['PATH'], HOME: folder, CAST_HOME: join(folder, 'home') };
    return work((args) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
      if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
      return stdout + stderr;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
