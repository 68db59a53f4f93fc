/** What a search sees of a text: case, accents, and whatever stands between words make no difference. */

import type { Message } from '../data.ts';

/** Characters of one text that are found by their words. What lies behind is kept, and not found. */
const TEXT_CHARS = 262_144;
/** Characters of a word that count: a longer one, such as a key or an image within a text, is found by its beginning. */
const WORD_CHARS = 64;

const ACCENTS = /[\u0300-\u036f]/g;
const BEYOND_ASCII = /[^\0-\x7f]/;
const WORD = /[\p{L}\p{N}\p{M}\p{Extended_Pictographic}]+/gu;
const UNSPACED =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Extended_Pictographic}\\u30fc\\ufe0f]';
const IS_UNSPACED = new RegExp(UNSPACED, 'u');
const RUN = new RegExp(`${UNSPACED}+|(?:(?!${UNSPACED})[\\s\\S])+`, 'gu');

/** What a person or a model said in a message; notes for the model and results are none of it. */
export const saidIn = (message: Message): string =>
  message.role === 'tool' || message.reminder ? '' : message.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');

/** Lower case, without accents. */
export const foldText = (text: string): string =>
  BEYOND_ASCII.test(text) ? text.normalize('NFD').replace(ACCENTS, '').normalize('NFC').toLowerCase() : text.toLowerCase();

/**
 * The words of a folded text, each once. Scripts that put no spaces between words, and pictures, are found by every two characters that
 * stand side by side, and by the last one alone.
 */
export const wordsIn = (folded: string): Set<string> => {
  const words = new Set<string>();
  for (const [word] of folded.slice(0, TEXT_CHARS).matchAll(WORD)) {
    if (!BEYOND_ASCII.test(word) || !IS_UNSPACED.test(word)) words.add(word.slice(0, WORD_CHARS));
    else for (const [run] of word.matchAll(RUN)) addRun(words, run);
  }
  return words;
};

const addRun = (words: Set<string>, run: string): void => {
  if (!IS_UNSPACED.test(run)) return void words.add(run.slice(0, WORD_CHARS));
  const characters = [...run];
  for (const [index, character] of characters.entries()) words.add(character + (characters[index + 1] ?? ''));
};

/** The words to ask for: of a run without spaces, its pairs alone, unless it is one character. */
export const wordsOfQuery = (folded: string): string[] => {
  const words = [...wordsIn(folded)];
  const isAlone = (word: string): boolean => [...word].length === 1 && IS_UNSPACED.test(word);
  return words.filter((word) => !isAlone(word) || !words.some((other) => other !== word && other.endsWith(word) && IS_UNSPACED.test(other)));
};
