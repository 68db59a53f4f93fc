/**
 * Standard Schema, structurally: a plugin may bring any zod 4, valibot or arktype. Our own schemas are plain JSON Schema,
 * so that no schema library is loaded on the way to the first request.
 */

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
export type SchemaOutcome<T> = { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

export interface Schema<I = unknown, O = I> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: I; readonly output: O } | undefined;
  };
}
export interface JsonSchemaSource {
  readonly '~standard': { readonly jsonSchema: { readonly input: (how: { target: 'draft-2020-12' }) => Record<string, unknown> } };
}
export type In<S extends Schema> = NonNullable<S['~standard']['types']>['input'];
export type Out<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A Standard Schema made of JSON Schema. Top-level `default`s are filled in; the validator is loaded on first use. */
export const jsonSchema = <T, I = T>(schema: JsonSchema): Schema<I, T> & JsonSchemaSource => ({
  '~standard': {
    version: 1,
    vendor: 'cast',
    validate: (value: unknown) => validateJson<T>(schema, value),
    jsonSchema: { input: () => schema as Record<string, unknown> },
  },
});

/** A Standard Schema by hand, for what is read on the way to the first request: `what` is said when `fits` does not hold. */
export const checkedBy = <T>(what: string, fits: (value: Record<string, unknown>) => boolean): Schema<T> => ({
  '~standard': {
    version: 1,
    vendor: 'cast-by-hand',
    validate: (value: unknown) =>
      typeof value === 'object' && value !== null && fits(value as Record<string, unknown>) ? { value } : { issues: [{ message: `${what} is expected` }] },
  },
});

/** Runs a schema; never throws. */
export const validate = async <T>(schema: Schema<unknown, T>, value: unknown): Promise<SchemaOutcome<T>> => {
  try {
    const outcome: unknown = await schema['~standard'].validate(value);
    return isOutcome<T>(outcome) ? outcome : { issues: [{ message: 'the schema answered with something that is no outcome' }] };
  } catch (error) {
    return { issues: [{ message: error instanceof Error ? error.message : String(error) }] };
  }
};

const isOutcome = <T>(outcome: unknown): outcome is SchemaOutcome<T> => {
  if (typeof outcome !== 'object' || outcome === null) return false;
  const issues = (outcome as { readonly issues?: unknown }).issues;
  return issues === undefined ? 'value' in outcome : Array.isArray(issues) && issues.every((issue) => typeof issue?.message === 'string');
};

/** `edits[0].oldString: is required`, the way a person would point at it. */
export const describeIssue = (issue: SchemaIssue): string => {
  const path = pathOf(issue);
  return path === '' ? issue.message : `${path}: ${issue.message}`;
};
export const pathOf = (issue: SchemaIssue): string =>
  (issue.path ?? []).reduce<string>((text, part) => {
    const key = typeof part === 'object' ? part.key : part;
    return typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');

const validateJson = async <T>(schema: JsonSchema, value: unknown): Promise<SchemaOutcome<T>> => {
  const filled = withDefaults(schema, value);
  const { checkJson } = await import('./json-schema.ts');
  const issues = checkJson(schema, filled);
  return issues.length > 0 ? { issues } : { value: filled as T };
};

/** Defaults of a JSON Schema without any input: what a plugin gets that nobody configured. */
export const defaultsOf = (schema: Schema): unknown => {
  if (schema['~standard'].vendor !== 'cast') return undefined;
  return withDefaults((schema as Schema & JsonSchemaSource)['~standard'].jsonSchema.input({ target: 'draft-2020-12' }), {});
};

const withDefaults = (schema: JsonSchema, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const properties = (schema['properties'] ?? {}) as Record<string, { default?: unknown }>;
  const filled: Record<string, unknown> = { ...value };
  for (const [key, property] of Object.entries(properties)) {
    if (filled[key] === undefined && property.default !== undefined) filled[key] = property.default;
  }
  return filled;
};
