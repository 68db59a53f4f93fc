/** Text and reasoning of a reply as deltas, with a blank line between its parts. */
import type { Delta } from '../../../kernel/index.ts';
import { HalfKeeper, type Part, ThinkSplitter } from '../stream/think.ts';

export const BETWEEN_MESSAGES = '\n\n';
const BETWEEN_THOUGHTS = '\n\n';

/** Text of one message of the reply. */
export interface Segment {
  readonly message: ItemKey;
  /** Characters, with what stands before it. */
  readonly chars: number;
}
/** What tells the items of a reply apart. */
export type ItemKey = number | string;

export class Shown {
  /** Text as it came, tags and all. */
  raw = '';
  /** Reasoning came by itself. */
  hasReasoning = false;
  readonly #think = new ThinkSplitter();
  readonly #halves = { text: new HalfKeeper(), reasoning: new HalfKeeper() };
  readonly #segments: { message: ItemKey; chars: number }[] = [];
  #message: ItemKey = 0;
  #thought: string | undefined;

  text(message: ItemKey, text: string): readonly Delta[] {
    if (text === '') return [];
    this.raw += text;
    this.#message = message;
    return this.#parts(this.#think.push(text));
  }

  /** `thought` names the part of the reasoning of which this is more. */
  reasoning(thought: string, text: string): readonly Delta[] {
    if (text === '') return [];
    const isNext = this.#thought !== undefined && this.#thought !== thought;
    this.#thought = thought;
    this.hasReasoning = true;
    return this.#emit('reasoning', isNext ? BETWEEN_THOUGHTS + text : text);
  }

  /** What was held back. */
  end(): readonly Delta[] {
    const held = this.#parts(this.#think.end());
    const reasoning = this.#halves.reasoning.end();
    const text = this.#halves.text.end();
    return [...held, ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]), ...(text === '' ? [] : [this.#counted(text)])];
  }

  /** In the order in which they were shown; complete after the end. */
  get segments(): readonly Segment[] {
    return this.#segments;
  }

  /** Reasoning between tags repeats what came by itself. */
  #parts(parts: readonly Part[]): readonly Delta[] {
    return parts.flatMap((part) => (part.type === 'text' || !this.hasReasoning ? this.#emit(part.type, part.text) : []));
  }

  #emit(type: Part['type'], text: string): readonly Delta[] {
    const whole = this.#halves[type].push(text);
    if (whole === '') return [];
    return [type === 'text' ? this.#counted(whole) : { type, text: whole }];
  }

  #counted(text: string): Delta {
    const last = this.#segments.at(-1);
    if (last?.message === this.#message) {
      last.chars += text.length;
      return { type: 'text', text };
    }
    const shown = last ? BETWEEN_MESSAGES + text : text;
    this.#segments.push({ message: this.#message, chars: shown.length });
    return { type: 'text', text: shown };
  }
}
