import { Script, createContext } from 'node:vm';
import { ToolError } from '../../kernel/index.ts';
import { TIMEOUT_MS, type Row, type TextQuery } from './query.ts';

/** The lines of a text that match, with those around them. Like ripgrep, the first `limit` matches set what is shown. */
export const scanText = (text: string, regex: RegExp, { limit, context }: Pick<TextQuery, 'limit' | 'context'>): readonly Row[] => {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const hits = firstHits(lines, regex, limit);
  const rows: Row[] = [];
  let next = 0;
  for (const hit of hits) {
    for (let index = Math.max(next, hit - context); index <= Math.min(hit + context, lines.length - 1); index++) {
      rows.push(rowAt(lines, index, regex));
      next = index + 1;
    }
  }
  return rows;
};

const firstHits = (lines: readonly string[], regex: RegExp, limit: number): readonly number[] => {
  const hits: number[] = [];
  for (let index = 0; index < lines.length && hits.length < limit; index++) if (regex.test(plain(lines[index]))) hits.push(index);
  return hits;
};

const rowAt = (lines: readonly string[], index: number, regex: RegExp): Row => {
  const text = plain(lines[index]);
  const at = regex.exec(text)?.index;
  return { line: index + 1, text, isMatch: at !== undefined, at: at ?? 0 };
};

const plain = (line = ''): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

/** Milliseconds that one batch may take: an unlucky pattern backtracks for ever and would stop everything else. */
const BATCH_MS = 2000;
const caller = new Script('work()');

/** Runs a piece of work that regular expressions may draw out, and ends it when it takes too long. */
export const inTime = <T>(work: () => T): T => {
  try {
    return caller.runInContext(createContext({ work }), { timeout: Math.min(BATCH_MS, TIMEOUT_MS) }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new ToolError('TIMEOUT', 'The pattern takes too long to match.', { fix: 'Make it simpler: avoid repeated groups that can match the same text.' });
  }
};

const isWide = (bytes: Buffer): 'le' | 'be' | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'be' : undefined;
};

export const isBinary = (bytes: Buffer): boolean => isWide(bytes) === undefined && bytes.includes(0);

export const textOf = (bytes: Buffer): string => {
  const wide = isWide(bytes);
  if (wide === undefined) return bytes.toString('utf8').replace(/^\ufeff/, '');
  const even = bytes.subarray(2, bytes.length - (bytes.length % 2));
  return (wide === 'le' ? even : Buffer.from(even).swap16()).toString('utf16le');
};
