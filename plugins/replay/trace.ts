/** What happened in a session, event by event, so that two sessions can be laid side by side. */
import { createHash } from 'node:crypto';
import { MAX_TRACE, SHORT_FORM } from './limits.ts';

export interface TraceEvent {
  readonly turn: number;
  readonly step: number;
  /** A hook; or `provider`, `tool`, `person`, `turn` for what came to the boundary of the session. */
  readonly hook: string;
  readonly plugin: string;
  /** Label of the tap; purpose of the request, name of the tool, kind of the question. */
  readonly label: string;
  readonly call?: string;
  /** Place of the call among those of its reply. */
  readonly order?: number;
  readonly digest: string;
  /** For people. */
  readonly short: string;
}

/** Turn, step, and place of the call. */
const placeOf = ({ turn, step, order, hook }: TraceEvent): readonly number[] => [turn, step, order === undefined || hook === 'call' ? -1 : order];
const compare = (a: TraceEvent, b: TraceEvent): number => {
  const other = placeOf(b);
  return (
    placeOf(a)
      .map((part, index) => part - (other[index] ?? 0))
      .find((part) => part !== 0) ?? 0
  );
};
/** Events of calls that overlap come in any order; laid out call by call they can be compared. */
const inOrder = (events: readonly TraceEvent[]): readonly TraceEvent[] => [...events].sort(compare);

export interface Difference {
  readonly turn: number;
  readonly step: number;
  readonly hook: string;
  readonly plugin: string;
  readonly label: string;
  readonly call?: string;
  /** Null: nothing was expected, or nothing came. */
  readonly expected: string | null;
  readonly came: string | null;
}

const isSame = (a: TraceEvent, b: TraceEvent): boolean => isSameKind(a, b) && a.digest === b.digest;
const isSameKind = (a: TraceEvent, b: TraceEvent): boolean =>
  a.turn === b.turn && a.step === b.step && a.hook === b.hook && a.plugin === b.plugin && a.label === b.label && a.call === b.call;

export const firstDifference = (recorded: readonly TraceEvent[], replayed: readonly TraceEvent[]): Difference | undefined => {
  const [expected, came] = [inOrder(recorded), inOrder(replayed)];
  const at = expected.findIndex((event, index) => !isSame(event, came[index] ?? NONE));
  const index = at < 0 ? expected.length : at;
  const [one, other] = [expected[index], came[index]];
  if (one && other && isSameKind(one, other)) return difference(one, one.short, other.short);
  if (other && (!one || isExtra(other, one, expected.slice(index)))) return difference(other, null, other.short);
  return one && difference(one, one.short, null);
};
/** Whether the cause is what came, and not that what was expected stayed away. */
const isExtra = (came: TraceEvent, expected: TraceEvent, rest: readonly TraceEvent[]): boolean => {
  const order = compare(came, expected);
  if (order !== 0) return order < 0;
  // What reaches the boundary follows from what plugins do.
  if (isOutside(came) !== isOutside(expected)) return isOutside(expected);
  return !rest.some((event) => isSameKind(event, came));
};
const OUTSIDE: ReadonlySet<string> = new Set(['provider', 'tool', 'person', 'turn']);
const isOutside = ({ hook }: TraceEvent): boolean => OUTSIDE.has(hook);
const NONE: TraceEvent = { turn: -1, step: -1, hook: '', plugin: '', label: '', digest: '', short: '' };

const difference = ({ turn, step, hook, plugin, label, call }: TraceEvent, expected: string | null, came: string | null): Difference => ({
  turn,
  step,
  hook,
  plugin,
  label,
  ...(call === undefined ? {} : { call }),
  expected,
  came,
});

/** `home` lies elsewhere each time, and is the same. */
export class Trace {
  readonly events: TraceEvent[] = [];
  readonly #home: string;

  constructor(home: string) {
    this.#home = JSON.stringify(home).slice(1, -1);
  }
  /** `value` holds no secrets any more. */
  add(event: Omit<TraceEvent, 'digest' | 'short'>, value: unknown): void {
    if (this.events.length >= MAX_TRACE) return;
    const json = stable(value).replaceAll(this.#home, '{home}');
    const digest = createHash('sha256').update(json).digest('hex').slice(0, 16);
    this.events.push({ ...event, digest, short: json.length > SHORT_FORM ? `${json.slice(0, SHORT_FORM)}…` : json });
  }
}

/** JSON in which the order of keys says nothing. */
const stable = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  ) ?? 'undefined';
