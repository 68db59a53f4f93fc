/** Where the events of a run go, by format. After the end nothing more reaches standard output. */
import type { CastEvent, EndReason } from '../kernel/index.ts';
import { systemClock } from '../kernel/host/clock.ts';
import { addToResult, describeError, emptyResult, jsonLine, lineOf, numbered, remarkOn, type Line, type RunError, type RunResult } from './run-formats.ts';
import type { Stdio } from './stdio.ts';
import { plainLines } from './style.ts';

export const FORMATS = ['text', 'json', 'stream-json'] as const;
export type Format = (typeof FORMATS)[number];

export interface RunEnd {
  readonly reason: EndReason;
  readonly exitCode: number;
  readonly error?: RunError;
}
export interface RunOutput {
  take(event: CastEvent): Promise<void>;
  /** The answer of a command that needed no model. */
  answer(text: string): Promise<void>;
  /** For an end that no event tells: a failure before the turn, an interrupt, a command. Once ended it does nothing. */
  end(end: RunEnd): Promise<void>;
}

export interface OutputOptions {
  readonly stdio: Stdio;
  readonly cwd: string;
  readonly version: string;
}

export const createOutput = (format: Format, options: OutputOptions): RunOutput => {
  if (format === 'text') return new TextOutput(options.stdio);
  return format === 'json' ? new JsonOutput(options) : new StreamOutput(options);
};

class StreamOutput implements RunOutput {
  /** Lines that came before the session was there, which has to be the first. */
  #held: Line[] | undefined = [];
  #session = '';
  #seq = 0;
  #isOver = false;
  readonly #at: OutputOptions;

  constructor(options: OutputOptions) {
    this.#at = options;
  }

  async take(event: CastEvent): Promise<void> {
    const line = this.#isOver ? undefined : lineOf(event, this.#at.version);
    if (!line) return;
    if (event.type === 'session.opened') {
      const held = this.#held ?? [];
      this.#held = undefined;
      this.#session = event.session;
      for (const each of [line, ...held]) await this.#print(each);
    } else if (this.#held) this.#held.push(line);
    else {
      this.#isOver = event.type === 'turn.ended';
      await this.#print(line);
    }
  }

  async answer(text: string): Promise<void> {
    await this.#print(this.#line('token', { text }));
    await this.#print(this.#line('assistant_message', { content: text, toolCalls: [] }));
  }

  async end({ reason, exitCode, error }: RunEnd): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    if (error) {
      this.#at.stdio.err(`${describeError(error)}\n`);
      await this.#print(this.#line('error', { ...error }));
    }
    await this.#print(this.#line('end', { reason, exitCode }));
  }

  #line(type: string, fields: object): Line {
    return { type, timestamp: systemClock.now(), sessionId: this.#session, ...fields };
  }
  #print(line: Line): Promise<void> {
    this.#seq += 1;
    return this.#at.stdio.out(`${numbered(line, this.#seq)}\n`);
  }
}

class JsonOutput implements RunOutput {
  #result: RunResult;
  #isOver = false;
  readonly #stdio: Stdio;

  constructor({ stdio, cwd }: OutputOptions) {
    this.#stdio = stdio;
    this.#result = emptyResult(cwd);
  }

  async take(event: CastEvent): Promise<void> {
    if (this.#isOver) return;
    this.#result = addToResult(this.#result, event);
    if (event.type === 'turn.ended') await this.#print();
  }
  async answer(text: string): Promise<void> {
    this.#result = { ...this.#result, result: text };
  }
  async end({ reason, error }: RunEnd): Promise<void> {
    if (this.#isOver) return;
    this.#result = { ...this.#result, reason, error: error ?? this.#result.error };
    if (error) this.#stdio.err(`${describeError(error)}\n`);
    await this.#print();
  }
  #print(): Promise<void> {
    this.#isOver = true;
    return this.#stdio.out(`${jsonLine(this.#result)}\n`);
  }
}

/** To a terminal as it comes; to anything else reply by reply, because what has left cannot be taken back. */
class TextOutput implements RunOutput {
  #shown = '';
  #isOver = false;
  readonly #stdio: Stdio;

  constructor(stdio: Stdio) {
    this.#stdio = stdio;
  }

  async take(event: CastEvent): Promise<void> {
    if (this.#isOver) return;
    if (event.type === 'text.delta') return this.#stream(event.data.text);
    if (event.type === 'reply.accepted' || event.type === 'reply.partial') return this.#finish(event.data.visible);
    if (event.type === 'text.retracted' && this.#shown !== '') {
      this.#shown = '';
      this.#stdio.err('\n(the text above is taken back)\n');
    }
    const remark = remarkOn(event);
    if (remark !== undefined) this.#stdio.err(`${remark}\n`);
    if (event.type === 'turn.ended') this.#isOver = true;
  }
  answer(text: string): Promise<void> {
    return this.#finish(text);
  }
  async end({ error }: RunEnd): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    if (error) this.#stdio.err(`${describeError(error)}\n`);
  }

  async #stream(text: string): Promise<void> {
    if (!this.#stdio.isTerminal.out) return;
    this.#shown += text;
    await this.#stdio.out(plainLines(text));
  }
  async #finish(visible: string): Promise<void> {
    const isStreamed = this.#shown !== '';
    this.#shown = '';
    if (isStreamed) return this.#stdio.out('\n');
    if (visible.trim() === '') return;
    await this.#stdio.out(`${this.#stdio.isTerminal.out ? plainLines(visible) : visible}\n`);
  }
}
