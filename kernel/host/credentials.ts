/** Where credentials are, and what of an environment a session may show to anybody else. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutCredentials } from './child-environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `CAST_API_KEY`, then what the official clients read. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = { CAST_API_KEY: ['CAST_API_KEY', 'OPENAI_API_KEY'] };

export interface Credentials {
  get(name: string): Promise<string | undefined>;
  /** Values of the environment that must never leave the process; what is asked for as a secret joins them. */
  readonly values: ReadonlySet<string>;
  /** The environment without them. */
  readonly environment: Readonly<Record<string, string>>;
}

/** `saved` gathers what was read from `secrets.json`, for all sessions of a process. */
export const createCredentials = (home: string, environment: Environment, saved = new Set<string>()): Credentials => {
  const open = withoutCredentials(environment);
  const values = new Set(Object.entries(environment).flatMap(([name, value]) => (value !== undefined && open[name] === undefined ? [value] : [])));
  let reading: Promise<Readonly<Record<string, unknown>>> | undefined;
  return {
    environment: open,
    values,
    get: async (name) => {
      const given = (SPELLINGS[name] ?? [name]).map((spelling) => environment[spelling]).find((value) => value !== undefined && value !== '');
      if (given !== undefined) {
        // Under a name that does not look like a credential, perhaps; somebody uses it as one.
        values.add(given);
        return given;
      }
      reading ??= readSaved(join(home, 'secrets.json'));
      const all = await reading;
      for (const each of Object.values(all)) if (typeof each === 'string') saved.add(each);
      const value = all[name];
      return typeof value === 'string' ? value : undefined;
    },
  };
};

/** Missing or unreadable means that nothing is saved; a request then fails with what the provider says about the key. */
const readSaved = async (file: string): Promise<Readonly<Record<string, unknown>>> => {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};
