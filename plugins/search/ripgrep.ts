import { lstat } from 'node:fs/promises';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Child, messageOf, ToolError } from '../../kernel/index.ts';
import { invalidPattern } from './answering.ts';
import { Complaints } from './complaints.ts';
import { findIn } from './file-scan.ts';
import { inTime, tooHard } from './in-time.ts';
import { LIMITS } from './limits.ts';
import { nameFrom, UNREADABLE } from './name.ts';
import { hasObstacleAbove, hasObstacleBelow } from './obstacle.ts';
import type { Desk } from './place.ts';
import { type Engine, EngineBlocked, EngineMissing, type FileMatches, longLines, type Query, type Remarks, type TextQuery, tooSlow } from './query.ts';
import { piecesOf } from './read.ts';
import { OUTPUT_FLAGS, OutputReader } from './ripgrep-output.ts';
import { SKIPPED } from './rules.ts';
import { Silence } from './silence.ts';

/** Searches with the ripgrep that comes with the package. Never one from PATH, never through a shell. */
export const ripgrep = (desk: Desk): Engine => ({
  async files(query, visit) {
    const paths = new PathReader();
    return run(desk, query, ['--files', '--null', ...flags(query), '--', query.path], (bytes) => {
      for (const path of paths.take(bytes)) if (query.wanted.test(path)) visit(path);
    });
  },
  async matches(query, { isOpen, visit }) {
    const output = new OutputReader((path) => query.wanted.test(path) && isOpen(path), finderOf(query));
    const tell = async (files: Iterable<FileMatches>): Promise<void> => {
      for (const file of files) if (!(await isLateBinary(file, query))) visit(file);
    };
    const args = [...matchFlags(query), ...flags(query), '--', query.pattern.argument, query.path];
    const remarks = await run(desk, query, args, (bytes) => tell(output.take(bytes)));
    await tell(output.end());
    return { ...remarks, notes: [...remarks.notes, ...longLines(output.longLines)] };
  },
});

/** Of what only ripgrep can read nothing is known. */
const finderOf = ({ pattern }: TextQuery): ((line: string) => number | undefined) => {
  let regex: RegExp | null | undefined;
  return (line) => {
    regex ??= regexOf(pattern);
    const known = regex;
    return known ? inTime(() => findIn(known, line, 0)) : undefined;
  };
};
const regexOf = (pattern: TextQuery['pattern']): RegExp | null => {
  try {
    return pattern.regex();
  } catch {
    return null;
  }
};

const flags = ({ rules, isFile, wanted }: Query): readonly string[] => [
  '--no-config',
  '--hidden',
  '--no-ignore-dot',
  '--no-ignore-messages',
  ...(rules.isGit ? [] : ['--no-require-git']),
  ...(rules.isIgnored ? ['--no-ignore-parent', '--no-ignore-global', '--no-ignore-exclude'] : []),
  // As a type of files: a `--glob` would bring back what is ignored. Which of them are wanted is looked at once more.
  ...(wanted.endings ? ['--type=wanted', ...wanted.endings.map((ending) => `--type-add=wanted:*${ending}`)] : []),
  ...(isFile ? [] : [...SKIPPED].map((name) => `--glob=!${name}`)),
];

const matchFlags = ({ pattern, limit, context }: TextQuery): readonly string[] => [
  ...OUTPUT_FLAGS,
  '--no-mmap',
  ...pattern.flags,
  `--max-count=${limit}`,
  `--context=${context}`,
];

/** ripgrep leaves a file that has enough matches, and may not have come to the NUL that makes it binary. */
const isLateBinary = async ({ path, rows }: FileMatches, { limit, signal }: TextQuery): Promise<boolean> => {
  if (rows.filter((row) => row.isMatch).length < limit) return false;
  try {
    for (const piece of piecesOf(path, () => undefined)) {
      if (!piece) return true;
      if (piece.isLast) return false;
      await setImmediate();
      signal.throwIfAborted();
    }
  } catch (error) {
    // It can have gone meanwhile: what was found was there.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
  }
  return false;
};

const run = async (desk: Desk, query: Query, args: readonly string[], take: (bytes: Uint8Array) => Promise<void> | void): Promise<Remarks> => {
  if (await hasObstacleAbove(query, desk)) throw new EngineBlocked();
  const child = await start(desk, query, args);
  const silence = new Silence(child, (signal) => hasObstacleBelow({ ...query, signal: AbortSignal.any([query.signal, signal]) }, desk));
  const complaints = new Complaints();
  let size = 0;
  try {
    for await (const { from, bytes } of child.output) {
      silence.end();
      if (from === 'out') {
        await take(bytes);
        size += bytes.length;
        if (size > LIMITS.calmFrom && bytes.length < LIMITS.calmBelow) await setTimeout(LIMITS.calmMs);
      } else complaints.take(bytes);
    }
  } catch (error) {
    await child.kill();
    throw error;
  } finally {
    silence.close();
  }
  const code = await exitOf(child, silence, query);
  return remarks(complaints, code > 1, query);
};

const exitOf = async (child: Child, silence: Silence, query: Query): Promise<number> => {
  const { code, signal, timedOut } = await child.exit;
  query.signal.throwIfAborted();
  if (silence.isBlocked) throw new EngineBlocked();
  if (timedOut) throw tooSlow();
  if (code === null) throw new EngineMissing(`it ended by ${signal ?? 'itself'}`);
  return code;
};

const start = async (desk: Desk, query: Query, args: readonly string[]): Promise<Child> => {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    // Where it runs decides to what anchored patterns of the user's own excludes file refer.
    const options = { cwd: query.rules.root, purpose: 'search', signal: query.signal, timeoutMs: LIMITS.timeoutMs };
    return await desk.powers.process.spawn([rgPath, ...args], options);
  } catch (error) {
    query.signal.throwIfAborted();
    throw new EngineMissing(messageOf(error), { cause: error });
  }
};

/** A name may have line feeds, and all that the message has. */
const COMPLAINT = /^rg: ([\s\S]+?): [^:\n]+ \(os error (\d+)\)$/gm;

/** Paths that could not be read; anything else that was said is an error when the exit status says so. */
const remarks = async ({ text: complaints, isCut }: Complaints, isFailed: boolean, query: Query): Promise<Remarks> => {
  const unreadable: string[] = [];
  for (const [, path = '', code] of complaints.matchAll(COMPLAINT)) {
    // 2: it was removed meanwhile.
    if (code !== '2' && (await isOfInterest(path, query))) unreadable.push(path);
  }
  const rest = complaints
    .replace(COMPLAINT, '')
    .split('\n')
    .filter((line) => line !== '');
  if (isFailed && rest.length > 0) throw failure(rest);
  return { unreadable, notes: isCut ? ['More paths could not be read than are counted here.'] : [] };
};

/** There may be wanted files in a folder, whatever its name is. */
const isOfInterest = async (path: string, { wanted }: Query): Promise<boolean> =>
  wanted.test(path) ||
  lstat(path).then(
    (found) => found.isDirectory(),
    () => true,
  );

const failure = (lines: readonly string[]): ToolError => {
  const text = lines.join('\n');
  if (/PCRE2.*limit/i.test(text)) return tooHard();
  if (!/regex|PCRE2|pattern/i.test(text)) return new ToolError('EXTERNAL_ERROR', `ripgrep failed: ${text.slice(0, 1000)}`, { retryable: true });
  const reason = lines.find((line) => line.startsWith('error: '))?.slice(7) ?? lines.find((line) => line.startsWith('PCRE2: '))?.slice(7) ?? text;
  return invalidPattern(reason.slice(0, 500));
};

const namesIn = (bytes: Buffer): readonly string[] => {
  const names: string[] = [];
  for (let from = 0, end = bytes.indexOf(0); end >= 0; from = end + 1, end = bytes.indexOf(0, from)) names.push(nameFrom(bytes.subarray(from, end)));
  return names;
};

/** Reads paths that end with a NUL. */
class PathReader {
  #rest = Buffer.alloc(0);

  take(bytes: Uint8Array): readonly string[] {
    const all = Buffer.concat([this.#rest, bytes]);
    const end = all.lastIndexOf(0);
    this.#rest = Buffer.from(all.subarray(end + 1));
    if (end < 0) return [];
    const text = all.toString('utf8', 0, end);
    if (!text.includes(UNREADABLE)) return text.split('\0');
    return namesIn(all.subarray(0, end + 1));
  }
}
