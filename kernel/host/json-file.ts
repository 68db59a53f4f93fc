/** A file that holds one JSON object, read before it is changed. */
import { readFile } from 'node:fs/promises';
import { CastError, messageOf } from '../errors.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Empty when there is no file. Throws CONFIG_INVALID for anything else than an object: what is in it must not be lost by writing. */
export const readJsonObject = async (file: string): Promise<JsonObject> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new CastError('CONFIG_INVALID', `${file} cannot be read: ${messageOf(error)}`, { cause: error, fix: `Make ${file} readable.` });
  }
  const value = parsed(text);
  if (isJsonObject(value)) return value;
  // Without the parser's own words: they quote the text, and there may be a key in it.
  throw new CastError('CONFIG_INVALID', `${file} holds no JSON object, so it was not changed`, {
    fix: `Correct it, or keep it under another name (mv ${file} ${file}.bad), and try again.`,
  });
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
