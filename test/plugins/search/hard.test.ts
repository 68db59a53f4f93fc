import { execFileSync } from 'node:child_process';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Desk, ENGINES, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

const LONG = 'a'.repeat(200);
/** Each is refused where it was tried for hours. */
const UNLUCKY = [`${'*a'.repeat(12)}[b]`, `${'{a,aa}'.repeat(60)}b`];

describe.each(ENGINES)('with %s', (engine) => {
  test.each(UNLUCKY)('a glob that can match in too many ways is ended: %s', { timeout: 30_000 }, async (pattern) => {
    desk.put(LONG, 'hit\n');
    for (const result of [
      await desk.run(engine, 'glob', { pattern }),
      await desk.run(engine, 'grep', { pattern: 'hit', glob: pattern }),
      await desk.run(engine, 'grep', { pattern: 'hit', glob: `!${pattern}` }),
    ])
      expect(result).toMatchObject({ status: 'error', error: { code: 'TIMEOUT' } });
  });

  test('stars and braces beyond what is tried at once still match', async () => {
    desk.put(`${LONG}b`, 'hit\n');
    for (const pattern of ['*a*a*a*a*b', '{a,aa}{a,aa}{a,aa}{a,aa}*a*b'])
      expect((await desk.run(engine, 'glob', { pattern })).content).toMatch(new RegExp(`^${LONG}b\n`));
  });

  test('a glob too long to be a path is refused at once', async () => {
    expect(await desk.run(engine, 'glob', { pattern: '{'.repeat(60_000) })).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
  });

  test('ignore rules for which a path takes for ever are named', { timeout: 30_000 }, async () => {
    desk.put('.gitignore', `${'**/a/'.repeat(9)}b\n`);
    const deep = 'a/'.repeat(120);
    desk.put(`${deep}c.txt`, 'hit\n');
    for (const result of [await desk.run(engine, 'ls', { path: deep }), await desk.run(engine, 'grep', { pattern: 'hit', path: deep })]) {
      expect(result).toMatchObject({ status: 'error', error: { code: 'TIMEOUT' } });
      expect(result.content).toContain(join(desk.cwd, '.gitignore'));
    }
  });

  test('B034: a pipe in the place of git’s own files holds up neither ls nor a search', { timeout: 10_000 }, async () => {
    execFileSync('mkdir', ['-p', join(desk.cwd, '.git/info')]);
    execFileSync('mkfifo', [join(desk.cwd, '.gitignore'), join(desk.top, 'home/.gitconfig')]);
    desk.put('a.txt', 'hit\n');
    expect((await desk.run(engine, 'ls', {})).content).toContain('a.txt');
    expect((await desk.run('walk', 'grep', { pattern: 'hit' })).content).toBe('a.txt:1:hit');
  });

  test('a file of rules that is far too large is not read', async () => {
    desk.put('.gitignore', 'x\n');
    truncateSync(join(desk.cwd, '.gitignore'), 3_000_000_000);
    const result = await desk.run(engine, 'ls', {});
    expect(result).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
    expect(result.content).toContain('.gitignore is too large');
  });
});
