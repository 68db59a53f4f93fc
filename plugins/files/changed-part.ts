import { countOf } from './endings.ts';

/** What is left of two texts without the lines that both begin and end with. */
export interface ChangedPart {
  readonly old: string;
  readonly now: string;
  /** Lines before it. */
  readonly skipped: number;
}

/** With `context` lines around. Positions only: a large file has millions of lines, most of them untouched. */
export const changedPart = (old: string, now: string, context: number): ChangedPart => {
  const { head, tail } = alikeEnds(old, now);
  let start = lineStart(old, head);
  // Behind a line feed that both have: what ends with half a line ends with all of it.
  const common = old.slice(old.length - tail);
  const startsLine = isLineStart(old, old.length - tail) && isLineStart(now, now.length - tail);
  let kept = startsLine ? 0 : common.indexOf('\n') + 1 || common.length;
  for (let line = 0; line < context; line++) {
    if (start > 0) start = lineStart(old, start - 1);
    kept = common.indexOf('\n', kept) + 1 || common.length;
  }
  const left = common.length - kept;
  return { old: old.slice(start, old.length - left), now: now.slice(start, now.length - left), skipped: countOf(old.slice(0, start), '\n') };
};

/** Characters that both begin with, and of what is left those that both end with. */
const alikeEnds = (old: string, now: string): { readonly head: number; readonly tail: number } => {
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old.charCodeAt(head) === now.charCodeAt(head)) head++;
  let tail = 0;
  while (tail < most - head && old.charCodeAt(old.length - 1 - tail) === now.charCodeAt(now.length - 1 - tail)) tail++;
  return { head, tail };
};
const isLineStart = (text: string, at: number): boolean => at === 0 || text[at - 1] === '\n';
const lineStart = (text: string, at: number): number => (at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1);
