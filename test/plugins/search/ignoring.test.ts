import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

let desk: Desk;
beforeAll(() => {
  desk = openDesk();
});
afterAll(() => desk.remove());

const name = fc.constantFrom('a', 'b', 'c.txt', 'd.log', 'e f', 'A', '#g', '!h', 'build', '.hid', 'x[1]', 'é', '-x');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const escaped = (text: string): string => text.replace(/[\\[\] ]/g, '\\$&').replace(/^[#!]/, '\\$&');
const part = fc.oneof(
  { weight: 4, arbitrary: name.map(escaped) },
  { weight: 3, arbitrary: fc.constantFrom('*', '*.log', '*.txt', '?', '??', '[a-c]', '[!a]', '[^b]', 'b*', '*d', '.*', 'x?1]', '*.*', 'c.tx[t]', '\\a', '**') },
);
const rule = fc
  .record({
    isNegated: fc.boolean(),
    before: fc.constantFrom('', '', '', '/', '**/'),
    parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    after: fc.constantFrom('', '', '', '/', '/**', '/*', ' ', '  '),
  })
  .map(({ isNegated, before, parts, after }) => `${isNegated ? '!' : ''}${before}${parts.join('/')}${after}`);
const rules = fc
  .tuple(
    fc.array(fc.oneof({ weight: 8, arbitrary: rule }, { weight: 1, arbitrary: fc.constantFrom('', '# note', '   ') }), { maxLength: 5 }),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([lines, end]) => lines.map((line) => line + end).join(''));
const tree = fc.record({ files: fc.array(path, { minLength: 1, maxLength: 8 }), root: rules, nested: fc.option(fc.tuple(path, rules)), exclude: rules });

const RUNS = Number(process.env['TREE_RUNS'] ?? 60);

test(`${RUNS} trees at random: both engines list what git lists`, { timeout: 100_000 }, async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(tree, async ({ files, root, nested, exclude }) => {
      const folder = `t${(count += 1)}`;
      const put = (file: string, text: string): void => {
        try {
          desk.put(join(folder, file), text);
        } catch {
          // A name that is a folder already.
        }
      };
      put('.gitignore', root);
      for (const file of files) put(file, 'x\n');
      if (nested) put(join(nested[0], '.gitignore'), nested[1]);
      const cwd = join(desk.cwd, folder);
      execFileSync('git', ['init', '-q', '--template='], { cwd });
      put('.git/info/exclude', exclude);
      const env = { ...process.env, HOME: join(desk.top, 'home'), XDG_CONFIG_HOME: join(desk.top, 'home/.config') };
      const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd, env, encoding: 'utf8' });
      const expected = [...new Set(listed.split('\0').filter(Boolean))].sort();
      for (const engine of ['ripgrep', 'walk'] as const) {
        const { content } = await desk.run(engine, 'glob', { pattern: '*', path: folder });
        const found = content
          .split('\n')
          .filter((line) => line.startsWith(`${folder}/`))
          .map((line) => line.slice(folder.length + 1));
        expect([...found].sort(), engine).toEqual(expected);
      }
      rmSync(cwd, { recursive: true, force: true });
    }),
    { numRuns: RUNS },
  );
});
