/** Writes down what comes into a session from outside, and what its plugins make of it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  isCastError,
  isProviderError,
  messageOf,
  type Answer,
  type Boundary,
  type ChildEnd,
  type ChildOrder,
  type Clock,
  type Delta,
  type EventMap,
  type ModelInfo,
  type ModelRequest,
  type NewEntry,
  type Place,
  type Purpose,
  type ToolResult,
} from '../../kernel/index.ts';
import { MAX_BYTES, MAX_DELTAS } from './limits.ts';
import type { Observer } from './observer.ts';
import {
  RECORDING_VERSION,
  type Beat,
  type Break,
  type RecordedCall,
  type RecordedChild,
  type RecordedInput,
  type RecordedSession,
  type WholeRecording,
} from './recording.ts';

export interface RecorderParts {
  readonly observer: Observer;
  readonly clock: Clock;
  readonly redact: <T>(value: T) => T;
}
interface OpenStep {
  readonly purpose: Purpose;
  readonly deltas: Beat[];
  isOver: boolean;
}
type Used = EventMap['usage'];
type OpenCall = { -readonly [K in keyof RecordedCall]: RecordedCall[K] } & { entries: NewEntry[]; usage: Used[] };
type OpenChild = { -readonly [K in keyof RecordedChild]: RecordedChild[K] } & { usage: Used[] };

export class Recorder {
  readonly #steps: OpenStep[] = [];
  readonly #calls: OpenCall[] = [];
  readonly #inputs: RecordedInput[] = [];
  readonly #answers: { readonly text: string; readonly answer: Answer }[] = [];
  readonly #models = new Map<string, { readonly provider: string; readonly model: string }>();
  readonly #children: OpenChild[] = [];
  readonly #running = new AsyncLocalStorage<OpenCall>();
  /** What goes on for a child session that no call asked for. */
  readonly #childs = new AsyncLocalStorage<OpenChild>();
  #bytes = 0;
  readonly #at: RecorderParts;

  constructor(parts: RecorderParts) {
    this.#at = parts;
  }

  readonly boundary: Boundary = {
    // What a body asks it does not ask when its answer is played.
    stream: (request, at, next) => (this.#openCall() ? next() : this.#stream(request, at, next)),
    child: (order, _, next) => (this.#openCall() ? next() : this.#child(order, next)),
    run: (call, next) => {
      this.#at.observer.called(call);
      const { turn, step, id, tool } = call;
      const open: OpenCall = { turn, step, id, tool, afterMs: 0, entries: [], usage: [] };
      this.#calls.push(open);
      return this.#running.run(open, () => this.#answered(open, call.signal, next));
    },
    answer: async (question, next) => {
      this.#at.observer.asked(question);
      const answer = await next();
      this.#answers.push({ text: question.text, answer });
      return answer;
    },
    brought: ({ text, source, origin, images }, isRunning, within) => {
      // What taps and listeners bring they bring again.
      if (within !== undefined && within !== 'tool' && within !== 'command') return;
      this.#inputs.push({ text, source, origin, ...(images ? { images } : {}), after: this.#at.observer.replies, isRunning });
    },
    appending: (batch) => {
      this.#openCall()?.entries.push(...batch);
    },
    tapped: (outcome) => this.#at.observer.tapped(outcome),
  };

  used(usage: Used): void {
    (this.#openCall() ?? this.#childs.getStore())?.usage.push(usage);
  }
  /** Whose body runs; its own result is none of the call's doing. */
  #openCall(): OpenCall | undefined {
    const call = this.#running.getStore();
    return call?.answer === undefined ? call : undefined;
  }

  /** Undefined when it has become too large. */
  recording(
    session: Pick<RecordedSession, 'cast' | 'id' | 'startedAt' | 'cwd' | 'root' | 'config'>,
    infoOf: (provider: string, model: string) => ModelInfo | undefined,
  ): WholeRecording | undefined {
    if (this.#bytes > MAX_BYTES) return undefined;
    const steps = this.#steps.map(({ purpose, deltas, isOver }) => ({
      purpose,
      deltas: readable(isOver ? deltas : [...deltas, { type: 'aborted' }], this.#at.redact),
    }));
    const models = [...this.#models.values()].flatMap(({ provider, model }) => {
      const info = infoOf(provider, model);
      return info ? [{ ...info, id: model, provider }] : [];
    });
    const calls = this.#calls.map(
      ({ entries, usage, ...call }): RecordedCall => ({ ...call, ...(entries.length > 0 ? { entries } : {}), ...(usage.length > 0 ? { usage } : {}) }),
    );
    const children = this.#children.length > 0 ? { children: this.#children } : {};
    const outside = { models, inputs: this.#inputs, calls, answers: this.#answers, ...children };
    return { version: RECORDING_VERSION, steps, session: { ...session, ...this.#at.redact(outside), trace: this.#at.observer.trace.events } };
  }

  async *#stream(request: ModelRequest, at: Place & { readonly signal: AbortSignal }, next: () => AsyncIterable<Delta>): AsyncIterable<Delta> {
    this.#at.observer.requested(request, at);
    const { purpose, provider, model } = request;
    this.#models.set(JSON.stringify([provider, model]), { provider, model });
    const step: OpenStep = { purpose, deltas: [], isOver: false };
    this.#steps.push(step);
    let last = this.#at.clock.now();
    const note = (beat: Delta | Break): void => {
      const now = this.#at.clock.now();
      this.#note(step, beat, Math.max(0, now - last));
      last = now;
    };
    try {
      for await (const delta of next()) {
        note(delta);
        yield delta;
      }
    } catch (error) {
      note(at.signal.aborted ? { type: 'aborted' } : breakOf(error));
      throw error;
    } finally {
      // Who stops to listen before the end was told to stop.
      step.isOver = !at.signal.aborted || step.deltas.at(-1)?.type === 'aborted';
    }
  }

  async #child({ label, prompt }: ChildOrder, next: () => Promise<ChildEnd>): Promise<ChildEnd> {
    const child: OpenChild = { label, prompt, usage: [] };
    this.#children.push(child);
    const end = await this.#childs.run(child, next);
    child.end = end;
    return end;
  }

  #note(step: OpenStep, beat: Delta | Break, afterMs: number): void {
    this.#bytes += JSON.stringify(beat).length;
    if (this.#bytes > MAX_BYTES) return;
    const last = step.deltas.at(-1);
    if (step.deltas.length >= MAX_DELTAS && last && isText(last) && isText(beat) && last.type === beat.type)
      step.deltas[step.deltas.length - 1] = joined(last, { ...beat, afterMs });
    else step.deltas.push({ ...beat, ...(afterMs > 0 ? { afterMs } : {}) });
  }

  async #answered(open: OpenCall, signal: AbortSignal, next: () => Promise<string | Partial<ToolResult>>): Promise<string | Partial<ToolResult>> {
    const begun = this.#at.clock.now();
    const answer = await next();
    open.afterMs = this.#at.clock.now() - begun;
    if (!signal.aborted) open.answer = answer;
    this.#bytes += JSON.stringify(answer).length;
    return answer;
  }
}

type Text = Extract<Beat, { type: 'text' | 'reasoning' }>;
const isText = (beat: Beat): beat is Text => beat.type === 'text' || beat.type === 'reasoning';
const joined = (one: Text, other: Text): Text => ({ type: one.type, text: one.text + other.text, afterMs: (one.afterMs ?? 0) + (other.afterMs ?? 0) });

/** Without secrets. One that is parted between two deltas is no secret to either of them, so such a text is joined first. */
const readable = (deltas: readonly Beat[], redact: <T>(value: T) => T): readonly Beat[] => {
  const whole = deltas.reduce<Beat[]>((all, beat) => {
    const last = all.at(-1);
    if (last && isText(last) && isText(beat) && last.type === beat.type) all[all.length - 1] = joined(last, beat);
    else all.push(beat);
    return all;
  }, []);
  const clean = redact(whole);
  const isHarmless = whole.every((beat, index) => JSON.stringify(beat) === JSON.stringify(clean[index]));
  return isHarmless ? deltas : clean;
};

const breakOf = (error: unknown): Break => {
  const message = messageOf(error);
  if (isCastError(error)) return { type: 'error', kind: 'other', message, code: error.code };
  if (!isProviderError(error)) return { type: 'error', kind: 'other', message };
  const { kind, status, retryAfterMs } = error;
  return { type: 'error', kind, message, ...(status === undefined ? {} : { status }), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
};
