import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asNobody } from './as-nobody.ts';
import { type Desk, ENGINES, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

describe.each(ENGINES)('with %s', (engine) => {
  test('over 2000 lines the first are shown, with the total', async () => {
    for (let index = 100; index < 130; index++) desk.put(`f${index}.txt`, 'hit\n'.repeat(100));
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit' });
    const lines = content.split('\n');
    expect(lines.filter((line) => line.endsWith(':hit'))).toHaveLength(2000);
    expect(lines[1999]).toBe('f119.txt:100:hit');
    expect(content).toContain('(First 2000 of 3000 lines.');
  });

  test('far more lines are not counted to the end', async () => {
    for (let index = 100; index < 150; index++) desk.put(`f${index}.txt`, 'hit\n'.repeat(200));
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit', limit: 200 });
    expect(content).toContain('(First 2000 of more than 8000 lines.');
    expect(content.split('\n')[1999]).toBe('f109.txt:200:hit');
  });

  test('128 KiB at most', async () => {
    desk.put('a.txt', `hit ${'x'.repeat(450)}\n`.repeat(1000));
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit', limit: 1000 });
    expect(Buffer.byteLength(content)).toBeLessThan(131_072 + 500);
    expect(content).toMatch(/\(First \d+ of 1000 lines\./);
  });

  test('a long line is shown around its match', async () => {
    desk.put('a.txt', `${'ä'.repeat(5000)}needle${'z'.repeat(5000)}\n`);
    const { content } = await desk.run(engine, 'grep', { pattern: 'needle' });
    expect(content).toBe(`a.txt:1:…${'ä'.repeat(100)}needle${'z'.repeat(394)}… (10006 characters)`);
  });

  test('of a long last line without a line feed the end is shown when the match is there', async () => {
    desk.put('f0', 'x'.repeat(600));
    desk.put('f1', '\0');
    expect((await desk.run(engine, 'grep', { pattern: 'a?$', limit: 1 })).content.split('\n')[0]).toBe(`f0:1:…${'x'.repeat(100)} (600 characters)`);
  });

  test('a last line without a line feed is told to match where it does, also beyond the limit', async () => {
    desk.put('f', '\nhit');
    desk.put('g', '\n\r\nhit\r\n');
    const { content } = await desk.run(engine, 'grep', { pattern: 'a?$', context: 3, limit: 1 });
    expect(content.split('\n').slice(0, 2)).toEqual(['f:1:', 'f:2:hit']);
    const blank = await desk.run(engine, 'grep', { pattern: '^$', context: 3, limit: 1, path: 'g' });
    expect(blank.content.split('\n').slice(0, 3)).toEqual(['g:1:', 'g:2:', 'g-3-hit']);
  });

  test('glob lists so many, with the total', async () => {
    for (const name of ['c.ts', 'a.ts', 'b/x.ts', 'd.js']) desk.put(name);
    expect((await desk.run(engine, 'glob', { pattern: '*.ts', limit: 2 })).content).toBe(
      'a.ts\nb/x.ts\n(First 2 of 3 files. Narrow the pattern to see the rest.)',
    );
    expect((await desk.run(engine, 'glob', { pattern: '*.js' })).content).toBe('d.js\n(So few files: read one of them rather than search on.)');
  });

  test('a limit or context that is no such number is refused', async () => {
    desk.put('a.txt', 'hit\n');
    for (const input of [{ limit: 0 }, { limit: -1 }, { limit: 1.5 }, { context: -1 }, { context: 0.5 }])
      await expect(desk.run(engine, 'grep', { pattern: 'hit', ...input } as never), JSON.stringify(input)).rejects.toThrow();
    await expect(desk.run(engine, 'glob', { pattern: '*', limit: 0 })).rejects.toThrow();
    await expect(desk.run(engine, 'ls', { limit: 0 })).rejects.toThrow();
    await expect(desk.run(engine, 'grep', { pattern: '' })).rejects.toThrow();
  });

  test('by default a hundred matches of a file, a thousand files', async () => {
    desk.put('many.txt', 'hit\n'.repeat(101));
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit' });
    expect(content.split('\n')).toHaveLength(101);
    expect(content).toContain('(At most 100 matches of each file are shown; reached in many.txt.)');
    for (let index = 0; index < 1001; index++) desk.put(`f/${index}.x`);
    const listed = await desk.run(engine, 'glob', { pattern: '*.x' });
    expect(listed.content.split('\n')).toHaveLength(1001);
    expect(listed.content).toContain('(First 1000 of 1001 files.');
  });

  test('up to three files: read one of them', async () => {
    for (const name of ['a.ts', 'b.ts', 'c.ts']) desk.put(name);
    const note = '(So few files: read one of them rather than search on.)';
    expect((await desk.run(engine, 'glob', { pattern: '*.ts' })).content).toBe(`a.ts\nb.ts\nc.ts\n${note}`);
    desk.put('d.ts');
    expect((await desk.run(engine, 'glob', { pattern: '*.ts' })).content).not.toContain(note);
  });

  test('a file of many megabytes is searched to its end, with the right line numbers', async () => {
    desk.put('big.txt', `${`${'x'.repeat(1022)}\n`.repeat(7000)}hit at the end`);
    desk.put('one-line.txt', `${'y'.repeat(3_000_000)}hit${'z'.repeat(3_000_000)}\nhit again`);
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit', context: 1 });
    expect(content).toContain('\nbig.txt:7001:hit at the end\n');
    expect(content).toContain(`one-line.txt:1:…${'y'.repeat(100)}hit${'z'.repeat(397)}… (6000003 characters)`);
    expect(content).toContain('one-line.txt:2:hit again');
  });

  test('of what lies far behind the lines that are shown nothing is said', async () => {
    for (let index = 100; index < 150; index++) desk.put(`f${index}.txt`, 'hit\n'.repeat(200));
    for (const name of ['a-locked', 'z-locked']) {
      desk.put(`${name}/x.txt`, 'hit\n');
      chmodSync(join(desk.cwd, name), 0o000);
    }
    const { content } = await asNobody(desk.top, () => desk.run(engine, 'grep', { pattern: 'hit', limit: 200 }));
    expect(content).toContain('(1 path could not be read: a-locked.)');
  });
});
