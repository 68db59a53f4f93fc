/** Where credentials are, and what of an environment a session may show to anybody else. */
import { withoutCredentials } from './child-environment.ts';
import type { SavedSecrets } from './secrets.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `CAST_API_KEY`, then what the official clients read. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = { CAST_API_KEY: ['CAST_API_KEY', 'OPENAI_API_KEY'] };

export interface Credentials {
  /** From the environment, else the saved one. */
  get(name: string): Promise<string | undefined>;
  /** Saves it for all sessions; undefined removes it. */
  set(name: string, value: string | undefined): Promise<void>;
  /** These as well must never leave the process. */
  protect(values: readonly string[]): void;
  /** Values of the environment that must never leave the process; what is asked for as a secret joins them. */
  readonly values: ReadonlySet<string>;
  /** The environment without them. */
  readonly environment: Readonly<Record<string, string>>;
}

export const createCredentials = (environment: Environment, saved: SavedSecrets): Credentials => {
  const open = withoutCredentials(environment);
  const values = new Set(Object.entries(environment).flatMap(([name, value]) => (value !== undefined && open[name] === undefined ? [value] : [])));
  return {
    environment: open,
    values,
    get: async (name) => {
      const given = (SPELLINGS[name] ?? [name]).map((spelling) => environment[spelling]).find((value) => value !== undefined && value !== '');
      if (given === undefined) return saved.get(name);
      // Under a name that does not look like a credential, perhaps; somebody uses it as one.
      values.add(given);
      return given;
    },
    set: (name, value) => saved.set(name, value),
    protect: (more) => {
      for (const value of more) values.add(value);
    },
  };
};
