/** Writes `settings.json`: what is there is read again under the lock, and only the keys that change are changed. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ConfigView, LAYERS, type Origin } from '../contracts/config.ts';
import { CastError } from '../errors.ts';
import type { SavedSettings } from '../contracts/powers.ts';
import { systemClock } from './clock.ts';
import { ADDING, checkConfig, describeOrigin } from './config.ts';
import { isJsonObject, type JsonObject, readJsonObject } from './json-file.ts';
import { changeLocked } from './locked-file.ts';
import { unflatten } from './settings-aliases.ts';
import { openTrust } from './trust.ts';

export interface SettingsTarget {
  /** `$CAST_HOME`. */
  readonly home: string;
  /** Of the project; undefined outside of a session. */
  readonly root: string | undefined;
  readonly where: 'user' | 'project';
  /** As it is in force; without it no key counts as set elsewhere. */
  readonly config: ConfigView | undefined;
}

/** One value; undefined removes the key. */
interface Edit {
  readonly path: readonly string[];
  readonly value: unknown;
}
interface Place {
  readonly file: string;
  readonly origin: Origin;
}

/** Below the root of a project; as it is named in the record of what is trusted. */
const LOCAL = '.cast/settings.local.json';

/** Throws CONFIG_INVALID, and CONFIG_UNTRUSTED for a project whose settings would not be read. Nothing is written then. */
export const saveSettings = async (target: SettingsTarget, changes: JsonObject): Promise<SavedSettings> => {
  const place = placeOf(target);
  const edits = Object.entries(changes).flatMap(([key, value]) => editsOf(key.split('.'), value));
  checkConfig(edits.reduce(put, {}), place.origin);
  const shadowed = target.config ? shadowsOf(target.config, place, edits) : [];
  const { file } = place;
  const write = (): Promise<void> =>
    changeLocked({ file, clock: systemClock, code: 'CONFIG_INVALID' }, async () => {
      const before = unflatten(await readJsonObject(file)) as JsonObject;
      const updatedAt = new Date(systemClock.now()).toISOString();
      return `${JSON.stringify({ ...edits.reduce(put, before), updatedAt }, null, 2)}\n`;
    });
  await (target.where === 'project' ? keepingTrust(target, file, write) : write());
  return { file, keys: edits.map(({ path }) => path.join('.')), shadowed };
};

const placeOf = ({ home, root, where }: SettingsTarget): Place => {
  if (where === 'user') return placed('user-settings', join(home, 'settings.json'));
  if (root === undefined) throw new CastError('CONFIG_INVALID', 'there is no project to write settings for', { fix: 'Write them from a session.' });
  return placed('project-local', join(root, LOCAL));
};
const placed = (layer: Origin['layer'], file: string): Place => ({ file, origin: { layer, file } });

// ---- the changes ----

/** Keys below an object stand as they are: names of models have dots. */
const editsOf = (path: readonly string[], value: unknown): readonly Edit[] => {
  if (path.some((key) => key === '' || key === '__proto__')) {
    throw new CastError('CONFIG_INVALID', `${JSON.stringify(path.join('.'))} is no key of the settings`, { fix: 'Name a key such as permissions.mode.' });
  }
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [{ path, value }];
  return Object.entries(value).flatMap(([key, item]) => editsOf([...path, key], item));
};

const put = (bag: JsonObject, { path: [key = '', ...rest], value }: Edit): JsonObject => {
  const { [key]: known, ...others } = bag;
  if (rest.length === 0) return value === undefined ? others : { ...bag, [key]: value };
  const below = put(Object.hasOwn(bag, key) && isJsonObject(known) ? known : {}, { path: rest, value });
  // What a removal leaves empty says nothing.
  return value === undefined && Object.keys(below).length === 0 ? others : { ...bag, [key]: below };
};

// ---- who else sets them ----

/** Throws CONFIG_INVALID when a nearer file does: what is written would never be in force. */
const shadowsOf = (config: ConfigView, { origin: own }: Place, edits: readonly Edit[]): SavedSettings['shadowed'] => {
  const rank = LAYERS.indexOf(own.layer);
  const nearer = edits.flatMap((edit) => setElsewhere(config, edit).filter(({ origin }) => LAYERS.indexOf(origin.layer) > rank));
  const inFile = nearer.find(({ origin }) => origin.file !== undefined);
  if (inFile) throw heldBy(inFile, own, edits);
  return nearer;
};

interface Holder {
  readonly key: string;
  readonly origin: Origin;
}
/** The key itself, a value that stands in the place of what it is below, and all that is below it. */
const setElsewhere = (config: ConfigView, { path, value }: Edit): readonly Holder[] => {
  const found: Holder[] = [];
  let at: unknown = config.value;
  for (const [index, part] of path.entries()) {
    at = isJsonObject(at) && Object.hasOwn(at, part) ? at[part] : undefined;
    const key = path.slice(0, index + 1).join('.');
    const origin = config.origin(key);
    if (origin && !ADDING.has(key) && !isJsonObject(at) && !isDeepStrictEqual(at, value)) found.push({ key, origin });
  }
  const below = `${path.join('.')}.`;
  return [...found, ...config.entries().filter(({ key }) => key.startsWith(below))];
};

const heldBy = ({ key, origin }: Holder, own: Origin, edits: readonly Edit[]): CastError => {
  const edit = edits.find(({ path }) => path.join('.') === key);
  const what = edit === undefined ? `change ${key}` : edit.value === undefined ? `take ${key} out` : `set ${key} to ${JSON.stringify(edit.value)}`;
  return new CastError('CONFIG_INVALID', `${key} is set in ${origin.file ?? origin.layer}, which wins over ${describeOrigin(own)}; nothing was changed`, {
    fix: `In ${origin.file ?? origin.layer}, ${what}.`,
  });
};

// ---- trust ----

/** What cast itself writes is no change that a person has to look at. */
const keepingTrust = async ({ home, root = '' }: SettingsTarget, file: string, write: () => Promise<void>): Promise<void> => {
  const trust = openTrust({ home, clock: systemClock });
  const record = trust.list().find((each) => each.root === root);
  if (record?.decision !== 'trusted' || (record.code[LOCAL] ?? '') !== (await hashOf(file))) {
    throw new CastError('CONFIG_UNTRUSTED', `${file} is used only once the project is trusted as it is now`, { fix: 'Run `cast trust` first.' });
  }
  await write();
  await trust.decide(root, 'trusted', { code: { [LOCAL]: await hashOf(file) }, text: [] });
};

/** Empty when there is no file. */
const hashOf = async (file: string): Promise<string> => {
  const bytes = await readFile(file).catch(() => undefined);
  return bytes ? createHash('sha256').update(bytes).digest('hex') : '';
};
