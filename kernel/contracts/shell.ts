/** The bash grammar, for whoever must understand a command before it runs. */
export interface ShellPart {
  /** The command's words with quotes removed; a word that expands at run time holds its source text. */
  readonly words: readonly string[];
  /** Index of words whose value is not known before the command runs. */
  readonly dynamic: readonly number[];
  /** `NAME=value` before the command. */
  readonly assignments: readonly string[];
  /** Files it redirects into. */
  readonly writes: readonly string[];
  /** Whether it stands inside a substitution. */
  readonly nested: boolean;
  readonly source: string;
}
export interface ShellService {
  /** Every simple command of a text, nested ones included; undefined when it cannot be parsed with certainty. */
  parts(command: string): readonly ShellPart[] | undefined;
  /** True only when every part is known to change nothing. */
  isReadOnly(command: string): boolean;
  /** Reasons why a person should look at it first; empty when there are none. */
  dangers(command: string): readonly string[];
}
