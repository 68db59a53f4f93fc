/** Whatever stands in the names of files, both engines name them in the same form, and nobody's name looks like a line of an answer. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asNobody } from './as-nobody.ts';
import { type Desk, ENGINES, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

/** Only there a name may be any bytes. */
const isLinux = process.platform === 'linux';
const inside = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat([Buffer.from(desk.cwd), ...parts.flatMap((part) => [Buffer.from('/'), Buffer.from(part)])]);
const bad = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Names, and how they are shown. */
const NAMES: readonly (readonly [string, string])[] = [
  ['two\nlines', '"two\\nlines"'],
  ['a.ts\nb.ts:1:hit', '"a.ts\\nb.ts:1:hit"'],
  ['a.ts:1:forged', '"a.ts:1:forged"'],
  ['\x1b[2Jesc', '"\\u001b[2Jesc"'],
  ['tab\tand\rreturn', '"tab\\tand\\rreturn"'],
  ['\x7f\x85', '"\\u007f\\u0085"'],
  ['line\u2028sep', '"line\\u2028sep"'],
  ['turned\u202e', '"turned\\u202e"'],
  ['"quoted"', '"\\"quoted\\""'],
  ['back\\slash\n', '"back\\\\slash\\n"'],
  ['(First 1 of 9 files.)', '"(First 1 of 9 files.)"'],
  ['back\\slash', 'back\\slash'],
  ['wörld 日本 👍', 'wörld 日本 👍'],
  ["it's (a) b", "it's (a) b"],
  ['\ufffd', '\ufffd'],
];

describe.each(ENGINES)('with %s', (engine) => {
  test.each(NAMES)('%j is shown as %s', async (name, shown) => {
    desk.put(name, 'hit\nmiss\n');
    expect((await desk.run(engine, 'grep', { pattern: 'hit', context: 1 })).content).toBe(`${shown}:1:hit\n${shown}-2-miss`);
    expect((await desk.run(engine, 'glob', { pattern: '*' })).content).toMatch(/\n\(So few files/);
    expect((await desk.run(engine, 'glob', { pattern: '*' })).content.split('\n')[0]).toBe(shown);
    expect((await desk.run(engine, 'ls', {})).content).toBe(`f 9 ${shown}`);
    // What is told of a file names it in the same way.
    expect((await desk.run(engine, 'grep', { pattern: 'hit', limit: 1 })).content).toContain(`reached in ${shown}.)`);
    expect((await desk.run(engine, 'glob', { pattern: '*', path: name })).content.split('\n')[0]).toBe(`${shown} is a file, not a folder.`);
  });

  test('a folder with such a name is one line, too', async () => {
    desk.put('two\nlines/a.txt', 'hit\n');
    expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe('"two\\nlines/a.txt":1:hit');
    expect((await desk.run(engine, 'ls', {})).content).toBe('d - "two\\nlines/"');
    mkdirSync(join(desk.cwd, 'empty\n(1 more entry)'));
    expect((await desk.run(engine, 'ls', { path: 'empty\n(1 more entry)' })).content).toBe('"empty\\n(1 more entry)" is empty.');
    expect((await desk.run(engine, 'ls', { path: 'no\nwhere' })).content.split('\n')[0]).toContain('"no\\nwhere"');
  });

  test('a path that cannot be read is named in the same way', async () => {
    for (const name of ['a.txt', 'two\nlines.txt']) desk.put(name, 'hit\n');
    chmodSync(join(desk.cwd, 'two\nlines.txt'), 0o000);
    await asNobody(desk.top, async () => {
      const { content } = await desk.run(engine, 'grep', { pattern: 'hit' });
      expect(content).toBe('a.txt:1:hit\n(1 path could not be read: "two\\nlines.txt".)');
    });
  });

  test.runIf(isLinux)('names that are no UTF-8 are found, searched and told apart', async () => {
    mkdirSync(inside(bad('d\xe9')));
    writeFileSync(inside(bad('d\xe9'), bad('f\xff\xe2\x82.txt')), 'hit in it\n');
    writeFileSync(inside(bad('d\xe9'), '.gitignore'), '*.log\n');
    writeFileSync(inside(bad('d\xe9'), 'x.log'), 'hit ignored\n');
    writeFileSync(inside(bad('\xfc\xfcö.txt')), 'hit\n');
    writeFileSync(inside('gr\ufffd.txt'), 'hit\n');
    const names = ['"d\\xe9/f\\xff\\xe2\\x82.txt"', 'gr\ufffd.txt', '"\\xfc\\xfc\\xf6.txt"'];
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit' });
    expect(content.split('\n')).toEqual([`${names[0]}:1:hit in it`, `${names[1]}:1:hit`, `${names[2]}:1:hit`]);
    expect((await desk.run(engine, 'glob', { pattern: '*.txt' })).content.split('\n').slice(0, 3)).toEqual(names);
    expect((await desk.run(engine, 'ls', {})).content).toBe(`d - "d\\xe9/"\nf 4 ${names[1]}\nf 4 ${names[2]}`);
    // Matched to its end, which needs a second look at the file.
    expect((await desk.run(engine, 'grep', { pattern: 'hit', limit: 1, glob: 'f*' })).content).toContain(`reached in ${names[0]}.)`);
  });

  test.runIf(isLinux)('rules apply to such names, up to a line that is no UTF-8', async () => {
    writeFileSync(inside('.gitignore'), bad('b?.txt\na\xe9.txt\nc.txt\n'));
    for (const name of ['a\xe9', 'b\xff', 'bcd', 'c']) writeFileSync(inside(bad(`${name}.txt`)), 'hit\n');
    expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe('"a\\xe9.txt":1:hit\nbcd.txt:1:hit\nc.txt:1:hit');
    expect((await desk.run(engine, 'ls', {})).content).toContain('(1 entry that git ignores not listed)');
  });
});

test.runIf(isLinux)('names of bytes at random are the same for both', { timeout: 60_000 }, async () => {
  const byte = fc.oneof(fc.integer({ min: 1, max: 255 }), fc.constantFrom(10, 34, 92, 0xe2, 0x82, 0xac, 0xef, 0xbf, 0xbd)).filter((each) => each !== 47);
  const name = fc
    .uint8Array({ minLength: 1, maxLength: 8 })
    .chain(() => fc.array(byte, { minLength: 1, maxLength: 8 }).map((bytes) => Buffer.from([120, ...bytes])));
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, name), { minLength: 1, maxLength: 6 }), async (paths) => {
      const folder = `t${(count += 1)}`;
      for (const [outer, inner] of paths) {
        mkdirSync(inside(folder, outer), { recursive: true });
        writeFileSync(inside(folder, outer, inner), 'hit\n');
      }
      const total = new Set(paths.map((path) => Buffer.concat([path[0], Buffer.from('/'), path[1]]).toString('hex'))).size;
      for (const [tool, input] of [
        ['grep', { pattern: 'hit', path: folder }],
        ['glob', { pattern: '*', path: folder }],
      ] as const) {
        const [fast, slow] = await Promise.all(ENGINES.map((engine) => desk.run(engine, tool, input)));
        expect(slow).toEqual(fast);
        const rows = (fast?.content ?? '').split('\n').filter((row) => !row.startsWith('('));
        expect(new Set(rows).size).toBe(total);
        if (tool === 'grep') for (const row of rows) expect(row).toMatch(/:1:hit$/);
      }
    }),
    { numRuns: 60 },
  );
});
