import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Desk, openDesk } from '../desk.ts';
import { type Anchors, anchorsOf, local, type Op } from './line-desk.ts';

let desk: Desk;
beforeAll(() => {
  desk = openDesk({ mode: 'hashline' });
});
afterAll(() => desk.remove());

const line = fc.oneof(
  fc.constantFrom('', 'x', '  x', '\tfoo(a);', '“q” – ü', '}', '$&', '->', '→'),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll(/[\r\n\0]/g, '')),
);
const lines = fc.array(line, { maxLength: 6 });

interface File {
  readonly mark: boolean;
  readonly lines: readonly string[];
  readonly endings: readonly string[];
  readonly hasFinalFeed: boolean;
}
const file: fc.Arbitrary<File> = fc
  .record({
    mark: fc.boolean(),
    lines: fc.array(line, { maxLength: 20 }),
    kind: fc.constantFrom('\n', '\r\n', 'mixed'),
    picks: fc.array(fc.boolean()),
    hasFinalFeed: fc.boolean(),
  })
  .map(({ kind, picks, ...rest }) => ({
    ...rest,
    // Without a line feed at the end an empty last line would be no line.
    hasFinalFeed: rest.hasFinalFeed || (rest.lines.at(-1) ?? '') === '',
    endings: rest.lines.map((_, index) => (kind !== 'mixed' ? kind : picks[index] ? '\r\n' : '\n')),
  }))
  .map((all) => ({ ...all, endings: all.hasFinalFeed ? all.endings : [...all.endings.slice(0, -1), ''] }));
const textOf = ({ mark, lines: all, endings }: File): string => (mark ? '\ufeff' : '') + all.map((text, index) => text + endings[index]).join('');

interface Step {
  readonly op: 'replace' | 'insert_after' | 'insert_before';
  readonly first: number;
  readonly count: number;
  readonly edge: boolean;
  readonly content: readonly string[];
  readonly feed: boolean;
}
const step: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom('replace', 'insert_after', 'insert_before'),
  first: fc.nat(),
  count: fc.nat({ max: 4 }),
  edge: fc.boolean(),
  content: lines,
  feed: fc.boolean(),
});

/** The same ops twice: for the tool, and for the model below, in which lines and gaps between them count from 0. */
interface Meant {
  readonly op: Op;
  readonly from: number;
  readonly to: number;
  readonly content: readonly string[];
}
const meant = ({ op, first, count, edge, content, feed }: Step, size: number, at: Anchors): Meant => {
  const text = content.map((row) => `${row}\n`).join('');
  const given = { content: feed || content.at(-1) === '' ? text : text.slice(0, -1) };
  if (size === 0 || (edge && op === 'insert_after')) {
    const isTop = first % 2 === 0;
    return { op: { op: 'insert_after', anchor: isTop ? '0:' : 'EOF', ...given }, from: isTop ? 0 : size, to: isTop ? 0 : size, content };
  }
  const from = first % size;
  if (op === 'insert_after') return { op: { op, anchor: at(from + 1), ...given }, from: from + 1, to: from + 1, content };
  if (op === 'insert_before') return { op: { op, anchor: at(from + 1), ...given }, from, to: from, content };
  const to = Math.min(size, from + 1 + count);
  return { op: { op, anchor: at(from + 1), ...(to > from + 1 ? { end_anchor: at(to) } : {}), ...given }, from, to, content };
};

/** What is left of an array of lines: the index of a line that stays, or the text of a new one. Undefined: not allowed. */
const modelled = (size: number, all: readonly Meant[]): readonly (number | string)[] | undefined => {
  const owner: (Meant | undefined)[] = Array.from({ length: size });
  for (const each of all.filter(({ op }) => op.op === 'replace')) {
    for (let index = each.from; index < each.to; index++) {
      if (owner[index]) return undefined;
      owner[index] = each;
    }
  }
  const inserts = all.filter(({ op }) => op.op !== 'replace');
  if (inserts.some(({ from, content }) => content.length === 0 || (owner[from] !== undefined && owner[from] === owner[from - 1]))) return undefined;
  const result: (number | string)[] = [];
  for (let index = 0; index <= size; index++) {
    for (const kind of ['insert_after', 'insert_before']) {
      for (const each of inserts) if (each.from === index && each.op.op === kind) result.push(...each.content);
    }
    const by = owner[index];
    if (by && by.from === index) result.push(...by.content);
    if (!by && index < size) result.push(index);
  }
  return result;
};

/** Takes a text apart into the lines that it should have: those that stay with their bytes, new ones with an ending of the file. */
const expectLines = (text: string, given: File, expected: readonly (number | string)[]): void => {
  const endings = new Set(given.endings.filter(Boolean));
  const usual = endings.size === 0 ? ['\n'] : [...endings];
  let rest = given.mark ? text.replace(/^\ufeff/, '') : text;
  const take = (part: string): void => {
    expect(rest.slice(0, part.length)).toBe(part);
    rest = rest.slice(part.length);
  };
  expected.forEach((part, index) => {
    take(typeof part === 'number' ? (given.lines[part] ?? '') : part);
    if (index === expected.length - 1 && !given.hasFinalFeed) return;
    const own = typeof part === 'number' ? given.endings[part] : '';
    take(own || (usual.find((ending) => rest.startsWith(ending)) ?? 'an ending'));
  });
  expect(rest).toBe('');
};

test('any list of ops does what it does to an array of lines, or nothing; lines that stay keep their bytes', async () => {
  let done = 0;
  await fc.assert(
    fc.asyncProperty(file, fc.array(step, { minLength: 1, maxLength: 5 }), async (given, steps) => {
      const before = textOf(given);
      desk.put('a.txt', before);
      const at = given.lines.length === 0 ? () => '' : await anchorsOf(desk);
      const all = steps.map((each) => meant(each, given.lines.length, at));
      const result = await desk.run('edit', { filePath: 'a.txt', ops: all.map(({ op }) => op) });
      const after = desk.text('a.txt');
      const expected = modelled(given.lines.length, all);
      if (!expected || result.status !== 'ok') {
        expect(after).toBe(before);
        if (expected) expect(result.content).toMatch(/Nothing would change/);
        else expect(result.status).toBe('error');
        return;
      }
      done += 1;
      expectLines(after, given, expected);
      expect(result.content).not.toContain('Note: `');
    }),
    { numRuns: 300 },
  );
  expect(done).toBeGreaterThan(100);
});

test('whatever bytes a file has, those of other lines stay', async () => {
  const SENTINEL = 'the one line that is named';
  desk.put('a.txt', SENTINEL);
  const anchor = local((await anchorsOf(desk))(1));
  const bytes = fc.uint8Array({ maxLength: 60 });
  let done = 0;
  await fc.assert(
    fc.asyncProperty(bytes, bytes, fc.constantFrom('replace', 'insert_after', 'insert_before'), line, async (head, tail, op, content) => {
      const before = Buffer.concat([head, Buffer.from(`\n${SENTINEL}\n`), tail]);
      desk.put('a.txt', before);
      const result = await desk.run('edit', { filePath: 'a.txt', ops: [{ op, anchor, content }] });
      const after = desk.bytes('a.txt');
      if (result.status !== 'ok') {
        expect(after).toEqual(before);
        return;
      }
      done += 1;
      expect(after.subarray(0, head.length)).toEqual(Buffer.from(head));
      expect(after.subarray(after.length - tail.length)).toEqual(Buffer.from(tail));
      expect(after.includes(SENTINEL)).toBe(op !== 'replace' || content === SENTINEL);
    }),
    { numRuns: 300 },
  );
  expect(done).toBeGreaterThan(10);
});

const formed = ({ shift, chunk, form }: { readonly shift: number; readonly chunk: string; readonly form: string }, anchor: string): string => {
  const number = Math.max(0, Number.parseInt(anchor, 10) + shift);
  return form === 'hash' ? local(anchor) : `${number}:${local(anchor)}${form === 'whole' ? `:${chunk}` : ''}`;
};

test('no anchor changes a line whose hash it does not name, nor one that is far from its number', async () => {
  const rows = fc.array(fc.oneof(fc.constantFrom('', '}', ' }'), fc.nat({ max: 200 }).map(String)), { minLength: 1, maxLength: 50 });
  const letters = fc.string({ unit: fc.constantFrom(...'abcxyz'), maxLength: 4 });
  const number = fc.integer({ min: 0, max: 60 });
  const garbage = fc.oneof(
    { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
    { weight: 2, arbitrary: fc.tuple(number, letters, letters).map((parts) => parts.join(':')) },
    { weight: 1, arbitrary: fc.constantFrom('0:', 'EOF', '', ':', '→', '->', '1:::', '-1:abc:abc', '1e3:abc:abc') },
    // A hash that is in the file, with whatever around it.
    {
      weight: 6,
      arbitrary: fc.record({
        shift: fc.integer({ min: -20, max: 20 }),
        pick: fc.nat(),
        chunk: letters,
        form: fc.constantFrom('whole', 'whole', 'no chunk', 'hash'),
      }),
    },
  );
  let done = 0;
  await fc.assert(
    fc.asyncProperty(rows, garbage, fc.constantFrom('replace', 'insert_after', 'insert_before'), async (given, drawn, op) => {
      const before = given.map((text) => `${text}\n`).join('');
      desk.put('a.txt', before);
      const at = await anchorsOf(desk);
      const anchor = typeof drawn === 'string' ? drawn : formed(drawn, at((drawn.pick % given.length) + 1));
      const result = await desk.run('edit', { filePath: 'a.txt', ops: [{ op, anchor, content: 'NEW' }] });
      const now = desk.text('a.txt').split('\n').slice(0, -1);
      if (result.status !== 'ok') {
        expect(desk.text('a.txt')).toBe(before);
        return;
      }
      const place = now.indexOf('NEW');
      const others = now.toSpliced(place, 1);
      if (anchor === '0:' || anchor === '0') expect([place, others, op]).toEqual([0, given, 'insert_after']);
      else if (anchor === 'EOF') expect([place, others, op]).toEqual([given.length, given, 'insert_after']);
      else {
        done += 1;
        expect(others).toEqual(op === 'replace' ? given.toSpliced(place, 1) : given);
        const named = op === 'insert_after' ? place : place + 1;
        expect(anchor).toMatch(new RegExp(`^(\\d+:)?${local(at(named))}(:|$)`));
        const near = /^\d+/.exec(anchor)?.[0];
        if (near !== undefined) expect(Math.abs(Number(near) - named)).toBeLessThanOrEqual(15);
      }
    }),
    { numRuns: 300 },
  );
  expect(done).toBeGreaterThan(10);
});
