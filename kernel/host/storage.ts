import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Ids, PluginStorage } from '../plugin.ts';
import { validate } from '../schema.ts';

/** JSON below `$CAST_HOME/storage`, one file a plugin, private to the user. */
export const createStorage = (home: string, plugin: string, root: string, ids: Ids): { readonly user: PluginStorage; readonly project: PluginStorage } => {
  const project = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return { user: inFile(join(home, 'storage', `${plugin}.json`), ids), project: inFile(join(home, 'storage', project, `${plugin}.json`), ids) };
};

const inFile = (file: string, ids: Ids): PluginStorage => {
  // Writers of one file wait for each other; the rename makes each write whole.
  let last: Promise<unknown> = Promise.resolve();
  const read = async (): Promise<Record<string, unknown>> => {
    try {
      const value: unknown = JSON.parse(await readFile(file, 'utf8'));
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
  };
  return {
    get: async (key, data) => {
      const value = (await read().catch(() => ({}) as Record<string, unknown>))[key];
      if (value === undefined) return undefined;
      const outcome = await validate(data, value);
      return outcome.issues ? undefined : (outcome.value as never);
    },
    set: (key, value) => {
      const next = last.then(async () => {
        const all = { ...(await read()), [key]: value };
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        const draft = `${file}.${ids.next('draft')}`;
        await writeFile(draft, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
        await rename(draft, file);
      });
      last = next.catch(() => undefined);
      return next;
    },
  };
};
