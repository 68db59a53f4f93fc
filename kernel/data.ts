/** Plain data that travels through the kernel. Everything here can be written to a log and read back. */

export type CallStatus = 'ok' | 'error' | 'denied' | 'aborted';

/** Codes that clients branch on, never on the text of a result. */
export type ToolErrorCode =
  | 'ABORTED'
  | 'TIMEOUT'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'INVALID_ARGUMENT'
  | 'UNAVAILABLE'
  | 'CONFLICT'
  | 'EXTERNAL_ERROR'
  | 'INTERNAL_ERROR'
  | 'DOOM_LOOP'
  | (string & {});

export interface ToolFailure {
  readonly code: ToolErrorCode;
  /** Whether the same call may succeed when it is made again. */
  readonly retryable: boolean;
  readonly suggestedFix?: string;
}

/** Drawn beside the diff, appended for the model after the content, and exempt from its truncation. */
export interface Note {
  readonly path: string;
  /** From 1. */
  readonly line?: number;
  readonly mood: 'info' | 'warn' | 'bad';
  readonly text: string;
}

export interface Image {
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** `arguments` is the raw string of the model, which may be no JSON at all. */
  | { readonly type: 'call'; readonly id: string; readonly tool: string; readonly arguments: string }
  | {
      readonly type: 'result';
      readonly id: string;
      readonly tool: string;
      readonly content: string;
      readonly status: CallStatus;
      readonly error?: ToolFailure;
      readonly details?: unknown;
      readonly view?: Sketch;
    }
  | { readonly type: 'image'; readonly image: Image /** The call whose result it belongs to. */; readonly call?: string }
  /** Something that only its provider understands (encrypted reasoning, a signature) and that goes back to it alone. */
  | { readonly type: 'item'; readonly provider: string; readonly data: unknown };
export type CallBlock = Extract<Block, { type: 'call' }>;
export type ResultBlock = Extract<Block, { type: 'result' }>;

export interface Message {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly blocks: readonly Block[];
  /** Who put it in: `user`, `model`, `kernel`, or a plugin by name. */
  readonly origin: string;
  /** Text as the model wrote it, when the visible text differs. Goes back to the model; never to a surface. */
  readonly raw?: string;
  /** A note of the kernel or a plugin for the model: no prompt, and no place for a cut. */
  readonly reminder?: true;
  /** The reply was stopped before its end. */
  readonly incomplete?: true;
}

export type InputSource = 'local' | 'pipe' | 'server' | 'acp' | 'peer' | 'plugin';
export interface Input {
  readonly text: string;
  readonly source: InputSource;
  /** Who sent it: `user`, a plugin or a peer by name. */
  readonly origin: string;
  readonly images?: readonly Image[];
  /** Given by the client, so that a repeated submit is not a second turn. */
  readonly clientId?: string;
}

/** What each kind of entry holds. A session is a tree of entries; nothing in it is ever changed. */
export interface EntryData {
  message: Message;
  /** A reply that a plugin turned back, with the reasons the model is told. */
  rejected: { readonly message: Message; readonly reasons: readonly string[] };
  /** A call with an effect is about to run; without a later result its outcome is unknown. */
  started: { readonly call: string; readonly tool: string };
  compaction: {
    readonly summary: string;
    /** Id of the first entry that stays in view. */
    readonly keepFrom: string;
    /** Id of the running prompt, carried verbatim where the cut fell behind it. */
    readonly prompt?: string;
    readonly reason: string;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
  };
  /** Replaces an entry's content in the view; the entry itself stays as it was. */
  mask: {
    readonly entry: string;
    readonly note: string;
    /** What of it is replaced. Default: all of its content but the calls. */
    readonly only?: 'images';
  };
  workspace: { readonly cwd: string };
  turn: { readonly turn: number; readonly phase: 'start' | 'end'; readonly reason?: string; readonly code?: string };
  plugin: { readonly plugin: string; readonly slice: string; readonly data: unknown };
  /** What everything before it comes to, so that a long session opens without reading it. */
  snapshot: Folded;
}
export interface Folded {
  /** Number of the newest turn. */
  readonly turn: number;
  /** Of the newest `workspace` entry; absent where there is none. */
  readonly cwd?: string;
  /** States of plugins as `plugin/slice`, each with the version of the fold that made it. */
  readonly states: Readonly<Record<string, { readonly version: string; readonly value: unknown }>>;
  /** Slices of which there are entries and whose state is not here: it has to be folded from them. */
  readonly unfolded: readonly string[];
}
export type EntryKind = keyof EntryData;
export type NewEntry = { [K in EntryKind]: { readonly kind: K; readonly data: EntryData[K] } }[EntryKind];
export type Entry = NewEntry & {
  readonly id: string;
  /** Null for the first entry of a session. */
  readonly parent: string | null;
  /** Rises by one with each entry of the session, over all branches. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** How a tool is shown to a model. */
export interface ToolCard {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, draft 2020-12. */
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** US dollars; absent when the price is not known. */
  readonly cost?: number;
}

/** What a request is for; scripted and replayed providers answer by it. */
export type Purpose = 'main' | 'judge' | 'summary' | 'title' | 'memory' | 'hook';

export interface ModelRequest {
  readonly purpose: Purpose;
  readonly session: string;
  /** Name of the provider that answers. */
  readonly provider: string;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolCard[];
  readonly maxOutputTokens?: number;
  /** `off`, `low`, `medium`, `high`, `max` or a level of the provider's own. */
  readonly reasoning?: string;
  /** The reply is to be one JSON document of this schema. Providers that cannot hold a model to it are asked without. */
  readonly format?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
}

/** What a provider yields. Deltas only: nothing is cumulative but `usage`, of which the last one counts. */
export type Delta =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** A whole call; `arguments` is the raw string. An empty id is replaced by the kernel. */
  | { readonly type: 'call'; readonly id: string; readonly tool: string; readonly arguments: string }
  | ({ readonly type: 'usage'; readonly promptTokens: number; readonly completionTokens: number } & Partial<Usage>)
  | { readonly type: 'item'; readonly data: unknown }
  /** Absent when the stream broke: a reply without an `end` is no success. */
  | { readonly type: 'end'; readonly reason: 'stop' | 'calls' | 'length' | 'refused' };

/** What is not known is absent. */
export interface ModelInfo {
  readonly id: string;
  /** Tokens. */
  readonly contextWindow?: number;
  /** Tokens. */
  readonly maxOutput?: number;
  /** US dollars a million tokens. Without prices of their own cached tokens cost as much as others. */
  readonly price?: { readonly in: number; readonly out: number; readonly cacheRead?: number; readonly cacheWrite?: number };
  /** Levels of reasoning, the least first; empty for a model that does not reason, without `off` for one that always does. */
  readonly reasoning?: { readonly levels: readonly string[]; readonly default?: string };
  /** Whether it takes images. */
  readonly images?: boolean;
}

export interface Provider {
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<Delta>;
  /** What is known of a model by now. Asks nobody: it is read before each request. */
  info?(model: string): ModelInfo | undefined;
  /** Asks the provider for its models. */
  models?(signal: AbortSignal): Promise<readonly ModelInfo[]>;
}

/** Drawn by each surface in its own way and at its own width: no plugin knows what a terminal is. */
export type Sketch =
  | { readonly kind: 'text' | 'markdown'; readonly text: string }
  /** `path` tells its language, `line` is the number of its first line. */
  | { readonly kind: 'code'; readonly text: string; readonly path?: string; readonly line?: number }
  /** Unified hunks: `@@ -1,3 +1,4 @@` and their lines. */
  | { readonly kind: 'diff'; readonly text: string; readonly path?: string }
  /** `done` of `total`, with what is going on. */
  | { readonly kind: 'progress'; readonly text: string; readonly done: number; readonly total: number }
  | { readonly kind: 'rows'; readonly rows: readonly Sketch[] }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly { readonly cells: readonly string[]; readonly actions?: readonly { readonly label: string; readonly command: string }[] }[];
    }
  | { readonly kind: 'fold'; readonly title: string; readonly body: Sketch }
  | { readonly kind: 'badge'; readonly text: string; readonly mood: 'plain' | 'good' | 'warn' | 'bad' };
