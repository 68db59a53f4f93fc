/** What stands between tapable and a plugin's tap: attribution, time, outcome check, fault policy, quarantine, release on abort. */
import { CastError, messageOf } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { GUARD_HOOKS, GUARD_STAGES, HOOKS, type HookName, type Stage } from './catalogue.ts';
import { Budget, offTheClock, runAs } from './running.ts';

export interface TapRecord {
  readonly hook: HookName;
  readonly plugin: string;
  readonly label: string;
  readonly stage: Stage;
  readonly position: number;
  readonly when: readonly string[] | null;
  /** Null: no limit. */
  readonly budgetMs: number | null;
  readonly skipsFaults: boolean;
  /** Its stack tells where the tap was registered; read only for reports. */
  readonly site: Error;
  calls: number;
  ms: number;
  slowestMs: number;
  faults: number;
  changed: number;
  state: 'open' | 'quarantined' | 'off';
  /** The one question about a closed guard, for all that wait to pass it. */
  deciding?: Promise<'open' | 'off'> | undefined;
}
/** The same tap in the next generation has the same key. */
export const keyOf = (tap: Pick<TapRecord, 'hook' | 'plugin' | 'label'>): string => `${tap.hook} ${tap.plugin}/${tap.label}`;

/** What the session does about faults. */
export interface FaultObserver {
  fault(tap: TapRecord, message: string): void;
  /** A tap made something of its subject: its answer, or its changes. `about` is the call where there is one. */
  outcome?(tap: TapRecord, outcome: unknown, about: unknown): void;
  /** A closed guard is about to be passed. Resolves to `open` or `off` when a person decided so; throws to end the turn. */
  closedGuard(tap: TapRecord, signal: AbortSignal | undefined): Promise<'open' | 'off'>;
  /** What an earlier generation knew of a tap, by `keyOf`: a renewal opens no closed guard. */
  remembered?(key: string): Pick<TapRecord, 'state' | 'faults'> | undefined;
}

type Tap = (subject: never, context: never) => unknown;

/** A subject whose methods change it gives each plugin a draft, which counts only once the tap has returned. */
export interface Attributed {
  as(plugin: string): Draft;
}
export interface Draft {
  /** What the tap gets. */
  readonly view: unknown;
  /** Makes the changes of the draft those of the subject, and says what they are. */
  commit(): readonly unknown[] | void;
}
const draftOf = (subject: unknown, plugin: string): Draft =>
  typeof (subject as Partial<Attributed> | undefined)?.as === 'function' ? (subject as Attributed).as(plugin) : { view: subject, commit: () => undefined };

export const isGuard = (tap: TapRecord): boolean => !tap.skipsFaults && (GUARD_HOOKS.has(tap.hook) || GUARD_STAGES.has(tap.stage));

const toolOf = (tap: TapRecord, subject: unknown, context: unknown): string | undefined =>
  ((tap.hook === 'result' ? context : subject) as { tool?: string } | undefined)?.tool;

const signalOf = (subject: unknown, context: unknown): AbortSignal | undefined =>
  ((context ?? subject) as { signal?: AbortSignal } | undefined)?.signal ?? (subject as { signal?: AbortSignal } | undefined)?.signal;

/** Answers with the tap's outcome, already checked; undefined for none. Throws what its hook's policy says. */
export const guardAsync =
  (tap: TapRecord, run: Tap, observer: FaultObserver) =>
  async (subject: unknown, context: unknown): Promise<unknown> => {
    const signal = signalOf(subject, context);
    if (!(await admits(tap, observer, subject, context, signal))) return undefined;
    const started = performance.now();
    try {
      const { view, commit } = draftOf(subject, tap.plugin);
      const answer = checked(tap, await inTime(tap, signal, () => run(view as never, context as never)));
      const changes = commit();
      account(tap, performance.now() - started, answer !== undefined);
      tell(observer, tap, answer, changes, tap.hook === 'result' ? context : subject);
      return answer;
    } catch (error) {
      account(tap, performance.now() - started, false);
      // Whatever an aborted tap throws, it was told to stop: no fault of its own.
      if (signal?.aborted) throw signal.reason;
      return onFault(tap, error, observer);
    }
  };

/** The same for synchronous hooks, which have no budget. */
export const guardSync =
  (tap: TapRecord, run: Tap, observer: FaultObserver) =>
  (subject: unknown, context: unknown): void => {
    if (tap.state === 'off' || (tap.state === 'quarantined' && !isGuard(tap))) return;
    if (tap.state === 'quarantined') throw quarantined(tap);
    const started = performance.now();
    try {
      const { view, commit } = draftOf(subject, tap.plugin);
      checked(
        tap,
        runAs({ plugin: tap.plugin, where: tap.hook, label: tap.label }, () => run(view as never, context as never)),
      );
      tell(observer, tap, undefined, commit(), subject);
    } catch (error) {
      onFault(tap, error, observer);
    } finally {
      account(tap, performance.now() - started, false);
    }
  };

const tell = (observer: FaultObserver, tap: TapRecord, answer: unknown, changes: readonly unknown[] | void, about: unknown): void => {
  if (answer !== undefined) observer.outcome?.(tap, answer, about);
  else if (changes && changes.length > 0) observer.outcome?.(tap, changes, about);
};

const admits = async (tap: TapRecord, observer: FaultObserver, subject: unknown, context: unknown, signal: AbortSignal | undefined): Promise<boolean> => {
  if (tap.when !== null && !tap.when.includes(toolOf(tap, subject, context) ?? '')) return false;
  if (tap.state === 'off') return false;
  signal?.throwIfAborted();
  if (tap.state === 'open') return true;
  if (!isGuard(tap)) return false;
  return (await decide(tap, observer, signal)) === 'open';
};

/** Whether a closed guard is opened again or switched off. Calls that run side by side wait for one answer. */
export const decide = (tap: TapRecord, observer: FaultObserver, signal: AbortSignal | undefined): Promise<'open' | 'off'> => {
  tap.deciding ??= observer.closedGuard(tap, signal).then(
    (state) => {
      tap.deciding = undefined;
      tap.state = state;
      return state;
    },
    (error: unknown) => {
      tap.deciding = undefined;
      throw error;
    },
  );
  const { deciding } = tap;
  return offTheClock(() => deciding);
};

/** Runs a tap until it settles, its budget is spent or its work is aborted, whatever comes first. */
const inTime = async (tap: TapRecord, signal: AbortSignal | undefined, work: () => unknown): Promise<unknown> => {
  const limit = limitOf(tap, signal);
  const who = { plugin: tap.plugin, where: tap.hook, label: tap.label };
  try {
    const answer = runAs(limit.budget ? { ...who, budget: limit.budget } : who, work);
    return answer instanceof Promise ? await Promise.race([answer, limit.reached]) : answer;
  } finally {
    limit.lift();
  }
};

const limitOf = (tap: TapRecord, signal: AbortSignal | undefined): { readonly budget: Budget | undefined; readonly reached: Promise<never>; lift(): void } => {
  let give: ((error: unknown) => void) | undefined;
  const reached = new Promise<never>((_, reject) => {
    give = reject;
  });
  // Nobody waits for it once the tap has settled.
  reached.catch(() => undefined);
  const { budgetMs } = tap;
  const budget = budgetMs === null ? undefined : new Budget(budgetMs, () => give?.(new CastError('HOOK_FAULT', `took longer than ${budgetMs} ms`))).start();
  const onAbort = (): void => give?.(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const lift = (): void => {
    budget?.stop();
    signal?.removeEventListener('abort', onAbort);
  };
  return { budget, reached, lift };
};

const checked = (tap: TapRecord, outcome: unknown): unknown => {
  // tapable takes null for an answer and would end the voting.
  const answer = outcome ?? undefined;
  if (answer instanceof Promise) {
    answer.catch(() => undefined);
    throw new CastError('HOOK_FAULT', 'answered with a promise, and this hook is synchronous');
  }
  const wrong = HOOKS[tap.hook].check(answer);
  if (wrong !== undefined) throw new CastError('HOOK_FAULT', `answered with something unknown: ${wrong}`);
  return answer;
};

const account = (tap: TapRecord, ms: number, changed: boolean): void => {
  tap.calls += 1;
  tap.ms += ms;
  tap.slowestMs = Math.max(tap.slowestMs, ms);
  if (changed) tap.changed += 1;
};

const onFault = (tap: TapRecord, error: unknown, observer: FaultObserver): undefined => {
  tap.faults += 1;
  if (tap.faults >= LIMITS.strikes && tap.state === 'open') tap.state = 'quarantined';
  observer.fault(tap, messageOf(error));
  const { policy } = HOOKS[tap.hook];
  if (tap.skipsFaults || policy === 'skip') return undefined;
  throw new CastError('HOOK_FAULT', `${tap.plugin}/${tap.label} failed in ${tap.hook}: ${messageOf(error)}`, {
    cause: error,
    plugin: tap.plugin,
    hook: tap.hook,
  });
};

/** What is said when nobody can decide about a closed guard. */
export const quarantined = (tap: TapRecord): CastError =>
  new CastError('PLUGIN_QUARANTINED', `${tap.plugin}/${tap.label} guards ${tap.hook} and was closed after ${tap.faults} faults`, {
    plugin: tap.plugin,
    hook: tap.hook,
    fix: `Mend or update ${tap.plugin}, or run once with --plugin ${tap.plugin}=off.`,
  });
