/** What a query asks for, and how texts are compared with it. */
import { SEARCH } from './limits.ts';

/** Words and quoted phrases, in the order given. */
export const wordsOf = (text: string): readonly string[] => {
  const found = [...text.matchAll(/"([^"]+)"|[^\s"]+/g)].map(([whole, phrase]) => (phrase ?? whole).trim().replace(/\s+/g, ' ').slice(0, SEARCH.wordChars));
  return [...new Set(found.filter((word) => word !== ''))].slice(0, SEARCH.words);
};

/** As a phrase of the index: whatever stands in it is a letter to be found, no operator. */
export const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`;

/** All triples of letters; undefined where there are fewer than three. */
export const triplesOf = (word: string): string | undefined => {
  const letters = [...word];
  if (letters.length < 3) return undefined;
  return letters
    .slice(0, -2)
    .map((_, index) => quoted(letters.slice(index, index + 3).join('')))
    .join(' AND ');
};

export const isIdeographic = (word: string): boolean => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(word);
/** Nothing that the index of words knows: it is made of letters and digits. */
export const hasLetters = (word: string): boolean => /[\p{L}\p{N}\p{Co}]/u.test(word);

export const hasSigns = (word: string): boolean => /[^\p{L}\p{N}\p{M}\s]/u.test(word);

/** Without case and accents, as the index has it. */
export const folded = (text: string): string => (isPlain(text) ? text : text.normalize('NFD').replace(/\p{M}/gu, '')).toLowerCase();
const isPlain = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** Where a word begins in a text, in the original's characters. */
export const positionsOf = (text: string, words: readonly string[]): readonly { readonly start: number; readonly end: number }[] => {
  const { plain, starts } = letterByLetter(text);
  const found = words.flatMap((word) => {
    const wanted = folded(word);
    const places: { start: number; end: number }[] = [];
    for (let from = plain.indexOf(wanted); wanted !== '' && from >= 0; from = plain.indexOf(wanted, from + wanted.length)) {
      places.push({ start: starts?.[from] ?? from, end: starts?.[from + wanted.length] ?? from + wanted.length });
    }
    return places;
  });
  return found.sort((a, b) => a.start - b.start);
};

/** Folded, with the place of each letter in the original; without it where they are the same. */
const letterByLetter = (text: string): { readonly plain: string; readonly starts?: readonly number[] } => {
  if (isPlain(text)) return { plain: text.toLowerCase() };
  const starts: number[] = [];
  let plain = '';
  let at = 0;
  for (const letter of text) {
    const fold = folded(letter);
    for (let index = 0; index < fold.length; index += 1) starts.push(at);
    plain += fold;
    at += letter.length;
  }
  return { plain, starts: [...starts, at] };
};
