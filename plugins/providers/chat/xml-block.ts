/** The grammar of a call that is written as XML, and what its parameters mean by the schema of the tool. */
import type { ToolCard } from '../../../kernel/index.ts';
import { fieldsOf, isFields, listOf, parseJson, textOf } from '../values.ts';

export const FUNCTION_END = '</function>';
const WRAP = '<tool_call>';
const FUNCTION = '<function=';
const PARAMETER = '<parameter=';
const PARAMETER_END = '</parameter>';
const MAX_NAME = 128;

export interface Head {
  readonly tool: ToolCard;
  /** Where the parameters begin. */
  readonly length: number;
}

/** Of a text that begins with `<`. `partial`: it may become one. */
export const headOf = (text: string, tools: ReadonlyMap<string, ToolCard>): Head | 'partial' | 'none' => {
  const start = text.startsWith(WRAP) ? skipSpace(text, WRAP.length) : 0;
  if (text.startsWith(FUNCTION, start)) return namedHead(text, start + FUNCTION.length, tools);
  return mayBecome(text, start, FUNCTION) || WRAP.startsWith(text) ? 'partial' : 'none';
};

const namedHead = (text: string, nameAt: number, tools: ReadonlyMap<string, ToolCard>): Head | 'partial' | 'none' => {
  const nameEnd = text.indexOf('>', nameAt);
  if (nameEnd < 0) return text.length - nameAt <= MAX_NAME && /^[^\s<]*$/.test(text.slice(nameAt)) ? 'partial' : 'none';
  const tool = tools.get(text.slice(nameAt, nameEnd));
  if (!tool) return 'none';
  const next = skipSpace(text, nameEnd + 1);
  const ways = [PARAMETER, FUNCTION_END];
  if (ways.some((way) => text.startsWith(way, next))) return { tool, length: nameEnd + 1 };
  return ways.some((way) => mayBecome(text, next, way)) ? 'partial' : 'none';
};

/** What stands between the head and the end of a call, as arguments; undefined when it is not all parameters. */
export const argumentsIn = (body: string, { input }: ToolCard): string | undefined => {
  const properties = fieldsOf(input, 'properties');
  const entries: [string, unknown][] = [];
  for (let at = skipSpace(body, 0); at < body.length; at = skipSpace(body, at)) {
    const keyEnd = body.indexOf('>', at);
    const valueEnd = keyEnd < 0 ? -1 : endOfValue(body, keyEnd + 1);
    if (!body.startsWith(PARAMETER, at) || valueEnd < 0) return undefined;
    const key = body.slice(at + PARAMETER.length, keyEnd).trim();
    entries.push([key, valueOf(body.slice(keyEnd + 1, valueEnd), properties[key])]);
    at = valueEnd + PARAMETER_END.length;
  }
  return JSON.stringify(Object.fromEntries(entries));
};

/** A value may hold closing tags itself: one that counts has the next parameter or the end behind it. */
const endOfValue = (body: string, from: number): number => {
  for (let end = body.indexOf(PARAMETER_END, from); end >= 0; end = body.indexOf(PARAMETER_END, end + 1)) {
    const next = skipSpace(body, end + PARAMETER_END.length);
    if (next === body.length || body.startsWith(PARAMETER, next)) return end;
  }
  return -1;
};

const skipSpace = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && /\s/.test(text[at] ?? '')) at++;
  return at;
};
const mayBecome = (text: string, from: number, whole: string): boolean => whole.startsWith(text.slice(from));

// ---- values ----

/** Models put a value on lines of its own; the breaks are not part of it. */
const valueOf = (raw: string, schema: unknown): unknown => {
  const text = raw.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
  const types = typesOf(schema);
  const word = text.trim();
  if (/^(null|none)$/i.test(word)) return types.includes('string') && !types.includes('null') ? text : null;
  if (types.includes('string')) return text;
  if (/^(true|false)$/i.test(word)) return word.toLowerCase() === 'true';
  const value = parseJson(word);
  if (typeof value === 'number' || Array.isArray(value) || isFields(value)) return value;
  return text;
};

/** Empty when it says nothing about types. */
const typesOf = (schema: unknown): readonly string[] => {
  if (!isFields(schema)) return [];
  const own = textOf(schema['type']);
  const listed = own === undefined ? listOf(schema['type']).filter((type) => typeof type === 'string') : [own];
  const values = [...listOf(schema['enum']), ...('const' in schema ? [schema['const']] : [])];
  return [
    ...listed,
    ...(values.some((value) => typeof value === 'string') ? ['string'] : []),
    ...[...listOf(schema['anyOf']), ...listOf(schema['oneOf'])].flatMap(typesOf),
  ];
};
