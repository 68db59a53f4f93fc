import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What the last process that was ended left behind. */
export interface BlockedRecord {
  readonly plugin: string;
  readonly where: string;
  readonly at: number;
  /** It did not have the thread itself, but was the last one under way. */
  readonly isSuspect: boolean;
}

export const blockedFile = (home: string): string => join(home, 'blocked.json');

/** The record of a blocked process; undefined when the last one ended well. */
export const peekBlocked = (home: string): BlockedRecord | undefined => {
  try {
    const record = JSON.parse(readFileSync(blockedFile(home), 'utf8')) as Partial<BlockedRecord>;
    if (typeof record.plugin !== 'string' || typeof record.where !== 'string') return undefined;
    return { plugin: record.plugin, where: record.where, at: record.at ?? 0, isSuspect: record.isSuspect === true };
  } catch {
    return undefined;
  }
};

/** Reads and forgets it, so that the start after this one has the plugin again. */
export const takeBlocked = (home: string): BlockedRecord | undefined => {
  const record = peekBlocked(home);
  rmSync(blockedFile(home), { force: true });
  return record;
};
