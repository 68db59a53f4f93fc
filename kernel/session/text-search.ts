/** Searching in sessions, whatever store they are in: what a query asks for, how hits are ranked, and what is shown of them. */
import type { SearchMatch, SessionRecord, Snippet } from '../contracts/store.ts';
import { foldText, wordsOfQuery } from './searchable.ts';

/** Terms of a query that count, and characters of it: nobody types more, and each one costs. */
const MAX_TERMS = 12;
const MAX_QUERY_CHARS = 400;
/** Characters of a snippet, and of it before the first mark. */
const SNIPPET_CHARS = 160;
const SNIPPET_LEAD = 40;
const MAX_MARKS = 20;
/** Characters of a message among which its snippet is looked for. */
const SNIPPET_SOURCE_CHARS = 262_144;
/** Fewer characters are found at the beginning of a word only. */
const PART_CHARS = 3;
/** As usual for bm25: how soon repetition stops to count, and how much length does. */
const K1 = 1.2;
const B = 0.75;
/** What a message is worth more that holds the query as it was typed. */
const WHOLE_FACTOR = 2;

/** A piece of the query between spaces. */
export interface Term {
  /** Folded, without quotes around it. */
  readonly text: string;
  /** What is looked up; none for a piece of punctuation. */
  readonly words: readonly string[];
}
export interface Query {
  /** All of it, folded, with single spaces. */
  readonly whole: string;
  readonly terms: readonly Term[];
}

export const readQuery = (text: string): Query => {
  const whole = foldText(text.slice(0, MAX_QUERY_CHARS)).replaceAll('\0', ' ').trim().replace(/\s+/g, ' ');
  const pieces = [...new Set(whole.split(' '))].map((piece) => piece.replace(/^["'“”‘’]+|["'“”‘’*]+$/g, '')).filter((piece) => piece !== '');
  return { whole: whole.replace(/^["“”]+|["“”]+$/g, ''), terms: pieces.slice(0, MAX_TERMS).map((piece) => ({ text: piece, words: wordsOfQuery(piece) })) };
};

/** Whether all of a term is in a folded text: each word at the beginning of one, or the term as it is. */
export const holds = (folded: string, { text, words }: Term): boolean =>
  (text.length >= PART_CHARS && folded.includes(text)) || (words.length > 0 && words.every((word) => countOf(folded, word, true) > 0));

const IS_WORD = /[\p{L}\p{N}\p{M}]/u;
const countOf = (folded: string, word: string, atBeginning: boolean): number => {
  let count = 0;
  const bounded = atBeginning && /^[\0-\x7f]/.test(word);
  for (let at = folded.indexOf(word); at !== -1 && count < 50; at = folded.indexOf(word, at + word.length)) {
    if (!bounded || at === 0 || !IS_WORD.test(folded[at - 1] ?? '')) count += 1;
  }
  return count;
};

/** A message that was found. */
export interface Candidate {
  readonly session: string;
  readonly seq: number;
  readonly chars: number;
  /** Numbers of the terms for which it was found. */
  readonly terms: ReadonlySet<number>;
  /** Folded; undefined when it is not read, because too much was read before. */
  readonly text: string | undefined;
}
export interface Best {
  readonly session: string;
  readonly seq: number;
  readonly score: number;
}

/** The best message of each session, the best first; of two that are as good, the newer. Candidates come newest first. */
export const rank = (candidates: readonly Candidate[], query: Query, total: number): Best[] => {
  const average = candidates.reduce((sum, { chars }) => sum + chars, 0) / Math.max(1, candidates.length);
  const weights = query.terms.map((_, index) => weightOf(candidates.filter(({ terms }) => terms.has(index)).length, total));
  const best = new Map<string, Best>();
  for (const candidate of candidates) {
    const { session, seq } = candidate;
    const score = scoreOf(candidate, query, weights, average);
    const known = best.get(session);
    if (!known || score > known.score) best.set(session, { session, seq, score });
  }
  // The order of the map is that of the newest hit, and sorting keeps it among equals.
  return [...best.values()].sort((a, b) => b.score - a.score);
};

const weightOf = (found: number, total: number): number => Math.log(1 + Math.max(0, total - found + 0.5) / (found + 0.5));

const scoreOf = ({ terms, text, chars }: Candidate, { whole, terms: asked }: Query, weights: readonly number[], average: number): number => {
  let score = 0;
  for (const index of terms) {
    const term = asked[index];
    if (!term) continue;
    const count = text === undefined ? 1 : Math.max(1, countOf(text, term.words[0] ?? term.text, term.words.length > 0));
    score += (weights[index] ?? 0) * ((count * (K1 + 1)) / (count + K1 * (1 - B + (B * chars) / Math.max(1, average))));
  }
  return asked.length > 1 && text?.includes(whole) ? score * WHOLE_FACTOR : score;
};

/** The part of a text that shows why it was found. */
export const snippetOf = (text: string, query: Query): Pick<Snippet, 'text' | 'marks'> => {
  const source = text.slice(0, SNIPPET_SOURCE_CHARS);
  const { folded, origins } = mapped(source);
  const first = firstOf(folded, query);
  const from = boundary(source, Math.max(0, (origins[first] ?? 0) - SNIPPET_LEAD));
  const to = boundary(source, Math.min(source.length, from + SNIPPET_CHARS));
  const shown = source.slice(from, to);
  const lead = from > 0 ? '…' : '';
  const marks = marksIn(shown, query).map(([start, end]): readonly [number, number] => [start + lead.length, end + lead.length]);
  // White space is one character wide, so that the marks stay where they are.
  return { text: `${lead}${shown.replace(/\s/g, ' ')}${to < text.length ? '…' : ''}`, marks };
};

/** The text folded character by character, and where in it each of them comes from. */
const mapped = (text: string): { readonly folded: string; readonly origins: readonly number[] } => {
  let folded = '';
  const origins: number[] = [];
  let at = 0;
  for (const character of text) {
    const part = foldText(character);
    for (let index = 0; index < part.length; index += 1) origins.push(at);
    folded += part;
    at += character.length;
  }
  origins.push(at);
  return { folded, origins };
};

const firstOf = (folded: string, { whole, terms }: Query): number => {
  const together = folded.indexOf(whole);
  if (together !== -1) return together;
  const places = terms.flatMap((term) => [term.text, ...term.words].map((word) => placeOf(folded, word)).filter((at) => at !== -1));
  return places.length === 0 ? 0 : Math.min(...places);
};

/** At the beginning of a word, if there is such a place. */
const placeOf = (folded: string, word: string): number => {
  const first = folded.indexOf(word);
  for (let at = first, tries = 0; at !== -1 && tries < 200; at = folded.indexOf(word, at + 1), tries += 1) {
    if (at === 0 || !IS_WORD.test(folded[at - 1] ?? '')) return at;
  }
  return word.length > 1 ? first : -1;
};

const marksIn = (shown: string, { terms }: Query): (readonly [number, number])[] => {
  const { folded, origins } = mapped(shown);
  const found: [number, number][] = [];
  for (const word of new Set(terms.flatMap((term) => [term.text, ...term.words]))) {
    for (let at = folded.indexOf(word); at !== -1 && found.length < MAX_MARKS; at = folded.indexOf(word, at + word.length)) {
      const isInside = word.length < 3 && /^[\0-\x7f]/.test(word) && at > 0 && IS_WORD.test(folded[at - 1] ?? '');
      if (!isInside) found.push([origins[at] ?? 0, origins[at + word.length] ?? shown.length]);
    }
  }
  return merged(found.sort((a, b) => a[0] - b[0] || a[1] - b[1]));
};

const merged = (ranges: readonly [number, number][]): [number, number][] => {
  const joined: [number, number][] = [];
  for (const [from, to] of ranges) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
};

/** Not between the two halves of one character. */
const boundary = (text: string, at: number): number => (at > 0 && at < text.length && /[\udc00-\udfff]/.test(text[at] ?? '') ? at + 1 : at);

type Described = Pick<SessionRecord, 'title' | 'cwd' | 'root' | 'id' | 'model'>;
export interface MetadataHit {
  readonly match: Exclude<SearchMatch, 'message'>;
  /** The lower, the better. */
  readonly rank: number;
  /** Only the letters of the query in their order. */
  readonly isLoose: boolean;
}

/** How title, path, id or model of a session match a query; undefined when they do not. */
export const metadataHit = (record: Described, { whole, terms }: Query): MetadataHit | undefined => {
  if (terms.length === 0) return undefined;
  const title = foldText(record.title);
  const path = record.cwd === record.root || record.cwd.startsWith(record.root) ? foldText(record.cwd) : foldText(`${record.root}\n${record.cwd}`);
  const fields = [
    ['title', title],
    ['path', path],
    ['id', foldText(record.id)],
    ['model', foldText(record.model)],
  ] as const;
  for (const [place, [match, text]] of fields.entries()) {
    const at = text.indexOf(whole);
    if (at !== -1) return { match, rank: place * 1_000 + Math.min(at, 999), isLoose: false };
  }
  const holder = terms.map(({ text }) => fields.findIndex(([, value]) => value.includes(text)));
  if (holder.every((index) => index !== -1)) return { match: fields[Math.min(...holder)]?.[0] ?? 'title', rank: 10_000, isLoose: false };
  const letters = whole.replaceAll(' ', '');
  const loose = fields.slice(0, 3).find(([, text]) => isSubsequence(letters, text));
  return loose && { match: loose[0], rank: 20_000, isLoose: true };
};

/** A shorter one would be found nearly everywhere. */
const MIN_LOOSE_CHARS = 3;
const isSubsequence = (letters: string, text: string): boolean => {
  if (letters.length < MIN_LOOSE_CHARS) return false;
  let at = -1;
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
};

/** Sessions in the order in which they are shown: what describes them, what was said in them, and last what only resembles the query. */
export const orderOf = (described: readonly (MetadataHit & { readonly id: string })[], best: readonly Best[]): Map<string, SearchMatch> => {
  const sorted = [...described].sort((a, b) => a.rank - b.rank);
  const order = new Map<string, SearchMatch>();
  for (const { id, match, isLoose } of sorted) if (!isLoose) order.set(id, match);
  for (const { session } of best) if (!order.has(session)) order.set(session, 'message');
  for (const { id, match } of sorted) if (!order.has(id)) order.set(id, match);
  return order;
};
