/** What a model writes as arguments, made into an input, and never into something that it did not write. */
import type { Block, ToolFailure } from '../data.ts';
import { describeIssue, validate, type Schema } from '../schema.ts';
import type { Tool } from '../plugin.ts';
import { depthBy, isOpenText, partsOf } from './json-parts.ts';
import { repairObject } from './repair.ts';

/** Levels: more than any tool asks for, and few enough for whoever walks through them. */
const MAX_DEPTH = 100;

export type Parsed = { readonly input: Readonly<Record<string, unknown>> } | { readonly problem: string; readonly error: ToolFailure };

const invalid = (problem: string, suggestedFix: string): Parsed => ({
  problem: `${problem} ${suggestedFix}`,
  error: { code: 'INVALID_ARGUMENT', retryable: false, suggestedFix },
});

/** Nothing, empty and null mean no arguments; an object in a string is unwrapped; anything else is refused, or mended where the tool allows that. */
export const parseArguments = (raw: string, mayRepair = false): Parsed => {
  if (raw.trim() === '') return { input: {} };
  let value: unknown;
  try {
    value = JSON.parse(raw);
    if (typeof value === 'string') value = JSON.parse(value);
  } catch (error) {
    const mended = mayRepair ? repairObject(raw) : undefined;
    return mended === undefined ? unreadable(raw, error) : parseArguments(mended);
  }
  return value === null ? { input: {} } : asObject(value);
};
const unreadable = (raw: string, error: unknown): Parsed =>
  isUnfinished(raw)
    ? CUT
    : invalid(`The arguments are not valid JSON (${error instanceof Error ? error.message : 'unreadable'}); the call was not run.`, ONE_OBJECT);
const asObject = (value: unknown): Parsed => {
  if (depthOf(value) > MAX_DEPTH)
    return invalid(`The arguments are nested more than ${MAX_DEPTH} levels deep; the call was not run.`, 'Send the call again with flatter arguments.');
  if (typeof value !== 'object' || Array.isArray(value)) return invalid('The arguments are not a JSON object; the call was not run.', ONE_OBJECT);
  return { input: value as Record<string, unknown> };
};
const ONE_OBJECT = 'Send the call again with its arguments as one JSON object.';

const CUT = invalid(
  'The call was cut off before its arguments were complete, and was not run.',
  'A reply has a limit on its length. Send less in one call: write a long file in several parts, each with a call of its own.',
);
/** Whether an object begins and never ends, whatever the provider says of the reason. */
export const isUnfinished = (raw: string): boolean => {
  if (!raw.trimStart().startsWith('{')) return false;
  let open = 0;
  for (const part of partsOf(raw)) open += isOpenText(part) ? 1 : depthBy(part);
  return open > 0;
};

/** Without recursion: it is here to find what would overflow one. */
const depthOf = (value: unknown): number => {
  let level: readonly unknown[] = [value];
  for (let depth = 0; ; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
    if (level.length === 0 || depth > MAX_DEPTH) return depth;
  }
};

/** Against the tool's schema. Numbers and booleans that came as texts are read as what they say. */
export const checkArguments = async (tool: Tool, input: Readonly<Record<string, unknown>>): Promise<Parsed> => {
  const first = await validate(tool.schema as Schema<unknown, Record<string, unknown>>, input);
  if (!first.issues) return { input: first.value };
  const mended = mendTypes(tool, input);
  const second = mended === undefined ? first : await validate(tool.schema as Schema<unknown, Record<string, unknown>>, mended);
  if (!second.issues) return { input: second.value };
  const issues = first.issues.map((issue) => describeIssue(issue).replace(/\.$/, '')).join('; ');
  return invalid(`The arguments of ${tool.name} are not right: ${issues}.`, `Call ${tool.name} again with ${expected(tool)}.`);
};

const propertiesOf = (tool: Tool): Readonly<Record<string, { readonly type?: unknown }>> =>
  (tool.card.input['properties'] ?? {}) as Record<string, { type?: unknown }>;

/** Undefined when there is nothing to mend. */
const mendTypes = (tool: Tool, input: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined => {
  const mended = Object.entries(input).flatMap(([key, value]) => {
    const type = propertiesOf(tool)[key]?.type;
    // Null stands for "not given", which is said by leaving it out.
    return value === null && type !== undefined ? [] : [[key, read(value, type)] as const];
  });
  const isSame = mended.length === Object.keys(input).length && mended.every(([key, value]) => value === input[key]);
  return isSame ? undefined : Object.fromEntries(mended);
};
const read = (value: unknown, type: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  const isNumber = (type === 'number' || type === 'integer') && value.trim() !== '' && Number.isFinite(Number(value));
  return isNumber ? Number(value) : value;
};
const expected = (tool: Tool): string => {
  const required = (tool.card.input['required'] ?? []) as readonly string[];
  const names = Object.keys(propertiesOf(tool)).map((name) => (required.includes(name) ? `\`${name}\`` : `\`${name}\` (optional)`));
  return names.length === 0 ? 'no arguments' : names.join(', ');
};

/** Providers leave ids out or repeat them; within a reply each call needs one of its own. */
export const uniqueIds = (blocks: readonly Block[]): readonly Block[] => {
  const used = new Set<string>();
  return blocks.map((block, index) => {
    if (block.type !== 'call') return block;
    let id = block.id === '' ? `call_${index}` : block.id;
    for (let n = 2; used.has(id); n++) id = `${block.id === '' ? `call_${index}` : block.id}_${n}`;
    used.add(id);
    return { ...block, id };
  });
};
