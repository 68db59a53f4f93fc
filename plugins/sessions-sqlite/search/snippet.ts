/** A short part of a text around what was found in it. */
import type { SearchPlace } from '../../../kernel/index.ts';
import { SEARCH } from './limits.ts';
import { positionsOf } from './words.ts';

type Snippet = SearchPlace['snippet'];

export const snippetOf = (text: string, words: readonly string[]): Snippet => {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const all = positionsOf(line, words);
  const [first] = all;
  const start = onLetter(line, Math.max(0, (first?.start ?? 0) - SEARCH.beforeHit));
  const end = onLetter(line, Math.min(line.length, start + SEARCH.snippetChars));
  const parts: { text: string; isHit: boolean }[] = [];
  const add = (part: string, isHit: boolean): void => {
    if (part !== '') parts.push({ text: part, isHit });
  };
  let at = start;
  add(start > 0 ? '…' : '', false);
  for (const place of all) {
    if (place.start < at || place.end > end) continue;
    add(line.slice(at, place.start), false);
    add(line.slice(place.start, place.end), true);
    at = place.end;
  }
  add(`${line.slice(at, end)}${end < line.length ? '…' : ''}`, false);
  return parts;
};

/** Not within one that takes two units. */
const onLetter = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text[at] ?? '') ? at - 1 : at);
