/** The 21 points at which a plugin may change what happens: their types, and what each is made of. */
import type { Entry } from '../data.ts';
import * as checks from './outcomes.ts';
import type * as S from './subjects.ts';

export type Later<T> = T | Promise<T>;
type Maybe<T> = Later<T | undefined | void>;
// The union keeps a promise out, which `void` alone would let pass.
type Nothing = undefined | void;

/** Hooks about one tool call. `when: { tool }` narrows the type of its input. */
export interface CallHooks<T extends string> {
  /** Each call, in the order issued, before any of the batch runs. May rewrite the input. */
  call(call: S.ToolCall<T>): Maybe<{ input: S.InputOf<T> }>;
  /** Just before a call runs, its input final. The first denial ends the voting; a throw denies. */
  gate(call: S.ToolCall<T>): Later<S.Vote | void>;
  /** After a tool returned; not for denied or aborted calls. May replace parts of the result. */
  result(result: S.ToolResult, call: S.ToolCall<T>): Maybe<Partial<S.ToolResult>>;
}

export interface Hooks {
  /** A generation is ready, before any turn of it. */
  open(opening: { readonly resumed: boolean }, at: S.SessionContext): Later<void>;
  /** Each input, whatever its source, also steered and queued ones. May rewrite, put reminders before it, or take it over. */
  input(admission: S.Admission, turn: S.TurnContext): Maybe<Partial<Pick<S.Admission, 'text' | 'before' | 'handled'>>>;
  /** Top of each step, history complete; again before the retry of a request for which the conversation was compacted. May compact, remind, or stop the turn with a reason. */
  prepare(step: S.StepContext): Maybe<{ stop: string }>;
  /** The prefix is built, once a generation. May drop, reorder or replace sections; adding is by registry. */
  prompt(sections: readonly S.PromptSection[], step: S.StepContext): Maybe<readonly S.PromptSection[]>;
  /** The request is built. May take tools away with a reason. Synchronous. */
  offer(offer: S.Offer, step: S.StepContext): Nothing;
  /** The request is built. May prune or annotate messages for this request only. */
  context(messages: readonly S.ViewMessage[], step: S.StepContext): Maybe<readonly S.ViewMessage[]>;
  /** Last before sending, whatever the request is for: see its `purpose`. May change the model and parameters, or refuse to have it sent. */
  request(request: S.ModelRequest, step: S.StepContext): Maybe<Partial<S.ModelRequest> | { refuse: S.Refusal }>;
  /** Once an attempt, before the first byte. May put in a stateful text filter. Synchronous. */
  stream(pipe: S.StreamPipe, step: S.StepContext): Nothing;
  /** The provider failed, or its reply was empty or cut. May repair and retry, or stop. */
  failure(failure: S.Failure, step: S.StepContext): Maybe<S.Recovery>;
  /** The reply is complete, nothing stored or run yet. May turn it back, set the visible text, record along with it. */
  reply(review: S.ReplyReview, step: S.StepContext): Later<void>;
  /** A person is needed. May answer in their stead. */
  ask(question: S.Question, turn: S.TurnContext): Maybe<S.Answer>;
  /** Before any child process of any plugin. May wrap argv, set the directory, scrub the environment. */
  spawn(spec: S.SpawnSpec, at: S.SessionContext): Maybe<Partial<Pick<S.SpawnSpec, 'argv' | 'cwd' | 'env'>>>;
  /** A batch is durable. At least once; what a tap appends is queued, not nested. */
  stored(entries: readonly Entry[], at: S.SessionContext): Later<void>;
  /** No calls are left and no input waits. May go on with a reminder for the model. */
  settle(end: S.TurnEnd, turn: S.TurnContext): Maybe<{ continue: string }>;
  /** Someone asked for a compaction. May cancel it, or give a summary and where to cut. */
  compact(job: S.Compaction, turn: S.TurnContext): Maybe<{ cancel: string } | { summary: string; keepFrom: string }>;
  /** The working directory changed. */
  moved(move: { readonly from: string; readonly to: string }, at: S.SessionContext): Later<void>;
  /** The turn is over, whatever the reason; the signal is a fresh one. */
  ended(end: S.TurnEnd, turn: S.TurnContext): Later<void>;
  /** The session is released. */
  close(closing: { readonly reason: string }, at: S.SessionContext): Later<void>;
}

export type HookName = keyof Hooks | keyof CallHooks<string>;

/** What a throwing, late or garbled tap costs: nothing, the one thing at hand, or the turn. */
export type FaultPolicy = 'skip' | 'refuse' | 'fail';
/** How the outcomes of taps combine. */
export type HookClass = 'series' | 'waterfall' | 'bail' | 'sync';

export interface HookTrait {
  readonly class: HookClass;
  readonly policy: FaultPolicy;
  /** Milliseconds a tap has unless it says otherwise, and the most it may ask for. Null: no limit. */
  readonly budget: { readonly default: number; readonly ceiling: number } | null;
  /** Describes what is wrong with an outcome; undefined when it is fine. */
  readonly check: (outcome: unknown) => string | undefined;
}

export const STAGES = ['mode', 'policy', 'sandbox', 'normal', 'judge', 'late'] as const;
export type Stage = (typeof STAGES)[number];
/** Taps in these stages guard: closed means refused, never waved through. */
export const GUARD_STAGES: ReadonlySet<Stage> = new Set(['mode', 'policy', 'sandbox', 'judge']);
/** Hooks whose taps all guard, whatever their stage. */
export const GUARD_HOOKS: ReadonlySet<HookName> = new Set(['gate', 'call', 'ask', 'spawn']);

const S5 = { default: 5_000, ceiling: 5_000 };
const S5_120 = { default: 5_000, ceiling: 120_000 };

/** In the order of a turn. Budgets: `docs/hooks.md`. */
export const HOOKS: Readonly<Record<HookName, HookTrait>> = {
  open: { class: 'series', policy: 'skip', budget: S5, check: checks.nothing },
  input: { class: 'waterfall', policy: 'fail', budget: S5_120, check: checks.admission },
  prepare: { class: 'bail', policy: 'skip', budget: S5_120, check: checks.stop },
  prompt: { class: 'waterfall', policy: 'skip', budget: S5, check: checks.sections },
  offer: { class: 'sync', policy: 'fail', budget: null, check: checks.nothing },
  context: { class: 'waterfall', policy: 'skip', budget: S5, check: checks.messages },
  request: { class: 'waterfall', policy: 'fail', budget: S5, check: checks.request },
  stream: { class: 'sync', policy: 'fail', budget: null, check: checks.nothing },
  failure: { class: 'bail', policy: 'skip', budget: S5_120, check: checks.recovery },
  reply: { class: 'series', policy: 'fail', budget: S5, check: checks.nothing },
  call: { class: 'waterfall', policy: 'refuse', budget: { default: 5_000, ceiling: 60_000 }, check: checks.call },
  gate: { class: 'bail', policy: 'refuse', budget: { default: 60_000, ceiling: 600_000 }, check: checks.vote },
  ask: { class: 'bail', policy: 'refuse', budget: null, check: checks.answer },
  spawn: { class: 'waterfall', policy: 'refuse', budget: S5, check: checks.spawn },
  result: { class: 'waterfall', policy: 'skip', budget: S5_120, check: checks.result },
  stored: { class: 'series', policy: 'skip', budget: S5, check: checks.nothing },
  settle: { class: 'bail', policy: 'skip', budget: { default: 5_000, ceiling: 600_000 }, check: checks.goOn },
  compact: { class: 'bail', policy: 'skip', budget: { default: 120_000, ceiling: 120_000 }, check: checks.plan },
  moved: { class: 'series', policy: 'skip', budget: S5, check: checks.nothing },
  ended: { class: 'series', policy: 'skip', budget: { default: 2_000, ceiling: 30_000 }, check: checks.nothing },
  close: { class: 'series', policy: 'skip', budget: S5, check: checks.nothing },
};
