import { ToolError } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';
import type { Pattern } from './pattern.ts';
import type { Rules } from './rules.ts';
import type { Wildcard } from './wildcard.ts';

export interface Query {
  /** Canonical. */
  readonly path: string;
  readonly isFile: boolean;
  readonly rules: Rules;
  readonly signal: AbortSignal;
  /** Which files are of interest. */
  readonly wanted: Wildcard;
}
export interface TextQuery extends Query {
  readonly pattern: Pattern;
  readonly context: number;
  /** Matches a file. */
  readonly limit: number;
}

export interface Row {
  /** From 1. */
  readonly line: number;
  /** As it is shown: of a long line the part around the match. */
  readonly text: string;
  readonly isMatch: boolean;
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

/** Takes what is found, in any order. */
export interface Visitor {
  /** Whether what is in a file can still come into the answer; else it need not be visited. */
  isOpen(path: string): boolean;
  /** Answers false when it has enough of what comes in the order of `byPath`. */
  visit(file: FileMatches): boolean;
}
export interface Engine {
  files(query: Query, visit: (path: string) => void): Promise<Remarks>;
  matches(query: TextQuery, visitor: Visitor): Promise<Remarks>;
}

export const tooSlow = (): ToolError =>
  new ToolError('TIMEOUT', `The search took longer than ${LIMITS.timeoutMs / 1000} seconds.`, {
    retryable: true,
    fix: 'Search a smaller folder, or make the pattern simpler.',
  });

export const longLines = (count: number): readonly string[] =>
  count === 0 ? [] : [`${count} ${count === 1 ? 'line' : 'lines'} over ${LIMITS.line / 1024 / 1024} MiB left out.`];

/** Thrown by an engine that would wait for ever for what another leaves out. */
export class EngineBlocked extends Error {}
/** Thrown by an engine that cannot be started. */
export class EngineMissing extends Error {}
