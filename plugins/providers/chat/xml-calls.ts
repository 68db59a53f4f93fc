/**
 * Calls that a model wrote into its text: `<function=N><parameter=K>V</parameter></function>`, perhaps between `<tool_call>` tags.
 * One counts only at the start of a line, outside of code, when it is whole and of a tool of the request; all else stays text.
 */
import type { ToolCard } from '../../../kernel/index.ts';
import { LineWatch } from './line-watch.ts';
import { argumentsIn, FUNCTION_END, type Head, headOf } from './xml-block.ts';

/** Characters of one call. */
const MAX_CALL = 4 * 1024 * 1024;
/** How often a value may hold what looks like the end of its call. */
const MAX_ENDS = 64;
const WRAP_END = '</tool_call>';

export interface XmlCall {
  readonly tool: string;
  readonly arguments: string;
}

export class XmlCalls {
  readonly calls: XmlCall[] = [];
  readonly #tools: ReadonlyMap<string, ToolCard>;
  readonly #lines = new LineWatch();
  /** `head`: a beginning is held back. `body`: a call is gathered. `behind`: space and a closing tag still belong to the call before. */
  #state: 'text' | 'head' | 'body' | 'behind' = 'text';
  #held = '';
  #pieces: string[] = [];
  #size = 0;
  /** The end of what is gathered, in which the end of the call may begin. */
  #tail = '';
  #ends = 0;

  constructor(tools: readonly ToolCard[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** Returns what is text. */
  push(text: string): string {
    if (this.#state === 'text' && !text.includes('<')) {
      this.#lines.pass(text);
      return text;
    }
    if (this.#state === 'body' && !this.#mayEndIn(text)) return '';
    return this.#read(this.#taken() + (this.#state === 'body' ? '' : text), false);
  }

  /** Returns what was held back and is no call after all. */
  end(): string {
    return this.#read(this.#taken(), true);
  }

  /** Gathers, so that a long call is looked through once and not with each of its pieces. */
  #mayEndIn(text: string): boolean {
    const seen = this.#tail + text;
    this.#tail = seen.slice(1 - FUNCTION_END.length);
    this.#pieces.push(text);
    this.#size += text.length;
    return seen.includes(FUNCTION_END) || this.#size > MAX_CALL;
  }

  #taken(): string {
    const text = this.#held + this.#pieces.join('');
    this.#held = '';
    this.#pieces = [];
    return text;
  }

  #read(text: string, isEnd: boolean): string {
    let out = '';
    let rest = text;
    while (rest !== '') {
      if (this.#state === 'behind') {
        rest = this.#behind(rest, isEnd);
        continue;
      }
      const skipped = this.#state === 'text' ? this.#lines.toTag(rest) : 0;
      out += rest.slice(0, skipped);
      rest = rest.slice(skipped);
      if (rest === '') break;
      const length = this.#call(rest, isEnd);
      if (length === undefined) break;
      if (length === 0) {
        // No call: its first character is text, and the search goes on behind it.
        this.#lines.pass('<');
        out += '<';
      }
      rest = rest.slice(Math.max(1, length));
    }
    return out;
  }

  /** Length of the call that the text begins with, 0 when it is none; undefined when it is held back. */
  #call(text: string, isEnd: boolean): number | undefined {
    const head = headOf(text, this.#tools);
    const whole = typeof head === 'string' ? undefined : this.#whole(text, head);
    this.#state = 'text';
    if (whole !== undefined) {
      this.#state = 'behind';
      return whole;
    }
    if (head === 'none' || isEnd || text.length > MAX_CALL || this.#ends > MAX_ENDS) {
      this.#ends = 0;
      return 0;
    }
    this.#hold(text, head === 'partial' ? 'head' : 'body');
    return undefined;
  }

  #hold(text: string, state: 'head' | 'body'): void {
    this.#state = state;
    this.#held = text;
    this.#size = text.length;
    this.#tail = text.slice(1 - FUNCTION_END.length);
  }

  #whole(text: string, { tool, length }: Head): number | undefined {
    this.#ends = 0;
    for (let end = text.indexOf(FUNCTION_END, length); end >= 0; end = text.indexOf(FUNCTION_END, end + 1)) {
      const found = argumentsIn(text.slice(length, end), tool);
      if (found !== undefined) {
        this.calls.push({ tool: tool.name, arguments: found });
        return end + FUNCTION_END.length;
      }
      if (++this.#ends > MAX_ENDS) return undefined;
    }
    return undefined;
  }

  /** What is left when all that belongs to the call is gone. */
  #behind(text: string, isEnd: boolean): string {
    const rest = text.trimStart();
    if (rest.startsWith(WRAP_END)) return rest.slice(WRAP_END.length);
    if (rest !== '' && WRAP_END.startsWith(rest) && !isEnd) {
      this.#held = rest;
      return '';
    }
    if (rest !== '') this.#state = 'text';
    return rest;
  }
}
