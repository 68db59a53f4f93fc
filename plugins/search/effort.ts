import type { ToolError } from '../../kernel/index.ts';
import { inTime, tooHard } from './in-time.ts';
import { LIMITS } from './limits.ts';

/** What it may cost to match texts with wildcards: where it can be much, it is done within a time. */
export interface Effort {
  bounded<T>(test: (text: string) => T, refusal?: () => ToolError): (text: string) => T;
}

/** Each star may stand for any number of characters, each pair of braces for any of its texts: all ways are tried in the worst case. */
export const effortOf = (patterns: readonly string[]): Effort => {
  const stars = most(patterns.map((pattern) => pattern.match(/\*+/g)?.length ?? 0));
  const choices = most(patterns.map(choicesOf));
  const ways = (length: number): number => {
    let count = choices;
    for (let star = 1; star <= stars && count <= LIMITS.ways; star += 1) count *= Math.max(1, length / star);
    return count;
  };
  return {
    bounded:
      (test, refusal = tooHard) =>
      (text) =>
        ways(text.length) <= LIMITS.ways ? test(text) : inTime(() => test(text), refusal),
  };
};

const choicesOf = (pattern: string): number => (pattern.match(/\{[^{}]*\}/g) ?? []).reduce((count, each) => count * each.split(',').length, 1);

const most = (counts: readonly number[]): number => counts.reduce((a, b) => Math.max(a, b), 0);
