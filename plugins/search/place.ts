import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { type Clock, type Powers, type ToolCall, ToolError } from '../../kernel/index.ts';
import { shownName } from './name.ts';

/** What the three tools share within a session. */
export interface Desk {
  readonly powers: Pick<Powers, 'fs' | 'process'>;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly engine: 'auto' | 'ripgrep' | 'walk';
}

export interface Place {
  /** Canonical. */
  readonly path: string;
  readonly isFile: boolean;
  /** The working directory, canonical. */
  readonly base: string;
}

/** Finds where to search. What is missing, or neither a folder nor a regular file, is refused: it must not look like "no result". */
export const locate = async (path: string, call: ToolCall, desk: Desk): Promise<Place> => {
  if (path.trim() === '') throw new ToolError('INVALID_ARGUMENT', 'The path is empty.', { fix: 'Leave it out to search the working directory.' });
  const [canonical, base] = await Promise.all([desk.powers.fs.canonical(path, call.cwd), desk.powers.fs.canonical('.', call.cwd)]);
  const checked = call.paths[0];
  if (checked !== undefined && checked !== canonical) {
    throw new ToolError('CONFLICT', `${shownName(path)} leads to another place than when the call was checked.`, {
      retryable: true,
      fix: 'Make the call again.',
    });
  }
  const found = await stat(canonical).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) throw cannotLook(path, found.code);
  if (!found.isFile() && !found.isDirectory()) throw new ToolError('INVALID_ARGUMENT', `${shownName(path)} is neither a folder nor a regular file.`);
  return { path: canonical, isFile: found.isFile(), base };
};

export const locateFolder = async (path: string, call: ToolCall, desk: Desk): Promise<Place> => {
  const place = await locate(path, call, desk);
  if (place.isFile) throw new ToolError('INVALID_ARGUMENT', `${shownName(path)} is a file, not a folder.`, { fix: 'Use read for a file.' });
  return place;
};

const cannotLook = (path: string, code: string | undefined): ToolError => {
  if (code === 'EACCES' || code === 'EPERM') return new ToolError('PERMISSION_DENIED', `Permission denied by the file system: ${shownName(path)}`);
  return new ToolError('NOT_FOUND', `Path not found: ${shownName(path)}`, { fix: 'List the folder above it to see what is there.' });
};

const isWindows = process.platform === 'win32';
/** With `/` on every system. */
export const slashed = (path: string): string => (isWindows ? path.replaceAll('\\', '/') : path);

/** As the model is told: relative to the working directory when it lies beneath it. */
export const shownPath = ({ base }: Place, path: string): string => {
  const way = slashed(relative(base, path));
  if (way === '') return '.';
  return shownName(way === '..' || way.startsWith('../') ? slashed(path) : way);
};

/** Orders paths as a walk through sorted folders meets them: what is in `a` comes before `a-b`. */
export const byPath = (a: string, b: string): number => {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at === end ? a.length - b.length : placeOf(a.charCodeAt(at)) - placeOf(b.charCodeAt(at));
};

const placeOf = (code: number): number => (code === SLASH || (isWindows && code === BACKSLASH) ? 0 : code);
const SLASH = 47;
const BACKSLASH = 92;
