import { createHash } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import type { PluginStorage } from '../plugin.ts';
import { validate } from '../schema.ts';
import { systemClock } from './clock.ts';
import { changeLocked } from './locked-file.ts';

type Values = Readonly<Record<string, unknown>>;
type Warn = (text: string) => void;

/** JSON below `$CAST_HOME/storage`, one file a plugin, private to the user. */
export const createStorage = (home: string, plugin: string, root: string, warn: Warn): { readonly user: PluginStorage; readonly project: PluginStorage } => {
  const project = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return { user: inFile(join(home, 'storage', `${plugin}.json`), warn), project: inFile(join(home, 'storage', project, `${plugin}.json`), warn) };
};

const inFile = (file: string, warn: Warn): PluginStorage => {
  // The lock is for other scopes and processes; the chain keeps the order of this one's own changes.
  let last: Promise<unknown> = Promise.resolve();
  return {
    get: async (key, data) => {
      const value = (await read(file).catch((): Values => ({})))[key];
      if (value === undefined) return undefined;
      const outcome = await validate(data, value);
      return outcome.issues ? undefined : (outcome.value as never);
    },
    set: (key, value) => {
      // The age of a lock is told by the disk, so a session's own clock will not do.
      const target = { file, clock: systemClock, code: 'STORE_UNAVAILABLE' } as const;
      const next = last.then(() => changeLocked(target, async () => `${JSON.stringify({ ...(await readOrSetAside(file, warn)), [key]: value }, null, 2)}\n`));
      last = next.catch(() => undefined);
      return next;
    },
  };
};

/** Throws when it cannot be read or is not the JSON of an object. */
const read = async (file: string): Promise<Values> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('it holds no object');
  return value as Values;
};

/** A damaged file must not keep a plugin from storing anything ever again; its text is kept beside it. */
const readOrSetAside = async (file: string, warn: Warn): Promise<Values> => {
  try {
    return await read(file);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const aside = `${file}.bad-${systemClock.now()}`;
    await rename(file, aside);
    warn(`${file} is damaged (${messageOf(error)}); it begins anew, and what was in it is in ${aside}`);
    return {};
  }
};
