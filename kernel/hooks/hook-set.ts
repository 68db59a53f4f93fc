/** The hooks of one generation: tapable underneath, guarded taps on top, typed ways to fire them. */
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncHook } from 'tapable';
import { HOOKS, type CallHooks, type HookClass, type HookName, type Hooks } from './catalogue.ts';
import type { ToolResult } from './subjects.ts';
import { decide, guardAsync, guardSync, isGuard, keyOf, type FaultObserver, type TapRecord } from './guard.ts';

type All = Hooks & CallHooks<string>;
type Subject<H extends HookName> = Parameters<All[H]>[0];
type Context<H extends HookName> = Parameters<All[H]> extends [unknown, infer C] ? C : undefined;
type Outcome<H extends HookName> = Exclude<Awaited<ReturnType<All[H]>>, void>;

interface AnyHook {
  intercept(interceptor: { register(tap: TapWithRecord): TapWithRecord }): void;
  tap(options: TapOptions, run: unknown): void;
  tapPromise(options: TapOptions, run: unknown): void;
}
interface TapOptions {
  readonly name: string;
  readonly stage: number;
  readonly record: TapRecord;
}
type TapWithRecord = TapOptions & { readonly type: string; readonly fn: (subject: never, context: never) => unknown };

const merged = (subject: unknown, outcome: unknown): unknown =>
  outcome === undefined || Array.isArray(outcome) ? outcome : { ...(subject as object), ...(outcome as object) };

type Args = [unknown, unknown];
const MAKERS: Readonly<Record<HookClass, (name: string) => unknown>> = {
  sync: (name) => new SyncHook<Args>(['subject', 'context'], name),
  series: (name) => new AsyncSeriesHook<Args>(['subject', 'context'], name),
  bail: (name) => new AsyncSeriesBailHook<Args, unknown>(['subject', 'context'], name),
  waterfall: (name) => new AsyncSeriesWaterfallHook<Args>(['subject', 'context'], name),
};

export class HookSet {
  readonly taps: TapRecord[] = [];
  readonly #hooks = new Map<HookName, AnyHook>();
  readonly #observer: FaultObserver;

  constructor(observer: FaultObserver) {
    this.#observer = observer;
  }

  tap(record: TapRecord, run: (subject: never, context: never) => unknown): void {
    const hook = this.#hooks.get(record.hook) ?? this.#add(record.hook);
    const options = { name: `${record.plugin}/${record.label}`, stage: record.position, record };
    const before = this.#observer.remembered?.(keyOf(record));
    if (before) {
      record.state = before.state;
      record.faults = before.faults;
    }
    this.taps.push(record);
    if (HOOKS[record.hook].class === 'sync') hook.tap(options, run);
    else hook.tapPromise(options, run);
  }

  /** Taps of one hook in the order in which they run. */
  inOrder(name: HookName): readonly TapRecord[] {
    return this.#tapsOf(name).map((tap) => tap.record);
  }
  /** Takes out whatever a plugin tapped: it could not be applied as a whole. */
  removeAllOf(plugin: string): void {
    for (const tap of this.taps.filter((each) => each.plugin === plugin)) {
      // tapable forgets no tap, so it stays there and does nothing.
      tap.state = 'off';
      this.taps.splice(this.taps.indexOf(tap), 1);
    }
  }

  /** Every tap, one after the other. */
  async series<H extends HookName>(name: H, subject: Subject<H>, context: Context<H>): Promise<void> {
    await (this.#hooks.get(name) as unknown as AsyncSeriesHook<Args> | undefined)?.promise(subject, context);
  }
  /** The taps of one plugin alone: it came after the hook had fired. */
  async seriesOf<H extends HookName>(plugin: string, name: H, subject: Subject<H>, context: Context<H>): Promise<void> {
    for (const tap of this.#tapsOf(name)) if (tap.record.plugin === plugin) await tap.fn(subject as never, context as never);
  }
  /** Before a synchronous hook, which cannot wait for a person: asks about each closed guard of it. Throws what ends the turn. */
  async settleGuards(name: HookName, signal: AbortSignal): Promise<void> {
    for (const tap of this.inOrder(name)) if (tap.state === 'quarantined' && isGuard(tap)) await decide(tap, this.#observer, signal);
  }
  /** The subject as the taps left it. */
  async waterfall<H extends HookName, S extends Subject<H>>(name: H, subject: S, context: Context<H>): Promise<S> {
    const hook = this.#hooks.get(name) as unknown as AsyncSeriesWaterfallHook<Args> | undefined;
    return hook ? ((await hook.promise(subject, context)) as S) : subject;
  }
  /** The first answer; undefined when no tap had one. */
  async bail<H extends HookName>(name: H, subject: Subject<H>, context: Context<H>): Promise<Outcome<H> | undefined> {
    const hook = this.#hooks.get(name) as unknown as AsyncSeriesBailHook<Args, unknown> | undefined;
    return (await hook?.promise(subject, context)) as Outcome<H> | undefined;
  }
  sync<H extends HookName>(name: H, subject: unknown, context: Context<H>): void {
    (this.#hooks.get(name) as unknown as SyncHook<Args> | undefined)?.call(subject, context);
  }

  #tapsOf(name: HookName): readonly TapWithRecord[] {
    const taps = (this.#hooks.get(name) as { taps?: readonly TapWithRecord[] } | undefined)?.taps ?? [];
    return taps.filter((tap) => this.taps.includes(tap.record));
  }
  /** A hook exists once somebody taps it, so one without taps costs nothing. */
  #add(name: HookName): AnyHook {
    const hook = MAKERS[HOOKS[name].class](name) as AnyHook;
    const isWaterfall = HOOKS[name].class === 'waterfall';
    hook.intercept({
      register: (tap) => {
        if (tap.type === 'sync') return { ...tap, fn: guardSync(tap.record, tap.fn, this.#observer) };
        const guarded = guardAsync(tap.record, tap.fn, this.#observer);
        const run = name === 'gate' ? gather(guarded, tap.record) : name === 'settle' ? signed(guarded, tap.record) : guarded;
        return { ...tap, fn: isWaterfall ? async (subject: unknown, context: unknown) => merged(subject, await run(subject, context)) : run };
      },
    });
    this.#hooks.set(name, hook);
    return hook;
  }
}

/** A denial ends the voting; a wish to ask is noted down and the voting goes on. */
const gather =
  (run: (subject: unknown, context: unknown) => Promise<unknown>, tap: TapRecord) =>
  async (subject: unknown, context: unknown): Promise<unknown> => {
    const vote = (await run(subject, context)) as { deny?: string; ask?: string; rule?: string; begin?: GatheredBegin['begin'] } | undefined;
    if (vote?.begin !== undefined && vote.deny === undefined) {
      (subject as { begins: GatheredBegin[] }).begins.push({ plugin: tap.plugin, label: tap.label, begin: vote.begin });
      if (vote.ask === undefined) return undefined;
    }
    if (vote?.ask === undefined || vote.deny !== undefined) return vote === undefined ? undefined : { ...vote, by: tap.plugin };
    (subject as { asks: GatheredAsk[] }).asks.push({ plugin: tap.plugin, text: vote.ask, ...(vote.rule === undefined ? {} : { rule: vote.rule }) });
    return undefined;
  };
/** What goes on in a plugin's name is known to be its doing. */
const signed =
  (run: (subject: unknown, context: unknown) => Promise<unknown>, tap: TapRecord) =>
  async (subject: unknown, context: unknown): Promise<unknown> => {
    const outcome = await run(subject, context);
    return outcome === undefined ? undefined : { ...(outcome as object), by: tap.plugin };
  };
export interface GatheredBegin {
  readonly plugin: string;
  readonly label: string;
  readonly begin: () => Promise<(result: ToolResult | undefined) => Promise<void>>;
}
export interface GatheredAsk {
  readonly plugin: string;
  readonly text: string;
  readonly rule?: string;
}
