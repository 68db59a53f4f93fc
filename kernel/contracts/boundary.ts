/** What lies between a session and the world: replies of providers, bodies of tools, answers of people. For recording it, and for playing it back. */
import type { Delta, Input, ModelRequest, NewEntry } from '../data.ts';
import type { EventMap } from '../events.ts';
import type { ChildEnd, ChildOrder } from './powers.ts';
import type { PluginReport } from './report.ts';
import type { HookName } from '../hooks/catalogue.ts';
import type { Answer, Question, RunningCall, ToolResult } from '../hooks/subjects.ts';

/** Where in the session something happens; absent between turns. */
export interface Place {
  readonly turn?: number;
  readonly step?: number;
}
/** What one tap made of its subject. */
export interface TapOutcome extends Place {
  readonly hook: HookName;
  readonly plugin: string;
  readonly label: string;
  /** Id of the call that it is about. */
  readonly call?: string;
  /** What the tap answered; where it changes its subject instead, the changes. */
  readonly outcome: unknown;
  /** Set when it was asked for in the middle of a plugin's code: `tool`, `command`, or the hook of a tap. */
  readonly within?: string;
}

/** What is left out goes on as ever. `next` is what would have happened. */
export interface Boundary {
  /** A reply, whatever it is for. */
  stream?(request: ModelRequest, at: Place & { readonly signal: AbortSignal }, next: () => AsyncIterable<Delta>): AsyncIterable<Delta>;
  /** The body of a tool, once its call is allowed. What a tool throws is an answer as well. */
  run?(call: RunningCall, next: () => Promise<string | Partial<ToolResult>>): Promise<string | Partial<ToolResult>>;
  /** What a person says, once no tap has answered. */
  answer?(question: Question, next: () => Promise<Answer>): Promise<Answer>;
  /** Work for a child session, whose own boundary nobody stands at. */
  child?(order: ChildOrder, signal: AbortSignal, next: () => Promise<ChildEnd>): Promise<ChildEnd>;
  /** Told of an input that somebody brings; `within` as with taps. */
  brought?(input: Input, isRunning: boolean, within: string | undefined): void;
  /** Told of entries before they are appended, in the name of whoever appends them. */
  appending?(batch: readonly NewEntry[]): void;
  /** Told of taps that made something of their subject, in the order in which they did. */
  tapped?(outcome: TapOutcome): void;
}

export interface BoundaryPower {
  /** Until the generation ends. Throws REGISTRY_CONFLICT where another plugin stands. */
  stand(boundary: Boundary): void;
  /** The same value without secrets, as it would be stored. */
  redact<T>(value: T): T;
  /** Those of the generation, with their state. */
  plugins(): readonly Pick<PluginReport, 'name' | 'version' | 'state'>[];
  append(batch: readonly NewEntry[]): Promise<void>;
  /** Counts what a child session, or a plugin's question to a model, used when it was recorded. */
  used(usage: EventMap['usage']): void;
  /** Into the running turn, at its next step. */
  bring(input: Input): void;
  abort(reason: string): void;
}
