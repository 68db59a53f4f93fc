import { WORD } from './pattern-sets.ts';
import { NO_TEXT } from './text.ts';
import { type CharSet, type Choice, type Edge, escaped, type Node, PatternForeign, type Sequence, withoutCase } from './pattern-tree.ts';

/** How an engine writes what the two do not share. */
interface Tongue {
  char(char: string, ignoreCase: boolean): string;
  set(set: CharSet): string;
  back(to: string, ignoreCase: boolean): string;
  readonly start: string;
  readonly end: string;
  /** Stands only where there is text on both sides. */
  readonly amongText: string;
}

/** For texts of many lines. No match contains an end of line, or bytes that are no text. */
export const toJavaScript = (choice: Choice, isReturn: boolean): RegExp => {
  const ignoresAll = ignoresCase(choice);
  const never = `${isReturn ? '' : '\\r'}\\n${NO_TEXT}`;
  const letters = (body: string, ignoreCase: boolean): string => (ignoreCase && !ignoresAll ? withoutCase(body) : body);
  const source = write(choice, {
    char: (char, ignoreCase) => (ignoreCase && !ignoresAll ? `[${withoutCase(escaped(char))}]` : escaped(char)),
    set: (set) =>
      writeSet({ ...set, body: letters(set.body, set.ignoreCase), complements: set.complements.map((body) => letters(body, set.ignoreCase)) }, never),
    back: (to, ignoreCase) => {
      if (ignoreCase && !ignoresAll) throw new PatternForeign('a reference where case is ignored for a part of the pattern');
      return reference(to);
    },
    // Between the two characters of an end of line there is neither an end nor a beginning.
    start: isReturn ? '(?<![^\\n])' : '(?<![^\\r\\n])(?!(?<=\\r)\\n)',
    end: isReturn ? '(?![^\\n])' : '(?![^\\r\\n])(?!(?<=\\r)\\n)',
    // PCRE2 asks for it no more than for anything else that is not there.
    amongText: looksAround(choice) ? '' : `(?<!${NO_TEXT})(?!${NO_TEXT})`,
  });
  // Not the flag `v`: with it `(?:[^\n]*a)+` matches a line feed (V8 11.3).
  return new RegExp(source, `gu${ignoresAll ? 'i' : ''}`);
};

/** For single lines without the line feed at their end. */
export const toPcre = (choice: Choice, isReturn: boolean): { readonly argument: string; readonly ignoresCase: boolean } => {
  const ignoresAll = ignoresCase(choice);
  const scoped = (text: string, ignoreCase: boolean): string => (ignoreCase && !ignoresAll ? `(?i:${text})` : text);
  const argument = write(choice, {
    char: (char, ignoreCase) => scoped(escaped(char), ignoreCase),
    set: (set) => scoped(writeSet(set, isReturn ? '\\n' : '\\r\\n'), set.ignoreCase),
    back: (to, ignoreCase) => scoped(reference(to), ignoreCase),
    start: isReturn ? '^' : '(?:^|(?<=\\r)(?!\\z))',
    end: isReturn ? '$' : '(?:(?<!\\r)$|(?=\\r))',
    amongText: '',
  });
  return { argument, ignoresCase: ignoresAll };
};

/** Without `never`, whatever the set says. */
const writeSet = ({ body, complements, isNegated }: CharSet, never: string): string => {
  if (isNegated && complements.length === 0) return `[^${body}${never}]`;
  const parts = [...(body === '' ? [] : [`[${body}]`]), ...complements.map((each) => `[^${each}]`)].join('|');
  if (isNegated) return `(?:(?!${parts}|[${never}])[\\s\\S])`;
  const isHarmless = complements.length === 0 && !new RegExp(`[${body}]`, 'u').test(`\r\n${NO_TEXT}`);
  return isHarmless ? parts : `(?:(?![${never}])(?:${parts}))`;
};

/** Whether it has something that ripgrep's own engine does not know. */
export const looksAround = (choice: Choice): boolean => leaves(choice, true).some(({ kind }) => kind === 'look' || kind === 'back');

/** The longest text that every match contains. */
export const needleOf = (choice: Choice): string | undefined => {
  let longest = '';
  let run = '';
  for (const node of plainly(choice)) {
    run = node.kind === 'char' && !node.ignoreCase ? run + node.char : '';
    if (run.length > longest.length) longest = run;
  }
  return longest === '' ? undefined : longest;
};

/** What every match goes through, one after another; groups of one alternative are opened. */
const plainly = (choice: Choice): Sequence =>
  choice.length === 1 ? (choice[0] ?? []).flatMap((node) => (node.kind === 'group' && node.body.length === 1 ? plainly(node.body) : [node])) : [];

const ignoresCase = (choice: Choice): boolean => {
  const cased = leaves(choice, false).flatMap((node) => ('ignoreCase' in node ? [node.ignoreCase] : []));
  return cased.length > 0 && cased.every(Boolean);
};

const leaves = (choice: Choice, withParents: boolean): readonly Node[] =>
  choice.flat().flatMap((node) => [...(withParents || !innerOf(node) ? [node] : []), ...leaves(innerOf(node) ?? [], withParents)]);

const innerOf = (node: Node): Choice | undefined =>
  node.kind === 'repeat' ? [[node.of]] : node.kind === 'group' || node.kind === 'look' ? node.body : undefined;

const write = (choice: Choice, tongue: Tongue): string => choice.map((sequence) => sequence.map((node) => writeNode(node, tongue)).join('')).join('|');

const writeNode = (node: Node, tongue: Tongue): string => {
  switch (node.kind) {
    case 'char':
      return tongue.char(node.char, node.ignoreCase);
    case 'set':
      return tongue.set(node);
    case 'back':
      return tongue.back(node.to, node.ignoreCase);
    case 'edge':
      return edgeOf(node.edge, tongue);
    case 'look':
      return `(${node.look}${write(node.body, tongue)})`;
    case 'group':
      return `(${openingOf(node)}${write(node.body, tongue)})`;
    case 'repeat':
      return `(?:${writeNode(node.of, tongue)})${timesOf(node)}`;
  }
};

const openingOf = ({ name, number }: { readonly name: string | undefined; readonly number: number | undefined }): string => {
  if (name !== undefined) return `?<${name}>`;
  return number === undefined ? '?:' : '';
};

const timesOf = ({ least, most }: { readonly least: number; readonly most: number }): string => `{${least},${most === Number.POSITIVE_INFINITY ? '' : most}}`;

const edgeOf = (edge: Edge, { start, end, amongText }: Tongue): string => {
  const [before, behind] = [`(?<=[${WORD}])`, `(?=[${WORD}])`];
  const [notBefore, notBehind] = [`(?<![${WORD}])`, `(?![${WORD}])`];
  const words: Readonly<Record<Edge, string>> = {
    start,
    end,
    word: `(?:${notBefore}${behind}|${before}${notBehind})`,
    inside: `${amongText}(?:${notBefore}${notBehind}|${before}${behind})`,
    wordStart: notBefore + behind,
    wordEnd: before + notBehind,
  };
  return words[edge];
};

const reference = (to: string): string => (/^\d/.test(to) ? `(?:\\${to})` : `\\k<${to}>`);
