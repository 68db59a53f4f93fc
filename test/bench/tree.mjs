/** A tree of many small files, made once and kept in the temporary folder. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const WORDS =
  'const function return import export class value result error await async config module request response handler session event state render'.split(' ');
const FILES_PER_FOLDER = 20;

/** The same numbers every time, so that figures of two days can be compared. */
const createDice = () => {
  let state = 1;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
};

const contentOf = (index, dice) => {
  const lines = Array.from({ length: 15 + dice(30) }, () => Array.from({ length: 6 }, () => WORDS[dice(WORDS.length)]).join(' '));
  if (index % 1000 === 7) lines.push('export const needleHere = 1;');
  return `${lines.join('\n')}\n`;
};

/** Folder of a tree with so many files: every tenth is Markdown, one in a thousand has `needleHere`, all have common words. */
export const treeOf = (count) => {
  const folder = join(tmpdir(), `cast-bench-tree-${count}`);
  const isMade = () => {
    try {
      return readFileSync(`${folder}.made`, 'utf8') === '2';
    } catch {
      return false;
    }
  };
  if (isMade()) return folder;
  rmSync(folder, { recursive: true, force: true });
  const unfinished = `${folder}.part`;
  rmSync(unfinished, { recursive: true, force: true });
  const dice = createDice();
  for (let index = 0; index < count; index += 1) {
    const part = Math.floor(index / FILES_PER_FOLDER);
    const path = join(unfinished, `pkg${Math.floor(part / 500)}`, `mod${Math.floor(part / 25) % 20}`, `part${part % 25}`);
    if (index % FILES_PER_FOLDER === 0) mkdirSync(path, { recursive: true });
    writeFileSync(join(path, `file${index % FILES_PER_FOLDER}.${index % 10 === 0 ? 'md' : 'ts'}`), contentOf(index, dice));
  }
  writeFileSync(join(unfinished, '.gitignore'), 'node_modules/\ndist/\n*.log\n!keep.log\n/build\n');
  renameSync(unfinished, folder);
  writeFileSync(`${folder}.made`, '2');
  return folder;
};
