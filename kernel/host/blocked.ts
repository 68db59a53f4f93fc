import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What the last process that was ended left behind. */
export interface BlockedRecord {
  readonly plugin: string;
  readonly where: string;
  readonly at: number;
}

export const blockedFile = (home: string): string => join(home, 'blocked.json');

/** Reads and forgets the record of a blocked process; undefined when the last one ended well. */
export const takeBlocked = (home: string): BlockedRecord | undefined => {
  try {
    const record = JSON.parse(readFileSync(blockedFile(home), 'utf8')) as Partial<BlockedRecord>;
    rmSync(blockedFile(home), { force: true });
    return typeof record.plugin === 'string' && typeof record.where === 'string'
      ? { plugin: record.plugin, where: record.where, at: record.at ?? 0 }
      : undefined;
  } catch {
    return undefined;
  }
};
