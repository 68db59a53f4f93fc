import { ToolError } from '../../kernel/index.ts';
import type { Rules } from './rules.ts';

export interface Query {
  /** Canonical. */
  readonly path: string;
  readonly isFile: boolean;
  readonly rules: Rules;
  readonly signal: AbortSignal;
}
export interface TextQuery extends Query {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly literal: boolean;
  readonly context: number;
  /** Matches a file. */
  readonly limit: number;
  /** Which files are of interest, by absolute path. */
  readonly wants: (path: string) => boolean;
}

export interface Row {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
  /** Where in `text` the first match begins. */
  readonly at: number;
}
export interface FileMatches {
  readonly path: string;
  readonly rows: readonly Row[];
}

/** What a reader must know besides the results. */
export interface Remarks {
  /** Paths that could not be read. */
  readonly unreadable: readonly string[];
  readonly notes: readonly string[];
}

/** Visits everything in any order; `visit` answers false when it has enough in the order of `pathKey`. */
export interface Engine {
  files(query: Query, visit: (path: string) => boolean): Promise<Remarks>;
  matches(query: TextQuery, visit: (file: FileMatches) => boolean): Promise<Remarks>;
}

/** Milliseconds that one search may take. */
export const TIMEOUT_MS = 10_000;
export const tooSlow = (): ToolError =>
  new ToolError('TIMEOUT', `The search took longer than ${TIMEOUT_MS / 1000} seconds.`, {
    retryable: true,
    fix: 'Search a smaller folder, or make the pattern simpler.',
  });

/** Thrown by an engine that cannot be started. */
export class EngineMissing extends Error {}
