/** What the hooks are about. Subjects with methods occur only where a faulty tap is not skipped, so no half change counts. */
import type { CallStatus, Image, Input, InputSource, Message, ModelRequest, Note, Sketch, ToolCard, ToolFailure } from '../data.ts';
import type { ErrorCode, ProviderFailure } from '../errors.ts';

export type Effect = 'read' | 'write' | 'exec' | 'talk';

/** What taps see of a session. */
/** What a child session works for. */
export interface ChildOrigin {
  /** The session that a person sees: the first of its parents, which is nobody's child. */
  readonly rootSession: string;
  /** Turn of that session in which the work was ordered. */
  readonly rootTurn: number;
  /** Labels of the children from there to here, this one last. */
  readonly path: readonly string[];
  /** What the plugin that ordered it said for the plugins of the child. */
  readonly data?: unknown;
}
export interface SessionFace {
  readonly id: string;
  /** The session that opened this one; its asks and grants live there. */
  readonly parent?: string;
  /** Of a child session while its parent waits for it. */
  readonly origin?: ChildOrigin;
  readonly cwd: string;
  /** The project's root, by which it is trusted. */
  readonly root: string;
  /** Whether a person can be asked. */
  readonly interactive: boolean;
  readonly model: string;
  /** Name of the active provider; null when there is none. */
  readonly provider: string | null;
  /** Tokens that the context window of the model holds. */
  readonly window: number;
  /** Model calls that a turn may make. */
  readonly maxSteps: number;
  /** The conversation as the model sees it, each message with the id of its entry. */
  view(): readonly ViewMessage[];
  /** The newest entries of the current branch, oldest first; 256 of them are always to be had. */
  tail(count: number): readonly import('../data.ts').Entry[];
  /** Older entries of every branch, newest first; for features that page through history. */
  read(query: {
    readonly before?: number;
    readonly limit: number;
    readonly kinds?: readonly import('../data.ts').EntryKind[];
  }): Promise<readonly import('../data.ts').Entry[]>;
  /** Shortens the view through the `compact` hook. False when every tap declined. */
  compact(reason: 'threshold' | 'overflow' | 'command', signal: AbortSignal, instructions?: string): Promise<boolean>;
  /** What a compaction would be about now. Asks nobody and changes nothing. */
  compactable(): Promise<Compaction>;
  /** Replaces the content of an entry in the view by a note, or only its images; the entry itself stays as it was. */
  mask(entry: string, note: string, only?: 'images'): Promise<void>;
  /** Takes effect once the results of the running batch are stored. */
  moveTo(cwd: string): void;
  /** Asks a person, through the `ask` hook first. Resolves to `reject` where nobody can answer. */
  ask(question: QuestionDraft, signal: AbortSignal): Promise<Answer>;
}
export interface ViewMessage extends Message {
  /** Id of the entry it comes from; summaries and repairs have the id of what they stand for. */
  readonly entry: string;
  /** Estimated tokens. */
  readonly tokens: number;
}

export interface SessionContext {
  readonly session: SessionFace;
  readonly signal: AbortSignal;
}
export interface TurnContext extends SessionContext {
  /** From 1. */
  readonly turn: number;
}
export interface StepContext extends TurnContext {
  /** From 1 within the turn. */
  readonly step: number;
  /** From 1 within the step. */
  readonly attempt: number;
}

export interface Admission {
  readonly input: Input;
  /** What reaches the model. */
  readonly text: string;
  /** Reminders put before the input. */
  readonly before: readonly string[];
  /** Set by a tap that dealt with the input: the turn ends with this text and the model is not asked. */
  readonly handled?: string;
}

export type Slot = 'identity' | 'mode' | 'conduct' | 'project' | 'tools' | 'environment';
export interface PromptSection {
  readonly name: string;
  readonly slot: Slot;
  readonly text: string;
  /** The plugin that put it there. */
  readonly from: string;
}

export interface OfferedTool {
  readonly name: string;
  readonly effect: Effect | 'varies';
  readonly from: string;
  readonly card: ToolCard;
}

/** The tools of this step. Narrow only: a tap can take tools away, never bring them in, so the order of taps cannot matter. */
export interface Offer {
  readonly tools: readonly OfferedTool[];
  /** Tools for which `wanted` is false are withheld; the model is told the reason when it calls one. */
  keep(wanted: (tool: OfferedTool) => boolean, reason: string): void;
}

/** Why a request is not sent. The turn ends with it, or whoever asked is told. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** What to do next, in one sentence. */
  readonly fix?: string;
}

/** A stateful filter between the provider and the surfaces; made anew for each attempt. */
export interface StreamFilter {
  /** Returns what may be shown now; it may hold text back. */
  push(text: string): string;
  /** Returns what was held back. */
  end(): string;
}
export interface StreamPipe {
  add(filter: StreamFilter): void;
}

export interface Failure {
  readonly kind: ProviderFailure;
  /** Which provider failed, with which model. */
  readonly provider: string;
  readonly model: string;
  readonly error: unknown;
  /** How often this kind has come in this turn, this one included. */
  readonly seen: number;
  /** How often this step has failed, this one included. */
  readonly seenInStep: number;
  /** Milliseconds since the first attempt of this step. */
  readonly elapsedMs: number;
  /** Text that had been shown. */
  readonly partial: string;
  /** Whether any part of the reply had come. */
  readonly began: boolean;
}
/** `retry` builds the request again; `stop` ends the turn with the provider's error. */
export type Recovery =
  | { readonly retry: { readonly afterMs?: number; readonly reason: string /** A reminder for the model. */; readonly remind?: string } }
  | { readonly stop: string };

export interface ReplyReview {
  readonly message: Message;
  readonly raw: string;
  /** How often this step's reply was turned back before. */
  readonly before: number;
  readonly visible: string;
  /** Turns the reply back; all reasons are gathered. A `final` one ends the turn. */
  reject(reason: string, how?: { readonly final?: boolean }): void;
  /** Sets what surfaces and the user see. */
  show(visible: string): void;
  /** Stored in the same batch as the reply: what must not be lost between the two. */
  record(slice: string, data: unknown): void;
}

/** Inputs of known tools; a plugin widens it for its own by declaration merging. */
export interface ToolInputs {
  bash: { command: string; timeout?: number; run_in_background?: boolean };
  bash_output: { task_id: string; wait?: number };
  bash_kill: { task_id: string };
  read: { path: string; offset?: number; limit?: number };
  write: { path: string; content: string };
  edit: {
    filePath: string;
    oldString?: string;
    newString?: string;
    replaceAll?: boolean;
    edits?: readonly { oldString: string; newString: string; replaceAll?: boolean }[];
    /** Of the mode `hashline`, in which none of the above but the path is given. */
    ops?: readonly { op: 'replace' | 'insert_after' | 'insert_before' | 'write'; anchor?: string; end_anchor?: string; content: string }[];
  };
  grep: { pattern: string; path?: string; glob?: string; ignoreCase?: boolean; literal?: boolean; context?: number; limit?: number };
  glob: { pattern: string; path?: string; limit?: number };
  ls: { path?: string; limit?: number };
  todo_write: {
    todos: readonly {
      content: string;
      status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
      priority?: 'high' | 'medium' | 'low';
    }[];
  };
  question: { questions: readonly QuestionField[] };
  web_fetch: { url: string; maxChars?: number; format?: 'markdown' | 'text' | 'html' };
  web_search: { query: string; maxResults?: number; region?: string; time?: 'd' | 'w' | 'm' | 'y' };
}
export type InputOf<T extends string> = T extends keyof ToolInputs ? ToolInputs[T] : Readonly<Record<string, unknown>>;

export interface ToolCall<T extends string = string> extends StepContext {
  readonly id: string;
  readonly tool: T;
  readonly effect: Effect;
  readonly input: InputOf<T>;
  /** Working directory as it was when the batch began. */
  readonly cwd: string;
  /** Canonical paths that the call reads or changes, as the tool declared them. */
  readonly paths: readonly string[];
  progress(text: string): void;
}
/** A call that was allowed and runs. */
export interface RunningCall extends ToolCall {
  /**
   * Asks the gates about another input of this tool, for what a call turns out to be about once it runs: where a redirect leads.
   * Undefined when it may go on, else what the call has to answer.
   */
  judge(input: object): Promise<ToolResult | undefined>;
}
export interface ToolResult {
  readonly content: string;
  readonly status: CallStatus;
  readonly images?: readonly Image[];
  readonly error?: ToolFailure;
  readonly notes?: readonly Note[];
  /** Canonical paths that were changed. */
  readonly changed?: readonly string[];
  /** The turn ends once the batch is done. */
  readonly endsTurn?: boolean;
  /** Facts for programs: taps, replay. Never sent to the model. */
  readonly details?: unknown;
  /** How surfaces draw it, each in its own way; default: the content. Never sent to the model. */
  readonly view?: Sketch;
}
export type Vote =
  /** `code` of the result; default PERMISSION_DENIED. */
  | { readonly deny: string; readonly endsTurn?: boolean; readonly code?: string }
  /** `rule` is what "always" would remember. */
  | { readonly ask: string; readonly rule?: string }
  /**
   * Run once the call is allowed, after every question and just before it begins; a throw refuses the call. What it answers with is
   * run when the call is over, however it ended.
   */
  | { readonly begin: () => Promise<(result: ToolResult | undefined) => Promise<void>> }
  | undefined;

export interface Choice {
  readonly value: string;
  readonly label: string;
}
/** One question of a form. */
export interface QuestionField {
  readonly question: string;
  readonly options: readonly (Choice & { readonly description?: string })[];
  /** Value of the option that whoever asks would take. */
  readonly recommended?: string;
  /** Any number of options may be chosen. */
  readonly multi?: boolean;
  /** One of the options it has to be, no text of one's own. */
  readonly noFreeForm?: boolean;
}
/** One for each field of a form: an option's value or a text of one's own, a list of them where several may be chosen. */
export type FieldValues = readonly (string | readonly string[])[];
export interface QuestionDraft {
  readonly kind: string;
  readonly text: string;
  /** Empty for a form. */
  readonly choices: readonly Choice[];
  /** A form: all of it is answered at once. */
  readonly fields?: readonly QuestionField[];
  /** Nothing that runs waits for it: the session is idle while it is open. */
  readonly standing?: true;
  /** What a remembered yes would cover, in words and as rules. */
  readonly rules?: readonly string[];
  readonly call?: { readonly id: string; readonly tool: string; readonly input: unknown };
}
export interface Question extends QuestionDraft {
  readonly id: string;
  /** Labels of the child sessions between the one that a person sees and the one that asks. */
  readonly path?: readonly string[];
  readonly rules: readonly string[];
}
export interface Answer {
  /** `answered` for a form that was filled in. */
  readonly choice: 'once' | 'session' | 'project' | 'reject' | 'answered' | (string & {});
  /** Of a form: lists where several may be chosen. */
  readonly values?: FieldValues;
  /** `user`, `nobody`, or the plugin that answered. */
  readonly by: string;
}

export interface SpawnSpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Why it is started: `bash`, `grep`, `lint`, `mcp`, … */
  readonly purpose: string;
  /** The plugin that starts it. */
  readonly plugin: string;
}

export interface Compaction {
  readonly reason: 'threshold' | 'overflow' | 'command';
  readonly instructions?: string;
  readonly messages: readonly {
    readonly id: string;
    readonly by: 'person' | 'model' | 'tool' | 'kernel';
    readonly tokens: number;
    readonly text: string;
    readonly paths: readonly string[];
  }[];
  /** Ids at which a cut is lawful, oldest first. */
  readonly cuts: readonly string[];
  /** Id of the newest turn's prompt, if it is in view: it stays there wherever the cut falls. */
  readonly prompt?: string;
  readonly tokens: number;
  readonly target: number;
  /** The summary that stands at the beginning of the view, if there is one. */
  readonly previous?: string;
}

export interface TurnEnd {
  readonly reason: 'answered' | 'aborted' | 'failed' | 'stopped';
  /** Error code where the turn failed or was stopped. */
  readonly code?: string;
  readonly detail?: string;
  readonly suggestedFix?: string;
}

export type { InputSource, ModelRequest };
