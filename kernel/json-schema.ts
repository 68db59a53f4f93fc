import { Validator } from '@cfworker/json-schema';
import type { JsonSchema, SchemaIssue } from './schema.ts';

const validators = new WeakMap<JsonSchema, Validator>();

/** Checks a value against JSON Schema, draft 2020-12; the leaf errors only, at most eight. */
export const checkJson = (schema: JsonSchema, value: unknown): readonly SchemaIssue[] => {
  let validator = validators.get(schema);
  if (!validator) {
    validator = new Validator(schema as object, '2020-12', false);
    validators.set(schema, validator);
  }
  const { valid, errors } = validator.validate(value);
  if (valid) return [];
  // The validator reports each enclosing schema as well; the deepest errors are the ones a reader can act on.
  const leaves = errors.filter((error) => !['properties', 'items', 'allOf', '$ref'].includes(error.keyword));
  return (leaves.length > 0 ? leaves : errors).slice(0, 8).map((error) => ({ message: error.error, path: pointer(error.instanceLocation) }));
};

const pointer = (location: string): (string | number)[] =>
  location
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
