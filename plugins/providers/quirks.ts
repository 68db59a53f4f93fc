/** What a host was found to want otherwise than expected: learnt from its refusals, kept for the process, for each model by itself. */
import type { LimitField } from './dialects/dialect.ts';
import { readErrorBody } from './failures/error-body.ts';
import { type Fields, fieldsOf } from './values.ts';

export interface Quirks {
  /** How it calls the limit of the reply; undefined where the dialect is right. */
  readonly limitField: LimitField | undefined;
  /** It wants `reasoning_content` on each message with calls, also where there was none. */
  readonly reasoningAlways: boolean;
  /** It takes call ids of nine letters and digits only. */
  readonly shortIds: boolean;
  /** It does not take items of earlier replies back: only texts and calls are sent to it. */
  readonly plainItems: boolean;
  /** Fields of a request that it refuses, such as `temperature` or `reasoning.summary`. */
  readonly without: readonly string[];
}
export const NO_QUIRKS: Quirks = { limitField: undefined, reasoningAlways: false, shortIds: false, plainItems: false, without: [] };

export type Learnt = Map<string, Quirks>;
/** Models of hosts. */
const MAX_LEARNT = 500;

export const quirksOf = (learnt: Learnt, baseUrl: string, model: string): Quirks => learnt.get(`${baseUrl} ${model}`) ?? NO_QUIRKS;
export const remember = (learnt: Learnt, baseUrl: string, model: string, quirks: Quirks): void => {
  const [oldest] = learnt.keys();
  if (learnt.size >= MAX_LEARNT && oldest !== undefined) learnt.delete(oldest);
  learnt.set(`${baseUrl} ${model}`, quirks);
};

/** Optional fields, the longer paths first. A request without one of them is worth less, but is a request. */
const OPTIONAL = [
  'reasoning.effort',
  'reasoning.summary',
  'reasoning.max_tokens',
  'reasoning_effort',
  'reasoning_split',
  'enable_thinking',
  'chat_template_kwargs',
  'stream_options',
  'cache_control',
  'prompt_cache_key',
  'session_id',
  'parallel_tool_calls',
  'tool_choice',
  'top_p',
  'max_output_tokens',
  'temperature',
  'reasoning',
  'thinking',
  'provider',
  'response_format',
  'text.format',
  'include',
  'store',
] as const;
const REASONING: readonly string[] = ['reasoning_effort', 'reasoning_split', 'enable_thinking', 'chat_template_kwargs', 'reasoning', 'thinking'];
/** A wrong value of these is a mistake in the configuration, which must not be hidden. */
const VALUES: ReadonlySet<string> = new Set(['temperature', 'top_p', 'max_output_tokens', 'provider']);
const WRONG_VALUE =
  /\b(between|less than|greater than|more than|at least|at most|range|minimum|maximum|(should|must) be (?!unset|omitted|removed|left))\b|[<>]=?|≤|≥/;

const UNWANTED =
  /not support|unsupported|not permitted|not allowed|unknown|unrecogni[sz]ed|unexpected|invalid (parameter|argument|field)|extra (inputs?|fields?)|additional propert|deprecated|not available|incompatible|cannot (both )?be (used|set|specified)|only (the default|[\d.]+ is allowed)/;
/** A value that the model has fixed: none of the configuration would do. */
const ONLY_ONE = /only (the default|[\d.]+ is allowed)/;
const NO_REASONING =
  /(not support|unsupported|no support for)\b.{0,40}\b(thinking|reasoning)\b|\b(thinking|reasoning)\b.{0,40}(not supported|unsupported|not available)/;

interface Lesson {
  readonly says: readonly RegExp[];
  readonly unless?: RegExp;
  readonly change: Partial<Quirks>;
}
const LESSONS: readonly Lesson[] = [
  { says: [/reasoning_content/, /missing|must|required/], change: { reasoningAlways: true } },
  { says: [/tool call id/, /length of 9/], change: { shortIds: true } },
  { says: [/\bitem\b/, /with id\b.*not found|without its required|duplicate item/], change: { plainItems: true } },
  { says: [/encrypted content|encrypted_content/, /could not be|cannot be|verif|decrypt|invalid/], unless: /not supported/, change: { plainItems: true } },
];

/** The quirks after a refusal of what was sent; the same object when it teaches nothing. */
export const learn = (quirks: Quirks, status: number, body: string, sent: object): Quirks => {
  if (status !== 400 && status !== 404 && status !== 422) return quirks;
  const { said, param = '' } = readErrorBody(body);
  const text = `${said} ${param}`.toLowerCase();
  const lesson = LESSONS.find(({ says, unless }) => says.every((pattern) => pattern.test(text)) && !unless?.test(text));
  if (lesson) return { ...quirks, ...lesson.change };
  if (status === 404) return quirks;
  // Once: a host that refuses either name has another reason.
  const limitField = quirks.limitField === undefined ? otherLimit(text, sent) : undefined;
  if (limitField !== undefined) return { ...quirks, limitField };
  const refused = refusedFields(text, param.toLowerCase(), sent);
  return refused.length === 0 ? quirks : { ...quirks, without: [...quirks.without, ...refused] };
};

const LIMITS = ['max_tokens', 'max_completion_tokens'] as const;
const otherLimit = (text: string, sent: object): LimitField | undefined => {
  const used = LIMITS.find((name) => name in sent);
  const other = LIMITS.find((name) => name !== used);
  if (used === undefined || !isNamed(used, text) || /less than|at least|maximum value/.test(text)) return undefined;
  return (other !== undefined && isNamed(other, text)) || UNWANTED.test(text) ? other : undefined;
};

const refusedFields = (text: string, param: string, sent: object): readonly string[] => {
  const candidates = OPTIONAL.filter((path) => isSent(path, sent));
  const named = candidates.find((path) => (path === param || isNamed(path, text)) && (!VALUES.has(path) || isUnwanted(text)));
  if (named !== undefined) return [named];
  return NO_REASONING.test(text) ? candidates.filter((path) => REASONING.includes(path)) : [];
};

const isUnwanted = (text: string): boolean => UNWANTED.test(text) && (!WRONG_VALUE.test(text) || ONLY_ONE.test(text));

const isSent = (path: string, sent: object): boolean => {
  const [name = '', inner] = path.split('.');
  // Marks stand within messages and tools.
  if (name === 'cache_control') return JSON.stringify(sent).includes('"cache_control":');
  return inner === undefined ? name in sent : inner in fieldsOf(sent, name);
};

/** A name that is a common word has to be written like one of a field, or to stand beside what is wrong with it. */
const isNamed = (path: string, text: string): boolean => {
  const name = path.replace('.', '\\.');
  // xAI names the field as its own code does: `reasoningEffort`, in both formats.
  if (/[_.]/.test(path)) return new RegExp(`(?<![\\w-])(${name}|${path.replace(/[_.]/g, '')})(?!\\w)`).test(text);
  const quoted = `['"\`]${name}['"\`]`;
  const labelled = `(parameters?|arguments?|fields?|keywords?|property|keys?|inputs?|body)[:.]? ?${name}\\b`;
  const blamed = `\\b${name}\\b[^.]{0,20}(${UNWANTED.source})`;
  return new RegExp(`${quoted}|${labelled}|${blamed}`).test(text);
};

/** A copy without these fields, and without objects that are left empty by it. */
export const leaveOut = (body: object, paths: readonly string[]): object => {
  const left: Record<string, unknown> = { ...body };
  for (const path of paths) {
    const [name = '', inner] = path.split('.');
    const rest: Fields = inner === undefined ? {} : Object.fromEntries(Object.entries(fieldsOf(left, name)).filter(([key]) => key !== inner));
    if (Object.keys(rest).length > 0) left[name] = rest;
    else delete left[name];
  }
  return left;
};
