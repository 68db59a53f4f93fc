/** What a session tells: facts in order, never dropped, and deltas that a slow reader gets merged. Nothing here changes anything. */
import type { CallStatus, Message, Purpose, Sketch, ToolFailure, Usage } from './data.ts';
import type { Compaction, FieldValues, Question } from './hooks/subjects.ts';

/** Types of events; a plugin's own travel as `plugin`. */
export interface EventMap {
  'session.opened': { cwd: string; root: string; model: string; tools: readonly string[]; resumed: boolean };
  'turn.started': { turn: number; clientId?: string };
  'input.accepted': { text: string; origin: string };
  'text.delta': { text: string };
  'reasoning.delta': { text: string };
  /** Visible characters to take back: their reply was turned back, or broke off and is asked for again. */
  'text.retracted': { chars: number };
  'reply.accepted': { message: Message; visible: string };
  /** The text that had come when the turn was aborted or broke off; it is kept, marked as incomplete. */
  'reply.partial': { visible: string };
  'tool.started': { id: string; tool: string; input: unknown };
  'tool.progress': { id: string; text: string };
  'tool.ended': {
    id: string;
    tool: string;
    status: CallStatus;
    content: string;
    error?: ToolFailure;
    durationMs: number /** A gate or an unanswered ask turned it down. */;
    denied?: string /** How to draw it; absent: as the content. */;
    view?: Sketch;
  };
  usage: { usage: Usage; purpose: Purpose; estimated?: boolean; provider: string; model: string; child?: string };
  retry: { attempt: number; delayMs: number; reason: string };
  'question.asked': { question: Question };
  'question.answered': {
    id: string;
    choice: string;
    by: string;
    rules: readonly string[];
    tool?: string;
    text: string;
    values?: FieldValues /** Call that it was about. */;
    call?: string /** It was asked in a child session, where it is answered as well: labels of the children on the way there. */;
    path?: readonly string[];
  };
  /** What it was about was aborted. */
  'question.withdrawn': { id: string };
  /** The view of the model was shortened. `entry` holds the summary. */
  compacted: { messages: number; tokensBefore: number; tokensAfter: number; reason: Compaction['reason']; entry: string };
  /** Someone asked for a compaction, and the conversation is as it was. */
  'compaction.failed': { reason: Compaction['reason']; why: string };
  /** The conversation goes on from another entry: after a rewind, or because another process wrote. What is shown of it has to be read again. */
  'branch.changed': { head: string | null };
  'workspace.moved': { from: string; to: string };
  'queue.changed': { items: readonly { id: string; text: string }[] };
  'tap.fault': { plugin: string; hook: string; label: string; message: string; quarantined: boolean };
  notice: { text: string; code?: string };
  warning: { text: string; code?: string };
  error: { code: string; message: string; retryable: boolean; suggestedFix?: string };
  'turn.ended': { turn: number; reason: EndReason; exitCode: number; steps: number; toolCalls: number; usage: Usage; durationMs: number; clientId?: string };
  'session.closed': { reason: string };
  plugin: { plugin: string; name: string; data: unknown };
}
export type EndReason = 'stop' | 'aborted' | 'error' | 'disconnected' | 'limit' | 'cut_off';
export type EventType = keyof EventMap;

export type CastEvent = {
  [K in EventType]: {
    /** Rises by one with each event of the session. */
    readonly seq: number;
    /** Epoch milliseconds. */
    readonly at: number;
    readonly session: string;
    readonly turn?: number;
    readonly step?: number;
    readonly type: K;
    readonly data: EventMap[K];
  };
}[EventType];
