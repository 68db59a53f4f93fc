/** Parts a `<think>` block at the very start of the content from the text after it. Tags may come in pieces. */

const OPEN = '<think>';
const CLOSE = '</think>';

export interface Part {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

export class ThinkSplitter {
  #state: 'start' | 'opened' | 'think' | 'closed' | 'text' = 'start';
  #held = '';

  push(text: string): readonly Part[] {
    const parts: Part[] = [];
    let rest = this.#held + text;
    this.#held = '';
    if (this.#state === 'start') rest = this.#start(rest);
    if (this.#state === 'opened') rest = this.#afterTag(rest, 'think');
    if (this.#state === 'think') rest = this.#think(rest, parts);
    if (this.#state === 'closed') rest = this.#afterTag(rest, 'text');
    if (this.#state === 'text' && rest !== '') parts.push({ type: 'text', text: rest });
    return parts;
  }

  /** What was held back, as what it would have become. */
  end(): readonly Part[] {
    const text = this.#held;
    this.#held = '';
    return text === '' ? [] : [{ type: this.#state === 'think' ? 'reasoning' : 'text', text }];
  }

  /** Returns what comes after the tag; holds text back as long as it may become one. */
  #start(text: string): string {
    const begun = text.trimStart();
    if (begun.startsWith(OPEN)) {
      this.#state = 'opened';
      return begun.slice(OPEN.length);
    }
    if (OPEN.startsWith(begun)) {
      this.#held = text;
      return '';
    }
    this.#state = 'text';
    return text;
  }

  /** Line breaks right after a tag belong to neither side. */
  #afterTag(text: string, next: 'think' | 'text'): string {
    const rest = text.replace(/^[\r\n]+/, '');
    if (rest !== '') this.#state = next;
    return rest;
  }

  #think(text: string, parts: Part[]): string {
    const at = text.indexOf(CLOSE);
    const end = at < 0 ? text.length - tailThatMayBecome(CLOSE, text) : at;
    if (end > 0) parts.push({ type: 'reasoning', text: text.slice(0, end) });
    if (at < 0) {
      this.#held = text.slice(end);
      return '';
    }
    this.#state = 'closed';
    return text.slice(at + CLOSE.length);
  }
}

const tailThatMayBecome = (tag: string, text: string): number => {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) if (tag.startsWith(text.slice(-length))) return length;
  return 0;
};

/** Keeps the two halves of a character together that came in two deltas. */
export class HalfKeeper {
  #half = '';
  push(text: string): string {
    const all = this.#half + text;
    const last = all.charCodeAt(all.length - 1);
    this.#half = last >= 0xd800 && last <= 0xdbff ? all.slice(-1) : '';
    return this.#half === '' ? all : all.slice(0, -1);
  }
  end(): string {
    const half = this.#half;
    this.#half = '';
    return half;
  }
}
