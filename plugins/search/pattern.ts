import { messageOf, ToolError } from '../../kernel/index.ts';
import { invalidPattern } from './answering.ts';
import { LIMITS } from './limits.ts';
import { type Parsed, parsePattern } from './pattern-parse.ts';
import { type Choice, lineFeed, NO_NUL, PatternForeign, PatternWrong } from './pattern-tree.ts';
import { looksAround, needleOf, toJavaScript, toPcre } from './pattern-write.ts';

export interface AskedPattern {
  readonly pattern: string;
  readonly literal?: boolean | undefined;
  readonly ignoreCase?: boolean | undefined;
}

/** What is looked for, for both engines: they find the same. */
export interface Pattern {
  /** For ripgrep, with the options that say how to read it. */
  readonly argument: string;
  readonly flags: readonly string[];
  /** Some text that every match contains. */
  readonly needle: string | undefined;
  /** For texts of any number of lines; no match goes beyond one. Throws a refusal when JavaScript cannot express it. */
  regex(): RegExp;
}

/** Throws a refusal when the pattern is wrong. */
export const readPattern = (asked: AskedPattern): Pattern => {
  try {
    return checked(asked);
  } catch (error) {
    if (error instanceof PatternWrong) throw invalidPattern(error.message);
    throw error;
  }
};

/** Neither a NUL nor half of a character can be handed to ripgrep, and what is too long for an argument keeps it from being started. */
const checked = (asked: AskedPattern): Pattern => {
  if (asked.pattern.includes('\0')) throw new PatternWrong(NO_NUL);
  if (/\p{Cs}/u.test(asked.pattern)) throw new PatternWrong('it has half of a character');
  const pattern = understood(asked);
  if (Buffer.byteLength(pattern.argument) > LIMITS.pattern) throw new PatternWrong('it is too long');
  return pattern;
};

const caseFlag = (ignoreCase: boolean): string => (ignoreCase ? '--ignore-case' : '--case-sensitive');

const understood = ({ pattern, literal = false, ignoreCase = false }: AskedPattern): Pattern => {
  const { choice, plain, isReturn, foreign, reference } = literal ? parseText(pattern, ignoreCase) : parsePattern(pattern, ignoreCase);
  if (foreign !== undefined) return onlyFor(plain, ignoreCase, foreign);
  const shared = {
    needle: needleOf(choice),
    regex: () => {
      if (reference !== undefined) throw onlyRipgrep(reference);
      return javaScript(choice, isReturn);
    },
  };
  if (looksAround(choice)) {
    // PCRE2 has its own idea of where a line ends and what a letter is, so nothing is left to it.
    const { argument, ignoresCase } = toPcre(choice, isReturn);
    return { ...shared, argument, flags: ['--pcre2', caseFlag(ignoresCase)] };
  }
  const flags = [literal ? '--fixed-strings' : '--engine=default', caseFlag(ignoreCase), ...(isReturn ? [] : ['--crlf'])];
  return { ...shared, argument: plain, flags };
};

/** Left to ripgrep, whichever of its engines knows it. */
const onlyFor = (argument: string, ignoreCase: boolean, foreign: string): Pattern => ({
  argument,
  flags: ['--engine=auto', caseFlag(ignoreCase), '--crlf'],
  needle: undefined,
  regex: () => {
    throw onlyRipgrep(foreign);
  },
});

const parseText = (text: string, ignoreCase: boolean): Parsed => {
  if (text.includes('\n')) throw lineFeed();
  return {
    choice: [[...text].map((char) => ({ kind: 'char', char, ignoreCase }))],
    plain: text,
    isReturn: text.includes('\r'),
    foreign: undefined,
    reference: undefined,
  };
};

const javaScript = (choice: Choice, isReturn: boolean): RegExp => {
  try {
    return toJavaScript(choice, isReturn);
  } catch (error) {
    throw error instanceof PatternForeign ? onlyRipgrep(error.message) : invalidPattern(messageOf(error).slice(-200));
  }
};

const onlyRipgrep = (message: string): ToolError =>
  new ToolError('UNAVAILABLE', `The pattern has something that cannot be searched for without ripgrep, which is not in use: ${message.slice(0, 200)}`, {
    fix: 'Write the pattern without it.',
  });
