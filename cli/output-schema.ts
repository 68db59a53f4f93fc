/** `--output-schema`, as far as it goes. */
import { resolve } from 'node:path';
import { messageOf } from '../kernel/errors.ts';
import { usageError } from './arguments.ts';
import { readNamedFile } from './named-file.ts';

const MAX_SCHEMA_BYTES = 1_048_576;

/** A wrong file is named before a right one is turned down. */
export const refuseSchema = async (file: string, cwd: string): Promise<never> => {
  let schema: unknown;
  try {
    schema = JSON.parse((await readNamedFile(resolve(cwd, file), MAX_SCHEMA_BYTES)).toString('utf8'));
  } catch (error) {
    throw usageError(`--output-schema ${file} cannot be read: ${messageOf(error)}`, 'Name a file that holds a JSON Schema.');
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw usageError(`--output-schema ${file} holds no JSON Schema`, 'A schema is an object.');
  throw usageError('--output-schema is not part of this version', 'Ask for JSON in the prompt and check it yourself.');
};
