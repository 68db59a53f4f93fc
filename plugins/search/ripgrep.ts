import { type Child, messageOf, ToolError } from '../../kernel/index.ts';
import { type Engine, EngineMissing, type FileMatches, type Query, type Remarks, type Row, type TextQuery, TIMEOUT_MS, tooSlow } from './query.ts';
import type { Desk } from './place.ts';
import { invalidPattern } from './answering.ts';
import { SKIPPED } from './rules.ts';

/** Searches with the ripgrep that comes with the package. Never one from PATH, never through a shell. */
export const ripgrep = (desk: Desk): Engine => ({
  async files(query, visit) {
    const split = splitter(0, (record) => void visit(record.toString('utf8')));
    return run(desk, query, ['--files', '--null', ...flags(query), '--', query.path], split);
  },
  async matches(query, visit) {
    const read = reader(query, visit);
    const split = splitter(10, (record) => read(JSON.parse(record.toString('utf8')) as Message));
    return run(desk, query, [...matchFlags(query), ...flags(query), '--', query.pattern, query.path], split);
  },
});

const flags = ({ rules }: Query): readonly string[] => [
  '--no-config',
  '--hidden',
  '--no-ignore-dot',
  '--no-ignore-messages',
  ...(rules.isGit ? [] : ['--no-require-git']),
  ...(rules.isIgnored ? ['--no-ignore-parent', '--no-ignore-global', '--no-ignore-exclude'] : []),
  ...SKIPPED.flatMap((name) => ['--glob', `!${name}`]),
];

const matchFlags = (query: TextQuery): readonly string[] => [
  '--json',
  '--crlf',
  // Falls back to PCRE2 for what the fast engine does not know, such as looking around.
  '--engine=auto',
  `--max-count=${query.limit}`,
  `--context=${query.context}`,
  ...(query.ignoreCase ? ['--ignore-case'] : ['--case-sensitive']),
  ...(query.literal ? ['--fixed-strings'] : []),
];

const run = async (desk: Desk, query: Query, args: readonly string[], take: (bytes: Uint8Array) => void): Promise<Remarks> => {
  const child = await start(desk, query, args);
  let errors = '';
  for await (const { from, bytes } of child.output) {
    if (from === 'out') take(bytes);
    else if (errors.length < MAX_ERRORS) errors += Buffer.from(bytes).toString('utf8');
  }
  const { code, signal, timedOut } = await child.exit;
  query.signal.throwIfAborted();
  if (timedOut) throw tooSlow();
  if (code === null) throw new EngineMissing(`it ended by ${signal ?? 'itself'}`);
  return remarks(errors, code > 1);
};
const MAX_ERRORS = 65_536;

const start = async (desk: Desk, query: Query, args: readonly string[]): Promise<Child> => {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    // Where it runs decides to what anchored patterns of the user's own excludes file refer.
    return await desk.powers.process.spawn([rgPath, ...args], { cwd: query.rules.root, purpose: 'search', signal: query.signal, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    query.signal.throwIfAborted();
    throw new EngineMissing(messageOf(error), { cause: error });
  }
};

/** Paths that could not be read; anything else that was said is an error when the exit status says so. */
const remarks = (errors: string, isFailed: boolean): Remarks => {
  const unreadable: string[] = [];
  const rest: string[] = [];
  for (const line of errors.split('\n').filter((text) => text !== '')) {
    const [, path, code] = /^rg: (.+): .+ \(os error (\d+)\)$/.exec(line) ?? [];
    if (path === undefined) rest.push(line);
    // 2: it was removed meanwhile.
    else if (code !== '2') unreadable.push(path);
  }
  if (isFailed && rest.length > 0) throw failure(rest);
  return { unreadable, notes: [] };
};

const failure = (lines: readonly string[]): ToolError => {
  const text = lines.join('\n');
  if (!/regex|PCRE2|pattern/i.test(text)) return new ToolError('EXTERNAL_ERROR', `ripgrep failed: ${text.slice(0, 1000)}`, { retryable: true });
  const reason = lines.find((line) => line.startsWith('error: '))?.slice(7) ?? lines.find((line) => line.startsWith('PCRE2: '))?.slice(7) ?? text.slice(0, 500);
  return invalidPattern(reason);
};

/** Bytes of one record; longer ones are passed over, so that a line of a gigabyte is not held. */
const MAX_RECORD = 16 * 1024 * 1024;

/** Cuts a stream into records that end with a byte. */
const splitter = (end: number, visit: (record: Buffer) => void): ((bytes: Uint8Array) => void) => {
  let pieces: Buffer[] = [];
  let size = 0;
  return (bytes) => {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    for (let at = chunk.indexOf(end); at >= 0; at = chunk.indexOf(end, from)) {
      if (size <= MAX_RECORD) visit(Buffer.concat([...pieces, chunk.subarray(from, at)]));
      pieces = [];
      size = 0;
      from = at + 1;
    }
    const rest = chunk.subarray(from);
    size += rest.length;
    if (size > MAX_RECORD) pieces = [];
    else if (rest.length > 0) pieces.push(Buffer.from(rest));
  };
};

/** A text, or bytes that are no UTF-8. */
interface Raw {
  readonly text?: string;
  readonly bytes?: string;
}
interface Line {
  readonly type: 'match' | 'context';
  readonly data: { readonly lines: Raw; readonly line_number: number; readonly submatches: readonly { readonly start: number }[] };
}
type Message =
  | Line
  | { readonly type: 'begin'; readonly data: { readonly path: Raw } }
  | { readonly type: 'end'; readonly data: { readonly binary_offset: number | null } }
  | { readonly type: 'summary' };

/** Puts the messages about one file together. */
const reader = (query: TextQuery, visit: (file: FileMatches) => boolean): ((message: Message) => void) => {
  let file: { readonly path: string; readonly rows: Row[] } | undefined;
  const begin = (path: string): void => {
    file = query.wants(path) ? { path, rows: [] } : undefined;
  };
  const end = (isBinary: boolean): void => {
    if (file && file.rows.length > 0 && !isBinary) visit(file);
    file = undefined;
  };
  return (message) => {
    if (message.type === 'begin') begin(bytesOf(message.data.path).toString('utf8'));
    else if (message.type === 'end') end(message.data.binary_offset !== null);
    else if (message.type !== 'summary') file?.rows.push(rowOf(message));
  };
};

const bytesOf = ({ text, bytes }: Raw): Buffer => (bytes === undefined ? Buffer.from(text ?? '') : Buffer.from(bytes, 'base64'));

const rowOf = ({ type, data }: Line): Row => {
  const bytes = bytesOf(data.lines);
  const start = data.submatches[0]?.start ?? 0;
  return {
    line: data.line_number,
    text: bytes.toString('utf8').replace(/\r?\n$/, ''),
    isMatch: type === 'match',
    at: bytes.subarray(0, start).toString('utf8').length,
  };
};
