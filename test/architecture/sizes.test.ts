/** Files small enough to read in one go, and a loop small enough to know by heart. */
import { expect, test } from 'vitest';
import { filesBelow, parse, readSource } from './sources.ts';
import ts from 'typescript';

const MAX_LINES = 400;
/** Lines of code in all of kernel/turn/, blank lines and comments left out: the loop is to be read in one sitting. */
const MAX_TURN_LINES = 350;

const lines = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

const tooLong = (files: readonly string[], read: (file: string) => string = readSource): readonly string[] =>
  files.flatMap((file) => {
    const count = lines(read(file));
    return count > MAX_LINES ? [`${file}: ${count} lines`] : [];
  });

/** Lines that hold code: neither blank, nor comment, nor import. */
const codeLines = (file: string): number => {
  const source = parse(file);
  const held = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || node.kind === ts.SyntaxKind.JSDoc) return;
    if (node.getChildCount(source) > 0) return node.getChildren(source).forEach(visit);
    if (node.kind === ts.SyntaxKind.EndOfFileToken || node.getWidth(source) === 0) return;
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
    for (let line = first; line <= last; line += 1) held.add(line);
  };
  visit(source);
  return held.size;
};

test(`no file has more than ${MAX_LINES} lines`, () => {
  const files = ['kernel', 'plugins', 'cli', 'test'].flatMap((folder) => filesBelow(folder, ['.ts', '.tsx', '.mjs']));
  expect(tooLong([...files, 'rollup.config.mjs'])).toEqual([]);
});

test('a file that is too long would be found', () => {
  const text: Record<string, string> = { 'long.ts': '\n'.repeat(MAX_LINES + 1), 'full.ts': '\n'.repeat(MAX_LINES) };
  expect(tooLong(Object.keys(text), (file) => text[file] ?? '')).toEqual([`long.ts: ${MAX_LINES + 1} lines`]);
});

test('the loop stays small', ({ annotate }) => {
  const files = filesBelow('kernel/turn');
  const code = files.reduce((sum, file) => sum + codeLines(file), 0);
  const all = files.reduce((sum, file) => sum + lines(readSource(file)), 0);
  void annotate(`kernel/turn: ${files.length} files, ${code} lines of code, ${all} lines in all`);
  process.stdout.write(`kernel/turn: ${files.length} files, ${code} lines of code, ${all} lines in all\n`);
  expect(files.length).toBeGreaterThan(5);
  expect(code).toBeGreaterThan(200);
  expect(code).toBeLessThanOrEqual(MAX_TURN_LINES);
});
