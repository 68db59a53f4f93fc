/** JSON files that people edit by hand: an error names file, line and column. */
import { CastError, messageOf, type LayerName } from '../../kernel/index.ts';

export interface JsonSource {
  readonly file: string;
  readonly layer: LayerName;
  readonly text: string;
}

const FAULTS: Readonly<Record<string, string>> = {
  InvalidCommentToken: 'comments are not allowed',
  CommaExpected: 'a comma is missing',
  ColonExpected: 'a colon is missing',
  PropertyNameExpected: 'a key in double quotes is missing',
  ValueExpected: 'a value is missing',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'something follows the end of the value',
  UnexpectedEndOfString: 'a text is not closed',
  UnexpectedEndOfComment: 'a comment is not closed',
};

/** Throws CONFIG_INVALID. Never repairs: what is not plain JSON was perhaps meant otherwise. */
export const parseJson = async (source: JsonSource): Promise<unknown> => {
  try {
    return JSON.parse(source.text) as unknown;
  } catch (error) {
    throw await explain(source, error);
  }
};

const explain = async ({ file, layer, text }: JsonSource, cause: unknown): Promise<CastError> => {
  const first = text.trim() === '' ? { offset: 0, what: 'the file is empty' } : await firstError(text);
  const { line, column } = position(text, first.offset);
  const what = first.what ?? messageOf(cause);
  return new CastError('CONFIG_INVALID', `${file}:${line}:${column}: ${what} (${layer})`, {
    cause,
    fix: `Mend line ${line}, column ${column}${text.trim() === '' ? ', for instance with {}' : ''}. The file was not changed.`,
  });
};

const firstError = async (text: string): Promise<{ readonly offset: number; readonly what?: string }> => {
  if (text.startsWith('\u{feff}')) return { offset: 0, what: 'the file begins with a byte order mark; save it as plain UTF-8' };
  const { parse, printParseErrorCode } = await import('jsonc-parser');
  const errors: { error: number; offset: number; length: number }[] = [];
  parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors.sort((one, other) => one.offset - other.offset);
  if (!first) return { offset: 0 };
  const closes = /^[}\]]/.test(text.slice(first.offset));
  const follows = /,\s*$/.test(text.slice(0, first.offset));
  if (closes && follows) return { offset: text.lastIndexOf(',', first.offset), what: 'a comma stands before a closing bracket' };
  return { offset: first.offset, what: FAULTS[printParseErrorCode(first.error)] ?? 'this is not JSON' };
};

/** Both from 1. */
const position = (text: string, offset: number): { readonly line: number; readonly column: number } => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
};
