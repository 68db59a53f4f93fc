/** What went wrong with the store, in words for people. */
import { CastError, isCastError, messageOf } from '../../kernel/index.ts';
import type { Place } from './files.ts';

const codeOf = (error: unknown): string => {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
};

/** Whether the file itself is broken, so that a new one has to take its place. */
export const isDamage = (error: unknown): boolean => !isCastError(error) && /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));

/** Whether only the search is broken, which holds nothing of its own. */
export const isIndexDamage = (error: unknown): boolean => codeOf(error) === 'SQLITE_CORRUPT_VTAB';

const REBUILD = 'Run `npm rebuild better-sqlite3` where cast is installed.';
const CAUSES: readonly (readonly [pattern: RegExp, what: string, fix: (place: Place) => string])[] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'the disk is full', () => 'Free some disk space.'],
  [/^(SQLITE_READONLY|SQLITE_PERM|SQLITE_CANTOPEN|EROFS|EACCES|EPERM)/, 'it cannot be written', ({ folder }) => `Check that ${folder} can be written.`],
  [/^(SQLITE_BUSY|SQLITE_LOCKED)/, 'another process kept it locked', () => 'Try again when the other process is done.'],
  [/^SQLITE_IOERR/, 'reading or writing it failed', ({ folder }) => `Check the disk that holds ${folder}.`],
  [/^(ENOENT|ENOTDIR|EEXIST|ELOOP)/, 'its folder cannot be made', ({ home }) => `Check that ${home} is a folder, or set CAST_HOME.`],
  [/^(ERR_DLOPEN_FAILED|MODULE_NOT_FOUND|ERR_MODULE_NOT_FOUND)/, 'its native module better-sqlite3 cannot be loaded', () => REBUILD],
];
/** What the module says when nobody compiled it: an error without a code. */
const NO_BINDING = /could not locate the bindings file/i;

export const storeError = (error: unknown, place: Place): CastError => {
  if (isCastError(error)) return error;
  if (isDamage(error)) {
    return new CastError('STORE_CORRUPT', `The session store ${place.file} is damaged: ${messageOf(error)}.`, {
      cause: error,
      fix: `Move ${place.file} away; cast begins a new one.`,
    });
  }
  const code = NO_BINDING.test(messageOf(error)) ? 'MODULE_NOT_FOUND' : codeOf(error);
  const [, what, fix] = CAUSES.find(([pattern]) => pattern.test(code)) ?? [];
  return new CastError('STORE_UNAVAILABLE', `The session store ${place.file} cannot be used: ${what ?? messageOf(error)}.`, {
    cause: error,
    ...(fix && { fix: fix(place) }),
  });
};
