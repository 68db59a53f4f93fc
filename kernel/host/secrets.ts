/** `$CAST_HOME/secrets.json`: keys by name, for its owner alone. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CastError } from '../errors.ts';
import { systemClock } from './clock.ts';
import { isJsonObject, type JsonObject, readJsonObject } from './json-file.ts';
import { changeLocked } from './locked-file.ts';

/** One for all sessions of a process. */
export class SavedSecrets {
  /** Every value that was read or saved: no session may show it. */
  readonly values = new Set<string>();
  readonly #file: string;

  constructor(home: string) {
    this.#file = join(home, 'secrets.json');
  }

  /** Read anew each time: another process may have saved it meanwhile. */
  async get(name: string): Promise<string | undefined> {
    const all = await readSaved(this.#file);
    for (const each of Object.values(all)) if (typeof each === 'string') this.values.add(each);
    const value = Object.hasOwn(all, name) ? all[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  }

  /** Undefined removes it. Throws CONFIG_INVALID when the file is damaged, or the name is none. */
  async set(name: string, value: string | undefined): Promise<void> {
    if (!/^[A-Za-z][\w.-]{0,199}$/.test(name)) {
      throw new CastError('CONFIG_INVALID', `${JSON.stringify(name)} is no name for a secret`, { fix: 'Use letters, digits, dots, hyphens and underscores.' });
    }
    if (value !== undefined) this.values.add(value);
    await changeLocked({ file: this.#file, clock: systemClock, code: 'CONFIG_INVALID' }, async () => {
      const { [name]: _, ...rest } = await readJsonObject(this.#file);
      return `${JSON.stringify(value === undefined ? rest : { ...rest, [name]: value }, null, 2)}\n`;
    });
  }
}

/** Missing or unreadable means that nothing is saved; a request then fails with what the provider says about the key. */
const readSaved = async (file: string): Promise<JsonObject> => {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
};
