import { isBlockAlike, isContextAlike, type Spend } from './alike.ts';
import type { Span } from './endings.ts';

/** What an edit asks for, with plain LF. */
export interface Wish {
  readonly old: string;
  readonly wanted: string;
}

interface Strategy {
  readonly name: string;
  /** The wish as this strategy reads it; undefined when it has nothing to say about it. */
  readonly read: (wish: Wish) => Wish | undefined;
  readonly find: (text: string, old: string) => readonly Span[];
  /** Several matches settle it: a later strategy could only pick one of them by chance. */
  readonly settles?: true;
  /** Too loose to be applied to several places at once. */
  readonly single?: true;
  /** White space at the ends was put aside: the place must still begin and end where the old text does. */
  readonly standsApart?: true;
}

export interface Found {
  readonly how: string;
  /** In order, none overlapping another. */
  readonly spans: readonly Span[];
  readonly wish: Wish;
}
export type Outcome = { readonly found: Found } | { readonly several: readonly Span[] } | undefined;

/** Largest texts, in characters, that are compared loosely. */
const MAX_LOOSE_TEXT = 4_194_304;
const MAX_LOOSE_OLD = 65_536;
/** Most words of a text that is compared word by word: the engine refuses an expression that is too large. */
const MAX_LOOSE_WORDS = 2_000;

/** Pairs of characters that are compared for one loose reading: a few seconds. A file in which one line stands thousands of times could take hours. */
const MAX_WORK = 100_000_000;
/** What a line costs beside its characters, in pairs of them. */
const LINE_WORK = 100;

/** Most places that are held, to be counted or replaced; a text of one letter occurs millions of times in a large file. */
export const MAX_PLACES = 1_000_000;

/** Finds the place of an edit: exactly, else by ever looser readings. Undefined: it is nowhere. */
export const findPlace = (text: string, wish: Wish, replaceAll: boolean, exactOnly: boolean): Outcome => {
  let several: readonly Span[] | undefined;
  for (const strategy of strategiesFor(text, wish, exactOnly)) {
    const found = attempt(strategy, text, wish);
    if (!found) continue;
    if (found.spans.length === 1 || (replaceAll && !strategy.single && found.spans.length <= MAX_PLACES))
      return { found: { ...found, spans: apart(found.spans) } };
    several ??= found.spans;
    if (strategy.settles) break;
  }
  return several && { several };
};

const strategiesFor = (text: string, { old }: Wish, exactOnly: boolean): readonly Strategy[] =>
  exactOnly || text.length > MAX_LOOSE_TEXT || old.length > MAX_LOOSE_OLD ? STRATEGIES.slice(0, 1) : STRATEGIES;

const attempt = ({ name, read, find, standsApart }: Strategy, text: string, asked: Wish): Found | undefined => {
  const wish = read(asked);
  if (wish === undefined || wish.old === '') return undefined;
  const found = find(text, wish.old);
  const spans = standsApart ? found.filter((span) => isApart(text, span, asked.old)) : found;
  return spans.length === 0 ? undefined : { how: name, spans, wish };
};

const apart = (spans: readonly Span[]): readonly Span[] => {
  let end = -1;
  return spans.filter((span) => {
    const isFree = span.start >= end;
    if (isFree) end = span.end;
    return isFree;
  });
};

// ---- what the strategies search by ----

const occurrences = (text: string, old: string): readonly Span[] => {
  const spans: Span[] = [];
  for (let at = text.indexOf(old); at >= 0 && spans.length <= MAX_PLACES; at = text.indexOf(old, at + 1)) spans.push({ start: at, end: at + old.length });
  return spans;
};

/** Characters that look alike as one of them, each one character long, so that positions stay. */
export const fold = (text: string): string =>
  text
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ');

const bare = (line: string): string => fold(line).trim();

/** Runs of lines that fit the lines of `old`, tried at every line; `sizes` are the numbers of lines that a run may have. */
const runs = (
  text: string,
  old: string,
  sizes: (count: number) => readonly number[],
  fits: (run: readonly string[], old: readonly string[], spend: Spend) => boolean,
) => {
  const hasFeed = old.endsWith('\n');
  const wanted = (hasFeed ? old.slice(0, -1) : old).split('\n').map(bare);
  if (wanted.every((line) => line === '')) return [];
  const lines = text.split('\n');
  const bareLines = lines.map(bare);
  const starts = startsOf(lines);
  const spans: Span[] = [];
  let work = 0;
  const spend = (more: number): void => void (work += more);
  for (let first = 0; first < lines.length; first++) {
    if (bareLines[first] !== wanted[0]) continue;
    const size = sizes(wanted.length).find((count) => {
      const last = first + count - 1;
      if (work > MAX_WORK || last >= lines.length || bareLines[last] !== wanted.at(-1)) return false;
      spend(count * LINE_WORK);
      return fits(bareLines.slice(first, last + 1), wanted, spend);
    });
    // What was found so far may not be all, and one of several must not pass for the only one.
    if (work > MAX_WORK) return [];
    if (size === undefined) continue;
    const end = (starts[first + size] ?? text.length + 1) - 1;
    spans.push({ start: starts[first] ?? 0, end: hasFeed ? Math.min(end + 1, text.length) : end });
  }
  return spans;
};

const startsOf = (lines: readonly string[]): readonly number[] => {
  let at = 0;
  return lines.map((line) => {
    const start = at;
    at += line.length + 1;
    return start;
  });
};

const sameSize = (count: number): readonly number[] => [count];
/** Within a quarter, the same size first. */
const similarSizes = (count: number): readonly number[] => {
  const slack = Math.max(1, Math.floor(count / 4));
  return [count, ...Array.from({ length: slack }, (_, index) => [count - index - 1, count + index + 1]).flat()].filter((size) => size >= 2);
};
const isEqual = (run: readonly string[], old: readonly string[]): boolean => run.every((line, index) => line === old[index]);

const acrossWhitespace = (text: string, old: string): readonly Span[] => {
  const words = fold(old).split(/\s+/);
  if (words.length > MAX_LOOSE_WORDS) return [];
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('\\s+'), 'g');
  return Array.from(fold(text).matchAll(pattern), (match) => ({ start: match.index, end: match.index + match[0].length }));
};

/** Whether a place begins and ends where the old text does: at white space or where the line ends, else not within a word. `count ` is not in `counter`. */
const isApart = (text: string, { start, end }: Span, old: string): boolean => {
  const lead = old.slice(0, old.length - old.trimStart().length);
  const trail = old.slice(old.trimEnd().length);
  // A bracket of its own line is another one than those within lines.
  const isBare = !HAS_WORD.test(old);
  if (isBare && lead.includes('\n') && !isBlankTo(text, start - 1, -1)) return false;
  if (isBare && trail.includes('\n') && !isBlankTo(text, end, 1)) return false;
  return isEdge(lead, text[start - 1], text[start]) && isEdge(trail, text[end], text[end - 1]);
};
/** Whether the line has nothing more in a direction. Step by step: a line may be all of the file. */
const isBlankTo = (text: string, from: number, step: 1 | -1): boolean => {
  let at = from;
  while (text[at] !== undefined && text[at] !== '\n' && text[at]?.trim() === '') at += step;
  return text[at] === undefined || text[at] === '\n';
};
const isEdge = (space: string, next = ' ', own = ''): boolean => next.trim() === '' || (space === '' && !(WORD.test(next) && WORD.test(own)));
const HAS_WORD = /[\p{L}\p{N}]/u;
const WORD = /[\p{L}\p{N}_$]/u;

const byIndentation = (text: string, old: string): readonly Span[] =>
  runs(text, old, sameSize, isEqual).filter((span) => outdent(text.slice(span.start, span.end)) === outdent(old));

const outdent = (text: string): string => {
  const lines = text.replace(/\n$/, '').split('\n');
  const depth = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(depth)).join('\n');
};

// ---- how they read the wish ----

const asIs = (wish: Wish): Wish => wish;
/** At least three, the first or the last of which tells one block from another: braces and blank lines are everywhere. */
const threeLines = (wish: Wish): Wish | undefined => {
  const lines = wish.old.replace(/\n$/, '').split('\n');
  return lines.length >= 3 && HAS_WORD.test(`${lines[0]}${lines.at(-1)}`) ? wish : undefined;
};

/** Without the white space around the old text; what the new text has of it at its ends goes too. */
const trimmed = ({ old, wanted }: Wish): Wish => {
  const lead = old.slice(0, old.length - old.trimStart().length);
  const trail = old.slice(old.trimEnd().length);
  let rest = wanted;
  if (lead !== '') rest = rest.startsWith(lead) ? rest.slice(lead.length) : rest.trimStart();
  if (trail !== '') rest = rest.endsWith(trail) ? rest.slice(0, rest.length - trail.length) : rest.trimEnd();
  return { old: old.trim(), wanted: rest };
};
const trimmedIfItMatters = (wish: Wish): Wish | undefined => (wish.old.trim() === wish.old ? undefined : trimmed(wish));

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
const unescape = (text: string): string => text.replace(/\\([ntr'"`\\$])/g, (_, char: string) => ESCAPES[char] ?? char);
/** Texts that were escaped once too often; both of them, since they come from one hand. */
const unescaped = ({ old, wanted }: Wish): Wish | undefined => (unescape(old) === old ? undefined : { old: unescape(old), wanted: unescape(wanted) });

const STRATEGIES: readonly Strategy[] = [
  { name: 'exact', read: asIs, find: occurrences, settles: true },
  { name: 'look-alike characters', read: asIs, find: (text, old) => occurrences(fold(text), fold(old)), settles: true },
  { name: 'lines without their indentation', read: asIs, find: (text, old) => runs(text, old, sameSize, isEqual) },
  { name: 'first and last line', read: threeLines, find: (text, old) => runs(text, old, similarSizes, isBlockAlike), single: true },
  { name: 'words without white space', read: trimmed, find: acrossWhitespace, standsApart: true },
  // Comes after looser ones: it only settles between several runs that differ in nothing but indentation.
  { name: 'relative indentation', read: asIs, find: byIndentation },
  { name: 'text without escapes', read: unescaped, find: occurrences },
  { name: 'text without white space around it', read: trimmedIfItMatters, find: occurrences, standsApart: true },
  { name: 'surrounding lines', read: threeLines, find: (text, old) => runs(text, old, sameSize, isContextAlike), single: true },
];
