/** What one command hands on to be run by another. */
import type { Word } from './grammar.ts';

/** Words of its own, or text that bash parses again. `unknown` is said only at run time. */
export type Inner = { readonly words: readonly Word[] } | { readonly text: string } | { readonly unknown: string };

export const text = (by: string, list: readonly Word[]): Inner =>
  list.some((word) => word.dynamic) ? { unknown: by } : { text: list.map((word) => word.value).join(' ') };
