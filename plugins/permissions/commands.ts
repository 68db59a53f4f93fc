/** Rules against the parts of a shell command. */
import type { ShellPart } from '../../kernel/index.ts';

/** `git status:*` is a prefix, word by word; without `:*` all words must be there and no others. */
const wordsOf = (pattern: string): { readonly words: readonly string[]; readonly isPrefix: boolean } => {
  const isPrefix = pattern.endsWith(':*');
  return { words: (isPrefix ? pattern.slice(0, -2) : pattern).trim().split(/\s+/), isPrefix };
};

/** Whether an allowing pattern covers this part and all that it does. */
export const covers = (pattern: string, part: ShellPart): boolean => {
  if (pattern === part.source) return true;
  if (part.writes.some((path) => path !== '/dev/null')) return false;
  const { words, isPrefix } = wordsOf(pattern);
  // `LD_PRELOAD=x ls` is not `ls`: assignments count as words.
  const given = [...part.assignments, ...part.words];
  const unknown = new Set(part.dynamic.map((index) => index + part.assignments.length));
  if (isPrefix ? given.length < words.length : given.length !== words.length) return false;
  return words.every((word, index) => word === given[index] && !unknown.has(index));
};

/** Whether a denying pattern meets this part, whatever stands before or behind it. */
export const meets = (pattern: string, part: ShellPart): boolean => {
  if (pattern === part.source) return true;
  const { words, isPrefix } = wordsOf(pattern);
  const [first = '', ...rest] = part.words;
  const [wanted = '', ...behind] = words;
  if (!isProgram(first, wanted)) return false;
  const open = rest.findIndex((_, index) => part.dynamic.includes(index + 1));
  const known = open < 0 ? rest : rest.slice(0, open);
  if (!known.slice(0, behind.length).every((word, index) => word === behind[index])) return false;
  // A word that is only known at run time may be any that the rule names, several of them, or none.
  const mayGrow = open >= 0;
  return (mayGrow || known.length >= behind.length) && (isPrefix || known.length <= behind.length);
};

const isProgram = (word: string, name: string): boolean => word === name || baseOf(word) === name;
const baseOf = (word: string): string => word.slice(word.lastIndexOf('/') + 1);

/** Nobody can say before it runs which program this is; `$HOME/bin/x` is clear enough. */
export const isUnnamed = (part: ShellPart): boolean => part.dynamic.includes(0) && !/^\$(HOME|PWD|\{HOME\}|\{PWD\})\/[^$`{*?[]+$/.test(part.words[0] ?? '');
