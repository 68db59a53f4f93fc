/**
 * What every surface talks to, and the only thing: `cast run`, terminal, browser, editors. All of it can be written as JSON,
 * so the same contract is served in-process and over HTTP.
 */
import type { Image, InputSource, Message, Sketch, ToolFailure, Usage, CallStatus } from '../data.ts';
import type { CastEvent } from '../events.ts';
import type { FieldValues, Question } from '../hooks/subjects.ts';
import type { Report } from './report.ts';

export type SessionStatus = 'idle' | 'running' | 'waiting' | 'closed';

/** One item of a conversation as a reader sees it. */
export type PageItem =
  | { readonly kind: 'message'; readonly entry: string; readonly seq: number; readonly at: number; readonly message: Message; readonly inContext: boolean }
  | {
      readonly kind: 'result';
      readonly entry: string;
      readonly seq: number;
      readonly at: number;
      readonly call: string;
      readonly tool: string;
      readonly status: CallStatus;
      readonly content: string;
      readonly error?: ToolFailure;
      /** How to draw it; absent: as the content. */
      readonly view?: Sketch;
      readonly inContext: boolean;
    }
  | { readonly kind: 'compaction'; readonly entry: string; readonly seq: number; readonly at: number; readonly summary: string };
export interface Page {
  /** Oldest first. */
  readonly items: readonly PageItem[];
  /** To be given as `before` for the page before this one; null at the beginning. */
  readonly before: number | null;
}

export interface QueuedItem {
  readonly id: string;
  readonly text: string;
}

export interface Snapshot {
  readonly session: string;
  readonly cwd: string;
  readonly root: string;
  readonly title: string;
  readonly model: string;
  /** Name of the provider that serves it; null when there is none. */
  readonly provider: string | null;
  /** Tokens that its context window holds. */
  readonly window: number;
  readonly status: SessionStatus;
  readonly turn: number;
  /** Of the newest event: read on with `events(seq)`. */
  readonly seq: number;
  readonly usage: Usage;
  readonly queue: readonly QueuedItem[];
  readonly questions: readonly Question[];
  readonly tools: readonly string[];
  /** Commands without `surfaces` work on all of them. */
  readonly commands: readonly {
    readonly name: string;
    readonly summary: string;
    readonly args?: string;
    readonly whileRunning: boolean;
    readonly surfaces?: readonly string[];
  }[];
  readonly panels: readonly { readonly name: string; readonly place: string; readonly sketch: Sketch }[];
}

export interface Submission {
  readonly text: string;
  /** Chosen by the client: the same id again is the same submission. */
  readonly clientId: string;
  readonly source?: InputSource;
  readonly images?: readonly Image[];
}
export type SubmitOutcome =
  | { readonly state: 'started'; readonly turn: number }
  | { readonly state: 'queued'; readonly id: string }
  | { readonly state: 'repeated' };

export type CommandOutcome =
  /** `session`: where the surface goes on, if not here: with a session by its id, or with a new one. */
  | { readonly ok: true; readonly result?: string | Sketch; readonly session?: string | null }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly suggestedFix?: string };

export interface Client {
  snapshot(): Promise<Snapshot>;
  /** Events after `since` (default: from the first that is kept), then as they come, until the session closes or the signal aborts. */
  events(since?: number, signal?: AbortSignal): AsyncIterable<CastEvent>;
  page(before?: number, limit?: number): Promise<Page>;
  submit(submission: Submission): Promise<SubmitOutcome>;
  /** Into the running turn, at the next step; an ordinary submission when none runs. */
  steer(text: string, clientId: string): Promise<SubmitOutcome>;
  /** After the running turn. */
  queue(text: string, clientId: string): Promise<SubmitOutcome>;
  /** False when it has already been taken. */
  editQueued(id: string, text: string): Promise<boolean>;
  removeQueued(id: string): Promise<boolean>;
  /** Ends the running turn; the queue is kept and not run by itself. */
  abort(reason?: string): Promise<void>;
  /** By the value of a choice, or with the values of a form. False when somebody answered before; throws ANSWER_INVALID when a form is not filled in as it asks. */
  answer(question: string, answer: string | FieldValues): Promise<boolean>;
  command(name: string, args: string): Promise<CommandOutcome>;
  rewind(to: { readonly turn: number }): Promise<void>;
  report(): Promise<Report>;
}
