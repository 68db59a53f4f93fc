/** Where credentials are, and what of an environment a session may show to anybody else. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutCredentials } from './child-environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `CAST_API_KEY`, then what the official clients read. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = { CAST_API_KEY: ['CAST_API_KEY', 'OPENAI_API_KEY'] };

export interface Credentials {
  get(name: string): Promise<string | undefined>;
  /** Values that must never leave the process. */
  readonly values: readonly string[];
  /** The environment without them. */
  readonly environment: Readonly<Record<string, string>>;
}

export const createCredentials = (home: string, environment: Environment): Credentials => {
  const open = withoutCredentials(environment);
  const values = Object.entries(environment).flatMap(([name, value]) => (value !== undefined && open[name] === undefined ? [value] : []));
  let saved: Promise<Readonly<Record<string, unknown>>> | undefined;
  return {
    environment: open,
    values,
    get: async (name) => {
      const given = (SPELLINGS[name] ?? [name]).map((spelling) => environment[spelling]).find((value) => value !== undefined && value !== '');
      if (given !== undefined) return given;
      saved ??= readSaved(join(home, 'secrets.json'));
      const value = (await saved)[name];
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
