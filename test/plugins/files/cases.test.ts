/** Cases of the catalogue, each as a whole session: what a model asks for, what it is told, and what became of the file. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ResultBlock } from '../../../kernel/index.ts';
import { type Beat, createTestSession, say, use } from '../../../kernel/testkit/index.ts';
import files from '../../../plugins/files/index.ts';
import search from '../../../plugins/search/index.ts';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'cast-cases-')));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const put = (name: string, content: string | Uint8Array): void => writeFileSync(join(cwd, name), content);
const bytes = (name: string): Buffer => readFileSync(join(cwd, name));
const text = (name: string): string => bytes(name).toString('utf8');

/** Plays the replies, then one that ends the turn. */
const play = async (...beats: readonly Beat[]): Promise<readonly ResultBlock[]> => {
  await using session = await createTestSession({ plugins: { files, search }, cwd, script: [...beats, say('done')] });
  const ended = await session.run('go');
  expect(ended.reason).toBe('stop');
  return session.results();
};
/** Something that happens while the model thinks. */
const meanwhile = (happens: () => void, beat: Beat): Beat =>
  function* (request, signal) {
    happens();
    yield* beat(request, signal) as Iterable<never>;
  };

test('arguments with raw line feeds in them are mended', async () => {
  const results = await play(
    use('write', '{"path": "a.txt", "content": "one\n\ttwo\n"}'),
    use('edit', '{"filePath": "a.txt", "oldString": "one\n\ttwo", "newString": "1\n\t2"}'),
    use('read', '{"path": "a.txt"}}'),
  );
  expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  expect(text('a.txt')).toBe('1\n\t2\n');
});

describe('B028: line endings and the byte order mark', () => {
  const before = '\ufefffirst word\r\nsecond word\r\na stray\nlast word';
  test('B028: after an edit of one word only that word differs', async () => {
    put('f.txt', before);
    const [result] = await play(use('edit', { filePath: 'f.txt', oldString: 'second word', newString: 'second thing' }));
    expect(result?.status, result?.content).toBe('ok');
    expect(bytes('f.txt')).toEqual(Buffer.from(before.replace('second word', 'second thing')));
  });
  test('B028: the first line matches without the mark, and so does a match over all endings', async () => {
    put('f.txt', before);
    const results = await play(
      use('edit', { filePath: 'f.txt', oldString: 'first word\nsecond', newString: 'First word\nsecond' }),
      use('edit', { filePath: 'f.txt', oldString: 'a stray\nlast word', newString: 'a stray\nLast word' }),
    );
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok']);
    expect(bytes('f.txt')).toEqual(Buffer.from(before.replace('first', 'First').replace('last', 'Last')));
  });
  test('B028: an overwrite keeps the mark and the dominant ending, and says so', async () => {
    put('f.txt', before);
    const [result] = await play(use('write', { path: 'f.txt', content: 'new\ntext\n' }));
    expect(bytes('f.txt')).toEqual(Buffer.from('\ufeffnew\r\ntext\r\n'));
    expect(result?.content).toContain('Kept from the old file: byte order mark, CRLF line endings.');
  });
});

describe('B029: a file that was changed since it was read', () => {
  const append = (): void => appendFileSync(join(cwd, 'f.txt'), 'added by the user\n');
  test('B029: is not overwritten, and the next read shows what was added', async () => {
    put('f.txt', 'one\ntwo\n');
    const results = await play(
      use('read', { path: 'f.txt' }),
      meanwhile(append, use('write', { path: 'f.txt', content: 'mine\n' })),
      use('read', { path: 'f.txt' }),
      use('write', { path: 'f.txt', content: 'mine\nadded by the user\n' }),
    );
    expect(results.map(({ status, error }) => error?.code ?? status)).toEqual(['ok', 'CONFLICT', 'ok', 'ok']);
    expect(results[1]?.content).toContain('has changed on disk since it was last read');
    expect(results[2]?.content).toContain('3: added by the user');
    expect(text('f.txt')).toBe('mine\nadded by the user\n');
  });
  test('B029: the refused write has left the file alone', async () => {
    put('f.txt', 'one\ntwo\n');
    await play(use('read', { path: 'f.txt' }), meanwhile(append, use('write', { path: 'f.txt', content: 'mine\n' })));
    expect(text('f.txt')).toBe('one\ntwo\nadded by the user\n');
  });
  test('B029: an edit of another line keeps what was added', async () => {
    put('f.txt', 'one\ntwo\n');
    const results = await play(use('read', { path: 'f.txt' }), meanwhile(append, use('edit', { filePath: 'f.txt', oldString: 'one', newString: '1' })));
    expect(results[1]?.status).toBe('ok');
    expect(text('f.txt')).toBe('1\ntwo\nadded by the user\n');
  });
});

test('B030: dollar signs are inserted as they are', async () => {
  const price = "cost $& $1 $$ $` $' $<name>";
  put('f.txt', 'a PRICE b\nPRICE\n');
  put('g.txt', 'a PRICE b\nPRICE\n');
  await play(
    use('edit', { filePath: 'f.txt', oldString: 'a PRICE', newString: `a ${price}` }),
    use('edit', { filePath: 'g.txt', oldString: 'PRICE', newString: price, replaceAll: true }),
  );
  expect([text('f.txt'), text('g.txt')]).toEqual([`a ${price} b\nPRICE\n`, `a ${price} b\n${price}\n`]);
});

describe('B031: a block that stands there twice', () => {
  const block = 'if (a) {\n  b();\n}\n';
  const before = `start\n${block}middle\n${block}end\n`;
  test('B031: is refused with the number and the lines of the places', async () => {
    put('f.txt', before);
    const [result] = await play(use('edit', { filePath: 'f.txt', oldString: block, newString: 'c();\n' }));
    expect(result).toMatchObject({ status: 'error', content: expect.stringMatching(/matches 2 places in f\.txt, at lines 2, 6/) });
    expect(text('f.txt')).toBe(before);
  });
  test('B031: with replaceAll both are changed, and 2 are reported', async () => {
    put('f.txt', before);
    const [result] = await play(use('edit', { filePath: 'f.txt', oldString: block, newString: 'c();\n', replaceAll: true }));
    expect(result?.content).toContain('2 occurrences replaced');
    expect(text('f.txt')).toBe('start\nc();\nmiddle\nc();\nend\n');
  });
});

describe('B032: text that is left out of a file of 300 lines', () => {
  const before = Array.from({ length: 300 }, (_, index) => `line ${index};\n`).join('');
  const short = 'line 0;\nline one;\nline 2;\nline 3;\nline 4;\n// ... rest of code unchanged\n';
  test.each([
    ['write', { path: 'f.js', content: short }],
    ['edit', { filePath: 'f.js', oldString: before, newString: short }],
    ['edit', { filePath: 'f.js', oldString: 'line 1;\nline 2;', newString: 'line one;\n// ... rest of code unchanged' }],
  ])('B032: %s is refused, and says why', async (tool, input) => {
    put('f.js', before);
    const [result] = await play(use(tool, input));
    expect(result).toMatchObject({ status: 'error', content: expect.stringContaining('leaves lines out (`// ... rest of code unchanged`)') });
    expect(text('f.js')).toBe(before);
  });
});

describe('B033: old text that does not stand there word for word', () => {
  test('B033 (i): look-alike characters match, and stay outside of the change', async () => {
    put('f.md', 'Intro “quoted”.\nIt’s a\u00a0“test”, and it’s – well – one.\nOutro ‘q’.\n');
    const [result] = await play(
      use('edit', { filePath: 'f.md', oldString: 'It\'s a "test", and it\'s - well - one.', newString: 'It\'s a "test", and it\'s - well - two.' }),
    );
    expect(text('f.md')).toBe('Intro “quoted”.\nIt’s a\u00a0“test”, and it’s – well – two.\nOutro ‘q’.\n');
    expect(result?.content).toContain('-It’s a\u00a0“test”, and it’s – well – one.\n+It’s a\u00a0“test”, and it’s – well – two.');
  });
  test('B033 (ii): a block that is alike to 60 % within a long function is refused', async () => {
    const body = Array.from({ length: 200 }, (_, index) =>
      index === 120 ? '  if (ready) {\n    total += price * count;\n  }\n' : `  step${index}(${index * 7});\n`,
    ).join('');
    const before = `function long() {\n${body}}\n`;
    put('f.js', before);
    const [result] = await play(
      use('edit', { filePath: 'f.js', oldString: '  if (ready) {\n    total -= fee(counter);\n  }', newString: '  if (ready) {\n    reset();\n  }' }),
    );
    expect(result).toMatchObject({ status: 'error', error: { code: 'NOT_FOUND' } });
    expect(text('f.js')).toBe(before);
  });
  test('B033 (iii): with another indentation it is found, and gets that of the file', async () => {
    const before = 'class A {\n\trun() {\n\t\tif (x) {\n\t\t\tgo();\n\t\t}\n\t}\n}\n';
    put('f.js', before);
    const [result] = await play(
      use('edit', { filePath: 'f.js', oldString: 'if (x) {\n  go();\n}', newString: 'if (x) {\n  stop();\n  if (y) {\n    go();\n  }\n}' }),
    );
    expect(result?.content).toContain('-\t\t\tgo();\n+\t\t\tstop();\n+\t\t\tif (y) {\n+\t\t\t\tgo();\n+\t\t\t}');
    expect(text('f.js')).toBe(before.replace('go();', 'stop();\n\t\t\tif (y) {\n\t\t\t\tgo();\n\t\t\t}'));
  });
});

describe('B034: what would never end', () => {
  test('B034: a pipe, a device and a folder are answered at once, and a search passes over them', async () => {
    mkdirSync(join(cwd, 'folder'));
    put('folder/a.txt', 'needle\n');
    execFileSync('mkfifo', [join(cwd, 'folder', 'p')]);
    const startedAt = performance.now();
    const results = await play(
      use(['read', { path: 'folder/p' }], ['read', { path: '/dev/zero' }], ['read', { path: 'folder' }], ['grep', { pattern: 'needle', path: 'folder' }]),
      use(
        ['edit', { filePath: 'folder/p', oldString: 'a', newString: 'b' }],
        ['write', { path: 'folder/p', content: 'b' }],
        ['edit', { filePath: 'folder', oldString: 'a', newString: 'b' }],
        ['write', { path: 'folder', content: 'b' }],
      ),
    );
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(results.map(({ status }) => status)).toEqual(['error', 'error', 'ok', 'ok', 'error', 'error', 'error', 'error']);
    expect(results[0]?.content).toBe('folder/p is a pipe, not a regular file.');
    expect(results[1]?.content).toBe('/dev/zero is a device, not a regular file.');
    expect(results[2]?.content).toBe('a.txt\np');
    expect(results[3]?.content).toContain('a.txt:1:needle');
    expect(readdirSync(join(cwd, 'folder'))).toEqual(['a.txt', 'p']);
  });
  test('B034: an abort ends a read that takes long', async () => {
    put('huge.log', 'text\n'.repeat(10_000));
    // It reads as one line that does not end.
    truncateSync(join(cwd, 'huge.log'), 1024 ** 4);
    await using session = await createTestSession({ plugins: { files }, cwd, script: [use('read', { path: 'huge.log', offset: 1_000_000 }), say('done')] });
    const turn = session.run('go');
    await session.until('tool.started');
    const abortedAt = performance.now();
    await session.client.abort();
    expect((await turn).reason).toBe('aborted');
    expect(performance.now() - abortedAt).toBeLessThan(1500);
    const results = (await session.entries()).flatMap(({ kind, data }) => (kind === 'message' ? data.blocks.filter((block) => block.type === 'result') : []));
    expect(results).toMatchObject([{ status: 'aborted', error: { code: 'ABORTED' } }]);
  });
});
