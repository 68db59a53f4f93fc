/** What the calls of one generation of a session work with. */
import type { Powers, ShellPart } from '../../kernel/index.ts';
import type { ShellLimits } from './limits.ts';
import type { Remains } from './remains.ts';

export interface Bench {
  readonly process: Powers['process'];
  readonly limits: ShellLimits;
  /** Paths of shells, tried in this order. */
  readonly shells: readonly string[];
  readonly remains: Remains;
  /** Null where nothing goes on in the background. */
  readonly background: Background | null;
  /** A text that no other command has. */
  nextMark(): string;
  /** Epoch milliseconds. */
  now(): number;
}
export interface Background {
  /** Tasks that this session has had, in this process or an earlier one. */
  count(): number;
  /** Keeps that there has been a task of this number. */
  record(number: number): Promise<void>;
  /** For the model, as soon as it listens. */
  tell(text: string): void;
  /** Simple commands of a text; undefined when it is not understood. */
  parts(command: string): readonly ShellPart[] | undefined;
}
