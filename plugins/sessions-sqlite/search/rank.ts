/** BM25 of candidates among themselves: how rare a word is in them, how often a message has it, and how long that message is. */
import type { Content } from './places.ts';
import { folded } from './words.ts';

const K1 = 1.2;
const B = 0.75;

/**
 * `places`: of each word the documents in which it occurs, of which those of `isKept` get a score. Documents whose text was not read
 * count as of usual length, with the word once.
 */
export const scoresOf = (
  words: readonly string[],
  places: readonly ReadonlySet<number>[],
  isKept: (id: number) => boolean,
  contents: readonly Content[],
): ReadonlyMap<number, number> => {
  const texts = new Map(contents.map(({ id, text }) => [id, folded(text)]));
  const usual = contents.reduce((sum, { text }) => sum + text.length, 0) / Math.max(1, contents.length) || 1;
  const total = new Set(places.flatMap((ids) => [...ids])).size;
  const scores = new Map<number, number>();
  for (const [index, word] of words.entries()) {
    const ids = places[index] ?? new Set();
    const rarity = Math.log(1 + (total - ids.size + 0.5) / (ids.size + 0.5));
    const wanted = folded(word);
    for (const id of ids) {
      if (!isKept(id)) continue;
      const text = texts.get(id);
      const often = text === undefined ? 1 : Math.max(1, countOf(text, wanted));
      const length = text === undefined ? 1 : text.length / usual;
      scores.set(id, (scores.get(id) ?? 0) + (rarity * often * (K1 + 1)) / (often + K1 * (1 - B + B * length)));
    }
  }
  return scores;
};

const countOf = (text: string, word: string): number => {
  let count = 0;
  for (let at = text.indexOf(word); word !== '' && at >= 0; at = text.indexOf(word, at + word.length)) count += 1;
  return count;
};
