/** What is wrong with the outcome of a tap, hook by hook; undefined when nothing is. As deep as the kernel itself reads it. */
import { ERRORS } from '../errors.ts';

type Wrong = string | undefined;
type Check = (value: unknown) => Wrong;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const hasText = (value: unknown, key: string): boolean => isObject(value) && typeof value[key] === 'string';

// ---- parts ----

const text: Check = (value) => (typeof value === 'string' ? undefined : 'must be a text');
const count: Check = (value) => (typeof value === 'number' && value >= 0 && Number.isFinite(value) ? undefined : 'must be a number, 0 or more');
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false');
const word =
  (...words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string) ? undefined : `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);

/** Of an object, the members that are named; what else it has is not looked at. */
const record =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) => {
    if (!isObject(value)) return 'must be an object';
    for (const [key, check] of Object.entries(members)) {
      const wrong = check(value[key]);
      if (wrong !== undefined) return `\`${key}\` ${wrong}`;
    }
    return undefined;
  };
const list =
  (item: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) return 'must be a list';
    for (const [index, each] of value.entries()) {
      const wrong = item(each);
      if (wrong !== undefined) return `no. ${index + 1} ${wrong}`;
    }
    return undefined;
  };
/** Lists and objects with any keys, whose values are alike. */
const valuesAre =
  (check: Check): Check =>
  (value) =>
    isObject(value) ? list(check)(Object.values(value)) : 'must be an object';

const block: Check = record({ type: text });
const message = record({ role: word('user', 'assistant', 'tool'), blocks: list(block) });
const section = record({ name: text, slot: word('identity', 'mode', 'conduct', 'project', 'tools', 'environment'), text });
const card = record({ name: text, description: text, input: record({}) });
const note = record({ path: text, mood: word('info', 'warn', 'bad'), text });
const image = record({ mediaType: text, data: text });
const failure = record({ code: text, retryable: flag, suggestedFix: optional(text) });

// ---- outcomes ----

const maybe =
  (check: Check): Check =>
  (outcome) =>
    outcome === undefined ? undefined : check(outcome);
/** Members that are there must be right: one that is undefined would replace what was there before. */
const partial = (members: Readonly<Record<string, Check>>): Check =>
  maybe((outcome) => {
    if (!isObject(outcome)) return 'an object is expected';
    return record(Object.fromEntries(Object.entries(members).filter(([key]) => key in outcome)))(outcome);
  });
const oneOf = (keys: readonly string[], more: Readonly<Record<string, Check>> = {}): Check =>
  maybe((outcome) => {
    if (!keys.some((key) => hasText(outcome, key))) return `an object with ${keys.map((key) => `a text \`${key}\``).join(' or ')} is expected`;
    return partial(more)(outcome);
  });
const aList = (item: Check): Check => maybe((outcome) => (Array.isArray(outcome) ? list(item)(outcome) : 'a list is expected'));

export const nothing: Check = maybe(() => 'this hook takes no answer');
export const stop = oneOf(['stop']);
export const answer: Check = maybe((outcome) => oneOf(['choice'])(outcome) ?? record({ by: text })(outcome));
export const goOn = oneOf(['continue']);
const spoken = oneOf(['deny', 'ask'], { deny: optional(text), ask: optional(text), rule: optional(text), code: optional(text), endsTurn: optional(flag) });
export const vote: Check = (outcome) => (typeof (outcome as { begin?: unknown } | undefined | null)?.begin === 'function' ? undefined : spoken(outcome));
export const sections = aList(section);
export const messages = aList(message);
export const admission = partial({ text, before: list(text), handled: optional(text) });
export const request = partial({
  provider: text,
  model: text,
  system: text,
  messages: list(message),
  tools: list(card),
  maxOutputTokens: optional(count),
  refuse: optional(
    record({ code: (value) => (Object.hasOwn(ERRORS, value as string) ? undefined : 'must be a code of an error'), message: text, fix: optional(text) }),
  ),
  format: optional(record({ name: text, schema: record({}) })),
});
export const spawn = partial({
  argv: (value) => list(text)(value) ?? ((value as readonly string[]).length === 0 ? 'must have at least one word' : undefined),
  cwd: text,
  env: valuesAre(text),
});
export const result = partial({
  content: text,
  status: word('ok', 'error', 'denied', 'aborted'),
  images: optional(list(image)),
  error: optional(failure),
  notes: optional(list(note)),
  changed: optional(list(text)),
  endsTurn: optional(flag),
  view: optional(record({ kind: text })),
});
export const call: Check = maybe((outcome) => (isObject(outcome) && isObject(outcome['input']) ? undefined : 'an object with an object `input` is expected'));
export const recovery: Check = maybe((outcome) => {
  if (hasText(outcome, 'stop')) return undefined;
  if (!isObject(outcome) || !hasText(outcome['retry'], 'reason')) return '`{ retry: { reason } }` or `{ stop }` is expected';
  const wrong = record({ afterMs: optional(count), remind: optional(text) })(outcome['retry']);
  return wrong === undefined ? undefined : `\`retry\`: ${wrong}`;
});
export const plan: Check = maybe((outcome) =>
  hasText(outcome, 'cancel') || (hasText(outcome, 'summary') && hasText(outcome, 'keepFrom'))
    ? undefined
    : '`{ cancel }` or `{ summary, keepFrom }` is expected',
);
