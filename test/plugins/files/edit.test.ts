import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

interface Case {
  readonly name: string;
  readonly file: string | Uint8Array;
  readonly old: string;
  readonly new: string;
  readonly all?: true;
  /** The file afterwards; the same as before when it must fail. */
  readonly after?: string | Uint8Array;
  readonly says?: RegExp;
}
const TEN = Array.from({ length: 10 }, (_, index) => `  step${index}();\n`).join('');

const cases: readonly Case[] = [
  {
    name: 'only the asked bytes',
    file: 'let a = 1;  \nlet b = 2;\n\n\tlet c = 2;',
    old: 'let b = 2;',
    new: 'let b = 3;',
    after: 'let a = 1;  \nlet b = 3;\n\n\tlet c = 2;',
  },
  { name: 'new text is literal', file: 'a foo b\n', old: 'foo', new: "$&$`$'$1$$", after: "a $&$`$'$1$$ b\n" },
  { name: 'everywhere', file: 'foo(foo);\nfoo\n', old: 'foo', new: '$&', all: true, after: '$&($&);\n$&\n', says: /3 occurrences replaced/ },
  { name: 'deletion', file: 'a\nb\nc\n', old: 'b\n', new: '', after: 'a\nc\n' },
  { name: 'not there', file: 'let a = 1;\n', old: 'something quite different', new: 'y', says: /not found in a\.txt.*\nRead the file again/ },
  { name: 'twice', file: 'foo();\nx\nfoo();\n', old: 'foo();', new: 'bar();', says: /matches 2 places in a\.txt, at lines 1, 3/ },
  { name: 'twice, three lines', file: 'if (a) {\n  b;\n}\n\nif (a) {\n  b;\n}\n', old: 'if (a) {\n  b;\n}', new: 'c', says: /2 places.*lines 1, 5/ },
  { name: 'twice, though only once as a whole line', file: 'xfoo\n  foo\n', old: 'foo', new: 'bar', says: /2 places/ },
  { name: 'overlapping matches are several', file: 'aaa', old: 'aa', new: 'b', says: /2 places/ },
  { name: 'overlapping matches, everywhere', file: 'aaaaa', old: 'aa', new: 'b', all: true, after: 'bba' },
  { name: 'the same text', file: 'a\n', old: 'a', new: 'a', says: /are the same/ },

  // Line endings and marks.
  { name: 'CRLF and mark', file: '\ufeffone\r\ntwo\r\nthree\r\nend\r\n', old: 'two\nthree', new: '2\n3\n4', after: '\ufeffone\r\n2\r\n3\r\n4\r\nend\r\n' },
  { name: 'CR in both texts', file: 'one\r\ntwo\r\n', old: 'one\r\ntwo', new: '1\r\n2', after: '1\r\n2\r\n' },
  { name: 'LF stays LF', file: 'one\ntwo\n', old: 'one\r\ntwo', new: '1\r\n2', after: '1\n2\n' },
  { name: 'first line behind the mark', file: '\ufeffone\ntwo', old: 'one\n', new: '1\n', after: '\ufeff1\ntwo' },
  { name: 'mixed endings outside', file: '\ufeffa\r\nb\nword c\r\nd', old: 'word', new: 'WORD', after: '\ufeffa\r\nb\nWORD c\r\nd' },
  { name: 'mixed endings inside', file: 'a\r\nb\nc\r\nd\r\ne', old: 'a\nb\nc\nd', new: 'A\nb\nnew\nc\nD', after: 'A\r\nb\nnew\r\nc\r\nD\r\ne' },
  { name: 'from one line to two before a stray LF', file: 'a\r\nb\nc\r\nd\r\n', old: 'b', new: 'b1\nb2', after: 'a\r\nb1\r\nb2\nc\r\nd\r\n' },
  { name: 'deleting a CRLF line', file: 'a\r\nb\r\nc', old: 'b\n', new: '', after: 'a\r\nc' },
  { name: 'no final line feed', file: 'a\nb', old: 'b\n', new: 'c\n', after: 'a\nc' },
  { name: 'lone CR', file: 'a\rb\nc', old: 'c', new: 'd', after: 'a\rb\nd' },

  // Loose matching.
  {
    name: 'look-alike characters stay',
    file: 'say(“it’s – ok”, 1);\n',
    old: 'say("it\'s - ok", 1);',
    new: 'say("it\'s - ok", 2);',
    after: 'say(“it’s – ok”, 2);\n',
    says: /look-alike/,
  },
  { name: 'no-break space', file: 'a:\u00a0b;\nx\n', old: 'a: b;\nx', new: 'a: b;\ny', after: 'a:\u00a0b;\ny\n' },
  { name: 'look-alike, twice', file: '“a”\n‘x’\n”a“\n', old: '"a"', new: 'b', says: /2 places/ },
  {
    name: 'wrong indentation',
    file: 'f() {\n\tif (a) {\n\t\tb();\n\t}\n}\n',
    old: '  if (a) {\n    b();\n  }',
    new: '  if (a) {\n    c();\n    if (d) {\n      e();\n    }\n  }',
    after: 'f() {\n\tif (a) {\n\t\tc();\n\t\tif (d) {\n\t\t\te();\n\t\t}\n\t}\n}\n',
    says: /indentation/,
  },
  {
    name: 'no indentation',
    file: '    a();\n    b();\n',
    old: 'a();\nb();',
    new: 'a();\nif (x) {\n  b();\n}',
    after: '    a();\n    if (x) {\n      b();\n    }\n',
  },
  {
    name: 'spaces for tabs, without the outer indentation',
    file: 'f() {\n\t\tif (a) {\n\t\t\tb();\n\t\t}\n}\n',
    old: 'if (a) {\n  b();\n}',
    new: 'if (a) {\n  if (c) {\n    b();\n  }\n}',
    after: 'f() {\n\t\tif (a) {\n\t\t\tif (c) {\n\t\t\t\tb();\n\t\t\t}\n\t\t}\n}\n',
  },
  {
    name: 'two spaces for four',
    file: 'if (a) {\n    b();\n}\n',
    old: '  if (a) {\n    b();\n  }',
    new: '  if (a) {\n    if (c) {\n      b();\n    }\n  }',
    after: 'if (a) {\n    if (c) {\n        b();\n    }\n}\n',
  },
  {
    name: 'less deep than all that was given',
    file: 'a:\n\tb:\n\t\tc: 1\n',
    old: '    c: 1',
    new: '    c: 2\n  d: 3',
    after: 'a:\n\tb:\n\t\tc: 2\n\td: 3\n',
  },
  { name: 'trailing white space in the file', file: 'a  \nb\t\nc\n', old: 'a\nb\n', new: 'a\nB\n', after: 'a  \nB\nc\n' },
  {
    name: 'two places that differ in indentation',
    file: 'a:\n  x\n    y\nb:\n  x\n  y\n',
    old: '      x\n      y',
    new: '      x\n      z',
    after: 'a:\n  x\n    y\nb:\n  x\n  z\n',
    says: /relative indentation/,
  },
  { name: 'two places without their indentation', file: '  x\n  y\n\tx\n\ty\n', old: '      x\n      y', new: 'z', says: /2 places.*lines 1, 3/ },
  { name: 'spaces within a line', file: 'foo( a,   b )\n', old: 'foo( a, b )', new: 'foo( a, c )', after: 'foo( a, c )\n', says: /white space/ },
  {
    name: 'block by its ends',
    file: `start {\n${TEN}} // end\n`,
    old: `start {\n${TEN.replace('step3();', 'step3(x);')}} // end`,
    new: 'gone',
    after: 'gone\n',
    says: /first and last line/,
  },
  {
    name: 'a block that is too different',
    file: 'if (a) {\n  return compute(b, c);\n}\n',
    old: 'if (a) {\n  throw new Failure();\n}',
    new: 'x',
    says: /not found/,
  },
  {
    name: 'block by its surroundings',
    file: 'a {\n  one;\n  a completely different thing;\n}\n',
    old: 'a {\n  one;\n  zzz;\n}',
    new: 'b',
    after: 'b\n',
    says: /surrounding lines/,
  },
  {
    name: 'escaped once too often',
    file: 'say("hi")\nend\n',
    old: 'say(\\"hi\\")\\nend',
    new: 'say(\\"ho\\")\\nend',
    after: 'say("ho")\nend\n',
    says: /escapes/,
  },
  { name: 'white space around it', file: 'x = foo(1);\n', old: '\n  foo(1);\n', new: '\n  foo(2);\n', after: 'x = foo(2);\n' },
  { name: 'white space behind it, within a word', file: 'let counter = 1;\n', old: 'count ', new: 'total ', says: /not found/ },
  { name: 'white space before it, within a word', file: 'let recount = 1;\n', old: ' count', new: ' total', says: /not found/ },
  { name: 'spaces between words, the last of which goes on', file: 'return xyz;\n', old: 'return  x', new: 'return 5', says: /not found/ },
  { name: 'spaces between words, the first of which began before', file: 'data bar\n', old: 'a  bar', new: 'c', says: /not found/ },
  { name: 'a bracket of its own line, there is one within a line', file: 'if (x) { y(); }\nz\n', old: '\n}\n', new: '\n};\n', says: /not found/ },
  {
    name: 'words without white space, everywhere but within words',
    file: 'xfoo bar\nfoo bary\nfoo bar\n',
    old: 'foo  bar',
    new: 'Z',
    all: true,
    after: 'xfoo bar\nfoo bary\nZ\n',
    says: /1 occurrence/,
  },
  { name: 'a block between blank lines', file: 'a\n\nfoo(2);\n\nb\n', old: '\nfoo(1);\n\n', new: '\nfoo(9);\n\n', says: /not found/ },
  {
    name: 'a block between braces',
    file: '[\n  {\n    "id": 1,\n    "name": "alice"\n  }\n]\n',
    old: '  {\n    "id": 2,\n    "name": "alicf"\n  }',
    new: '  {\n    "id": 2,\n    "name": "bob"\n  }',
    says: /not found/,
  },
  {
    name: 'a block with a line that was not named',
    file: 'f() {\n  a();\n  b();\n  audit();\n}\n',
    old: 'f() {\n  a();\n  b();\n}',
    new: 'f() {\n  a();\n  c();\n}',
    says: /not found/,
  },
  { name: 'a place that is far larger', file: `a\n${'\n'.repeat(30)}b\n`, old: 'a b', new: 'c', says: /far larger/ },
  { name: 'blank lines match nothing', file: 'a\n', old: '\n\n\n', new: 'b', says: /not found/ },

  // Encodings.
  {
    name: 'Windows-1252',
    file: Buffer.from('gr\xfcn\r\n\x93alt\x94 x', 'latin1'),
    old: 'x',
    new: 'ü€',
    after: Buffer.from('gr\xfcn\r\n\x93alt\x94 \xfc\x80', 'latin1'),
  },
  { name: 'Windows-1252 lacks a character', file: Buffer.from('gr\xfcn x', 'latin1'), old: 'x', new: '漢', says: /Windows-1252, which lacks/ },
  { name: 'broken UTF-8', file: Buffer.from([0xc3, 0xbc, 0xff, 0x78, 0xc3]), old: 'x', new: 'ö', after: Buffer.from([0xc3, 0xbc, 0xff, 0xc3, 0xb6, 0xc3]) },
  { name: 'broken UTF-8, matched by a character', file: Buffer.from([0xc3, 0xbc, 0xff]), old: 'ü', new: 'u', after: Buffer.from([0x75, 0xff]) },
  { name: 'UTF-16LE', file: Buffer.from('\ufeffa\r\nb🙂\r\n', 'utf16le'), old: 'b🙂\n', new: 'c\nd\n', after: Buffer.from('\ufeffa\r\nc\r\nd\r\n', 'utf16le') },
  { name: 'UTF-16BE', file: Buffer.from('\ufeffab', 'utf16le').swap16(), old: 'b', new: 'ß', after: Buffer.from('\ufeffaß', 'utf16le').swap16() },
  { name: 'binary', file: Buffer.from([97, 0, 98]), old: 'a', new: 'b', says: /Cannot edit binary file/ },

  // Elision.
  { name: 'elision', file: `a\n${'x\n'.repeat(300)}`, old: 'a\nx', new: 'b\n// ... rest of code unchanged', all: true, says: /leaves lines out/ },
  {
    name: 'elision that is there already',
    file: 'a\n# ... existing code ...\n',
    old: 'a\n# ... existing code ...',
    new: 'b\n# ... existing code ...',
    after: 'b\n# ... existing code ...\n',
  },
];

test.each(cases)('$name', async ({ file, old, new: newString, all, after, says }) => {
  desk.put('a.txt', file);
  const result = await desk.run('edit', { filePath: 'a.txt', oldString: old, newString, ...(all ? { replaceAll: true } : {}) });
  expect(result.status, result.content).toBe(after === undefined ? 'error' : 'ok');
  expect(desk.bytes('a.txt').toString('latin1')).toBe(Buffer.from(after ?? file).toString('latin1'));
  if (says) expect(result.content).toMatch(says);
  expect(readdirSync(desk.cwd)).toEqual(['a.txt']);
});

test('the reply shows what changed', async () => {
  desk.put('src/a.txt', 'one\ntwo\nthree\n');
  expect(await desk.run('edit', { filePath: './src/a.txt', oldString: 'two', newString: '2' })).toMatchObject({
    status: 'ok',
    content: 'Edit applied to src/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three',
    changed: [join(desk.cwd, 'src/a.txt')],
    view: { kind: 'diff', path: 'src/a.txt', text: '@@ -1,3 +1,3 @@\n one\n-two\n+2\n three' },
  });
});

test('several edits, one after another', async () => {
  desk.put('a.txt', 'one\ntwo\n');
  const result = await desk.run('edit', {
    filePath: 'a.txt',
    oldString: 'one',
    newString: 'ONE',
    edits: [
      { oldString: 'ONE\ntwo', newString: 'x\ny\ny' },
      { oldString: 'y', newString: 'z', replaceAll: true },
    ],
  });
  expect(result.status, result.content).toBe('ok');
  expect(desk.text('a.txt')).toBe('x\nz\nz\n');
});
test('several edits, all or none', async () => {
  desk.put('a.txt', 'one\ntwo\n');
  const edits = [
    { oldString: 'one', newString: '1' },
    { oldString: 'three', newString: '3' },
  ];
  expect(await desk.run('edit', { filePath: 'a.txt', edits })).toMatchObject({
    status: 'error',
    content: expect.stringMatching(/^Edit 2 of 2: oldString was not found/),
  });
  expect(desk.text('a.txt')).toBe('one\ntwo\n');
});

test.each([
  ['nothing to do', {}],
  ['no new text', { oldString: 'a' }],
  ['no old text', { newString: 'a' }],
  ['no edits', { edits: [] }],
  ['a creation among others', { oldString: '', newString: 'x', edits: [{ oldString: 'a', newString: 'b' }] }],
])('%s is refused', async (_name, input) => {
  expect(await desk.run('edit', { filePath: 'none.txt', ...input })).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
  expect(readdirSync(desk.cwd)).toEqual([]);
});

test('an empty old text creates a file, and only that', async () => {
  expect((await desk.run('edit', { filePath: 'd/a.txt', oldString: '', newString: 'new\n' })).content).toBe('Created d/a.txt (1 line, 4 bytes)');
  expect(await desk.run('edit', { filePath: 'd/a.txt', oldString: '', newString: 'other' })).toMatchObject({ error: { code: 'CONFLICT' } });
  expect(desk.text('d/a.txt')).toBe('new\n');
});

test('a missing file, a folder and a pipe are refused', async () => {
  desk.put('sub/a.txt', '');
  execFileSync('mkfifo', [join(desk.cwd, 'pipe')]);
  const input = { oldString: 'a', newString: 'b' };
  expect(await desk.run('edit', { filePath: 'a.txt', ...input })).toMatchObject({
    error: { code: 'NOT_FOUND' },
    content: expect.stringMatching(/sub\/a\.txt/),
  });
  expect(await desk.run('edit', { filePath: 'sub', ...input })).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } });
  expect(await desk.run('edit', { filePath: 'pipe', ...input })).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } });
});

test('an edit lands on what others wrote since, and a later write does not pass over it', async () => {
  const path = desk.put('f.txt', 'one\ntwo\n');
  await desk.run('read', { path: 'f.txt' });
  writeFileSync(path, 'one\ntwo\nadded\n');
  const result = await desk.run('edit', { filePath: 'f.txt', oldString: 'one', newString: '1' });
  expect(result.content).toContain('changed since it was last read');
  expect(desk.text('f.txt')).toBe('1\ntwo\nadded\n');
  expect((await desk.run('write', { path: 'f.txt', content: '1\ntwo\n' })).error?.code).toBe('CONFLICT');
  await desk.run('read', { path: 'f.txt' });
  expect((await desk.run('write', { path: 'f.txt', content: '1\ntwo\n' })).status).toBe('ok');
});
test('own edits are no change of others', async () => {
  desk.put('f.txt', 'one\n');
  await desk.run('read', { path: 'f.txt' });
  await desk.run('edit', { filePath: 'f.txt', oldString: 'one', newString: 'two' });
  expect((await desk.run('write', { path: 'f.txt', content: 'three\n' })).status).toBe('ok');
});

test('ten thousand replacements in a large CRLF file are quick', async () => {
  desk.put('a.txt', 'some foo text\r\n'.repeat(10_000));
  const started = performance.now();
  expect((await desk.run('edit', { filePath: 'a.txt', oldString: 'foo', newString: 'a\nb', replaceAll: true })).status).toBe('ok');
  expect(desk.text('a.txt')).toBe('some a\r\nb text\r\n'.repeat(10_000));
  expect(performance.now() - started).toBeLessThan(5000);
});

test('old text of very many words is looked for like any other', async () => {
  desk.put('a.txt', 'line\n'.repeat(10));
  const result = await desk.run('edit', { filePath: 'a.txt', oldString: '  line nope\n'.repeat(3000), newString: 'x' });
  expect(result.error?.code).toBe('NOT_FOUND');
  desk.put('b.txt', `${'word   '.repeat(1500)}\n`);
  expect(await desk.run('edit', { filePath: 'b.txt', oldString: 'word '.repeat(1500).trim(), newString: 'x' })).toMatchObject({ status: 'ok' });
});
