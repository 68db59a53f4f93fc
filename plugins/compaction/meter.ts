/** How full the window is: as the provider counted the newest request, estimated from there on or where it did not count. */
import { estimateMessage, estimateRequest, type ModelRequest, type SessionFace } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';

export interface MeterParts {
  readonly session: Pick<SessionFace, 'view' | 'tail' | 'window'>;
  /** Tokens that are left for the reply. */
  readonly reserve: number;
  readonly threshold: number;
  /** Prompt tokens of the newest request of the session, from before this process; 0 when nobody knows. */
  readonly kept: () => number;
}
export interface Reading {
  readonly tokens: number;
  readonly isMeasured: boolean;
}
/** A count of the provider, and what the messages of that request were estimated at. */
interface Measure {
  readonly tokens: number;
  readonly messages: number;
}

export class Meter {
  readonly #at: MeterParts;
  /** Estimated, of system text and tools; 0 before the first request. */
  #prefix = 0;
  #sent: number | undefined;
  /** Null once it is known that there is none. */
  #measure: Measure | null | undefined;
  /** Whether the conversation was over the limit right after it was compacted. */
  isStubborn = false;
  /** Nothing has been counted since the newest compaction. */
  #isFresh = false;

  constructor(parts: MeterParts) {
    this.#at = parts;
  }

  get prefix(): number {
    return this.#prefix;
  }
  /** Tokens that a prompt may have. */
  get room(): number {
    const { session, reserve } = this.#at;
    return session.window - Math.min(reserve, Math.floor(session.window * LIMITS.reserveShare));
  }
  get limit(): number {
    return this.room * this.#at.threshold;
  }

  sees(request: ModelRequest): void {
    this.#prefix = estimateRequest({ ...request, messages: [] });
    this.#sent = request.messages.reduce((sum, message) => sum + estimateMessage(message), 0);
  }
  counted(promptTokens: number): void {
    const messages = this.#sent ?? this.#inView();
    this.#measure = isPlausible(promptTokens, this.#prefix + messages) ? { tokens: promptTokens, messages } : null;
    if (this.#isFresh) this.isStubborn = Math.max(promptTokens, this.#measure ? 0 : this.#prefix + messages) > this.limit;
    this.#isFresh = false;
  }
  /** The conversation is another one: what was counted says nothing about it. */
  forget(): void {
    this.#measure = null;
  }
  compacted(): void {
    this.forget();
    this.#isFresh = true;
  }

  read(): Reading {
    const measure = this.#known();
    const inView = this.#inView();
    return measure
      ? { tokens: measure.tokens + Math.max(0, inView - measure.messages), isMeasured: true }
      : { tokens: this.#prefix + inView, isMeasured: false };
  }
  /** At the top of a step. What was counted decides; behind the first step there are results that nobody has counted. */
  isDue(step: number): boolean {
    const measure = this.#known();
    if (measure && measure.tokens > this.limit) return true;
    return this.read().tokens > (step > 1 || !measure ? this.limit : this.room);
  }

  #known(): Measure | null {
    if (this.#measure === undefined) this.#measure = this.#resumed();
    return this.#measure;
  }
  /** From before this process, unless a compaction came after it. */
  #resumed(): Measure | null {
    const { session, kept } = this.#at;
    const newest = session.tail(RECENT).findLast(({ kind, data }) => kind === 'compaction' || (kind === 'message' && data.role === 'assistant'));
    const [tokens, messages] = [kept(), this.#inView()];
    return newest?.kind !== 'compaction' && isPlausible(tokens, messages) ? { tokens, messages } : null;
  }
  #inView(): number {
    return this.#at.session.view().reduce((sum, { tokens }) => sum + tokens, 0);
  }
}

/** Entries among which the newest reply is looked for. */
const RECENT = 64;
/** Some servers leave out what their cache had, some say nothing: less than half of what is there is no count. */
const isPlausible = (tokens: number, estimated: number): boolean => tokens > 0 && tokens >= estimated / 2;
