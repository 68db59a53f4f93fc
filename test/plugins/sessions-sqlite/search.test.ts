import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NewEntry, SearchQuery, Store } from '../../../kernel/index.ts';
import { manualClock, newRecord, put, says } from '../../contracts/store.ts';
import { makePlace, type Place } from './place.ts';

let place: Place;
let store: Store;
beforeEach(() => {
  place = makePlace();
  store = place.open(manualClock());
});
afterEach(() => place.remove());

const begun = async (id: string, more: Partial<Parameters<Store['create']>[0]>, ...entries: readonly NewEntry[]): Promise<void> => {
  await store.create({ ...newRecord(id), ...more });
  await put(store, id, ...entries);
};
const find = async (text: string, more: Partial<SearchQuery> = {}) => {
  if (!store.search) throw new Error('this store cannot be searched');
  return store.search({ text, limit: 20, ...more });
};
const idsOf = async (text: string, more: Partial<SearchQuery> = {}): Promise<readonly string[]> =>
  (await find(text, more)).hits.map(({ session }) => session.id);
const marked = (parts: readonly { readonly text: string; readonly isHit: boolean }[]): string =>
  parts.map(({ text, isHit }) => (isHit ? `[${text}]` : text)).join('');
const reminds = (text: string): NewEntry => ({
  kind: 'message',
  data: { role: 'user', origin: 'reminders', reminder: true, blocks: [{ type: 'text', text }] },
});

describe('what is found', () => {
  beforeEach(async () => {
    await begun('s1', { title: 'Parser work' }, says('user', 'The tokenizer is slow'), says('assistant', 'I made the Tokenizer twice as fast.'));
    await begun(
      's2',
      { title: 'Ferry', root: '/other', cwd: '/other/boats' },
      says('user', 'a ferry'),
      says('assistant', 'crème brûlée at the café'),
      says('tool', 'zebra crossing'),
    );
    await begun(
      's3',
      { title: 'Languages' },
      says('user', '日本語の文章を検索する'),
      says('assistant', 'C++ and foo-bar.baz(x) OR NOT "quoted"'),
      reminds('secretword'),
    );
    await begun('s4', { title: 'hidden', kind: 'background' }, says('user', 'tokenizer in the background'));
  });

  test.each([
    ['tokenizer', ['s1']],
    ['TOKENIZER slow', ['s1']],
    ['token', ['s1']],
    ['okeniz', ['s1']],
    ['slow fast', ['s1']],
    ['slow ferry', []],
    ['"twice as fast"', ['s1']],
    ['"as twice"', []],
    ['creme', ['s2']],
    ['brûlée', ['s2']],
    ['検索', ['s3']],
    ['日本語', ['s3']],
    ['文章', ['s3']],
    ['C++', ['s3']],
    ['foo-bar', ['s3']],
    ['bar.baz(x)', ['s3']],
    // `wORk` is in a title.
    ['OR', ['s1', 's3']],
    ['NOT AND', ['s3']],
    ['NOT ferry', []],
    ['NEAR(', []],
    ['*', []],
    ["'", []],
    ['%', []],
    ['text:a', []],
    ['secretword', []],
    ['zebra', []],
    ['nothing of the kind', []],
  ])('%j', async (text, ids) => {
    expect(await idsOf(text)).toEqual(ids);
  });

  test('what tools answered is found where it is asked for', async () => {
    expect(await idsOf('zebra', { roles: ['tool'] })).toEqual(['s2']);
    const [hit] = (await find('zebra', { roles: ['user', 'assistant', 'tool'] })).hits;
    expect(hit?.places).toEqual([expect.objectContaining({ role: 'tool', seq: 3 })]);
    expect(await idsOf('ferry', { roles: ['tool'] })).toEqual(['s2']);
  });

  test('only of one project', async () => {
    expect(await idsOf('ferry', { root: '/other' })).toEqual(['s2']);
    expect(await idsOf('tokenizer', { root: '/other' })).toEqual([]);
  });

  test('title, folder, model and id come first; what is mistyped last', async () => {
    await begun('s5', { title: 'Notes on the tokenizer' }, says('user', 'hello'));
    expect(await idsOf('tokenizer')).toEqual(['s5', 's1']);
    expect(await idsOf('boats')).toEqual(['s2']);
    expect(await idsOf('s3')).toEqual(['s3']);
    expect(await idsOf('prser')).toEqual(['s1']);
    expect(await idsOf('lnggs')).toEqual(['s3']);
  });

  test('nothing asked: all, the newest first', async () => {
    expect(await idsOf('  ')).toEqual(['s3', 's2', 's1']);
    expect(await idsOf('', { limit: 2 })).toEqual(['s3', 's2']);
  });

  test('snippets say where', async () => {
    const [hit] = (await find('tokenizer fast')).hits;
    expect(hit?.places.map(({ role, seq, snippet }) => [role, seq, marked(snippet)])).toEqual([
      ['assistant', 2, 'I made the [Tokenizer] twice as [fast].'],
      ['user', 1, 'The [tokenizer] is slow'],
    ]);
  });
});

test('the better message comes first: the rarer word, more often, in a shorter text', async () => {
  await begun('long', { title: '1' }, says('user', `apple ${'filler '.repeat(200)}`));
  await begun('short', { title: '2' }, says('user', 'apple pie'));
  await begun('often', { title: '3' }, says('user', 'apple apple apple pie'));
  for (let index = 0; index < 5; index += 1) await begun(`other${index}`, { title: '4' }, says('user', 'pie'));
  expect(await idsOf('apple')).toEqual(['often', 'short', 'long']);
  expect((await idsOf('apple pie'))[0]).toBe('often');
});

test('a snippet is cut around its word, without control characters and half letters', async () => {
  await begun('s', {}, says('user', `${'😀'.repeat(90)}\u001b[31m needle\n${'é'.repeat(300)}`));
  const [hit] = (await find('needle')).hits;
  const text = marked(hit?.places[0]?.snippet ?? []);
  expect(text).toMatch(/^….*\[needle\].*…$/u);
  expect(text).not.toMatch(/\p{Cc}|\p{Surrogate}/u);
  expect(text.length).toBeLessThan(210);
});

test('what is removed, and what is appended later, is found no more and from then on', async () => {
  await begun('a', {}, says('user', 'first needle'));
  expect(await idsOf('needle')).toEqual(['a']);
  await put(store, 'a', says('assistant', 'second thimble'));
  expect(await idsOf('thimble needle')).toEqual(['a']);
  await store.remove('a');
  expect(await idsOf('needle')).toEqual([]);
  const index = new BetterSqlite3(join(place.folder, 'search.db'), { readonly: true });
  for (const table of ['documents', 'progress', 'words', 'triples']) expect(index.prepare(`SELECT count(*) FROM ${table}`).pluck().get()).toBe(0);
  index.close();
});

test('what was compacted, rewound or turned back is found', async () => {
  await begun('a', {}, says('user', 'early needle'), {
    kind: 'rejected',
    data: { message: { role: 'assistant', origin: 'model', blocks: [{ type: 'text', text: 'rejected thimble' }] }, reasons: ['no'] },
  });
  const lease = await store.claim('a');
  await store.append('a', [], { epoch: lease.epoch, head: null, leave: ['e1'] });
  await lease.release();
  expect(await idsOf('needle')).toEqual(['a']);
  expect(await idsOf('thimble')).toEqual(['a']);
});

describe('the index', () => {
  const file = (): string => join(place.folder, 'search.db');

  test('is made by the first search, readable by nobody else, and goes with its sessions', async () => {
    await begun('a', {}, says('user', 'old needle'));
    expect(existsSync(file())).toBe(false);
    expect(await idsOf('needle')).toEqual(['a']);
    expect((statSync(file()).mode & 0o777).toString(8)).toBe('600');
    await put(store, 'a', ...Array.from({ length: 450 }, (_, index) => says('user', `thing number${1000 + index}`)));
    expect(await idsOf('number1449')).toEqual(['a']);
    expect((await find('thing')).hits[0]?.places.map(({ seq }) => seq)).toEqual([451, 450, 449]);
  });

  test.each([
    ['damaged', () => writeFileSync(file(), Buffer.alloc(40_960, 7))],
    ['of another version', () => new BetterSqlite3(file()).exec('PRAGMA user_version = 99').close()],
    ['removed', () => rmSync(file())],
    ['cut off', () => writeFileSync(file(), readFileSync(file()).subarray(0, 5_000))],
  ])('is made anew where it is %s', async (_, harm) => {
    await begun('a', {}, says('user', 'a needle'));
    expect(await idsOf('needle')).toEqual(['a']);
    await store.close();
    for (const side of ['-wal', '-shm']) rmSync(`${file()}${side}`, { force: true });
    harm();
    store = place.open(manualClock());
    expect(await idsOf('needle')).toEqual(['a']);
    expect(place.warnings).toEqual([]);
  });

  test('follows a store that took the place of another', async () => {
    await begun('a', {}, says('user', 'a needle'));
    expect(await idsOf('needle')).toEqual(['a']);
    await store.close();
    for (const side of ['', '-wal', '-shm']) rmSync(`${place.file}${side}`, { force: true });
    store = place.open(manualClock());
    await begun('b', {}, says('user', 'b needle'));
    expect(await idsOf('needle')).toEqual(['b']);
  });

  test('two stores of one home search and append side by side', async () => {
    const other = place.open(manualClock());
    await begun('a', {}, says('user', 'needle one'));
    await Promise.all([
      (async () => {
        for (let index = 0; index < 10; index += 1) await put(store, 'a', says('user', `needle ${index}`));
      })(),
      ...Array.from({ length: 10 }, () => other.search?.({ text: 'needle', limit: 5 })),
      ...Array.from({ length: 10 }, () => find('needle')),
    ]);
    for (const each of [store, other]) expect((await each.search?.({ text: 'needle', limit: 5 }))?.hits[0]?.places).toHaveLength(3);
    const count = (): unknown => new BetterSqlite3(file(), { readonly: true }).prepare('SELECT count(*) FROM documents').pluck().get();
    expect(count()).toBe(11);
  });
});

test('any text can be asked for', async () => {
  await begun('a', {}, says('user', 'some text'));
  for (const text of ['"', '""', '"a', 'a"b"c', '\0', '\u{1F600}', 'a'.repeat(100_000), `${'w '.repeat(50_000)}`, '((((', '{}[]^-+:', 'x\u0301', '\ud800'])
    await expect(find(text)).resolves.toMatchObject({ hits: expect.any(Array) as unknown });
});
