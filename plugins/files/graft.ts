import { alignLines } from './align.ts';
import type { Wish } from './match.ts';

/**
 * The new text for a place that was found loosely. `found` stands for the old text there, so what the wish leaves alone
 * keeps the file's own characters, and what it changes gets the file's indentation.
 */
export const graft = (found: string, wish: Wish): string => {
  const { old, wanted } = withoutFinalFeed(found, wish);
  const foundLines = found.split('\n');
  const oldLines = old.split('\n');
  if (foundLines.length !== oldLines.length) return wanted;
  const wantedLines = wanted.split('\n');
  const indents = pairIndents(oldLines, foundLines);
  const ancestors = alignLines(oldLines, wantedLines);
  const grafted = wantedLines.map((line, index) => {
    const ancestor = ancestors[index];
    const there = ancestor && foundLines[ancestor.at];
    if (there !== undefined && ancestor?.same) return there;
    const body = line.trimStart();
    if (body === '') return line;
    const changed = there === undefined ? body : carry(there.trimStart(), (oldLines[ancestor?.at ?? 0] ?? '').trimStart(), body);
    return indented(indentOf(line), indents) + changed;
  });
  return grafted.join('\n');
};

// The last line of a file need not end in a line feed, though the model wrote one.
const withoutFinalFeed = (found: string, { old, wanted }: Wish): Wish =>
  old.endsWith('\n') && !found.endsWith('\n') ? { old: old.slice(0, -1), wanted: wanted.replace(/\n$/, '') } : { old, wanted };

/** A changed line, its unchanged ends taken from the file. They only fit when the two differ in look-alike characters alone. */
const carry = (found: string, old: string, wanted: string): string => {
  if (found.length !== old.length) return wanted;
  const most = Math.min(old.length, wanted.length);
  let head = 0;
  while (head < most && old[head] === wanted[head]) head++;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === wanted.at(-1 - tail)) tail++;
  return found.slice(0, head) + wanted.slice(head, wanted.length - tail) + found.slice(found.length - tail);
};

const indentOf = (line: string): string => line.slice(0, line.length - line.trimStart().length);

const pairIndents = (oldLines: readonly string[], foundLines: readonly string[]): ReadonlyMap<string, string> => {
  const pairs = new Map<string, string>();
  oldLines.forEach((line, index) => {
    const indent = indentOf(line);
    if (line.trim() !== '' && !pairs.has(indent)) pairs.set(indent, indentOf(foundLines[index] ?? ''));
  });
  return pairs;
};

/** The file's form of an indentation that the model used. */
const indented = (indent: string, pairs: ReadonlyMap<string, string>): string => {
  const known = pairs.get(indent);
  if (known !== undefined) return known;
  const keys = [...pairs.keys()].sort((a, b) => b.length - a.length);
  const shorter = keys.find((key) => indent.startsWith(key));
  if (shorter !== undefined) return deeper(indent.slice(shorter.length), shorter, pairs);
  const longer = keys.findLast((key) => key.startsWith(indent));
  const there = longer === undefined ? undefined : pairs.get(longer);
  if (longer === undefined || there === undefined) return indent;
  return there.slice(0, Math.max(0, there.length - Math.round((longer.length - indent.length) * rateOf(longer, there, pairs))));
};

const deeper = (rest: string, key: string, pairs: ReadonlyMap<string, string>): string => {
  const there = pairs.get(key) ?? '';
  const rate = rateOf(key, there, pairs);
  const kind = there.at(-1) ?? [...pairs.values()].find((value) => value !== '')?.at(-1);
  const width = rest.length * rate;
  return rate === 1 || kind === undefined || !Number.isInteger(width) ? there + rest : there + kind.repeat(width);
};

/** How many characters the file takes for one of the model's: by what two depths differ in, else by one depth if it is of the other kind. */
const rateOf = (key: string, there: string, pairs: ReadonlyMap<string, string>): number => {
  const byDepth = [...pairs].sort(([a], [b]) => a.length - b.length);
  const [least, most] = [byDepth[0], byDepth.at(-1)];
  if (least && most && most[0].length > least[0].length && most[1].length > least[1].length) {
    return (most[1].length - least[1].length) / (most[0].length - least[0].length);
  }
  return key !== '' && there !== '' && key[0] !== there[0] ? there.length / key.length : 1;
};
