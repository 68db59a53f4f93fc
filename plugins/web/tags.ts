/** Where the tags of HTML are, found in one pass. */
export interface Tag {
  /** Empty for comments and declarations. */
  readonly name: string;
  readonly isClosing: boolean;
  readonly end: number;
}

/** A search that failed once is not made again, or a page of open tags would take for ever. */
export class Tags {
  readonly #html: string;
  readonly #missing = new Set<string>();
  /** Whether quotes in tags have been closed so far. */
  #isQuoted = true;

  constructor(html: string) {
    this.#html = html;
  }

  get length(): number {
    return this.#html.length;
  }
  /** The next bracket, else the end. */
  next(from: number): number {
    const open = this.#html.indexOf('<', from);
    return open < 0 ? this.#html.length : open;
  }
  /** Undefined when the bracket here begins none. */
  at(open: number): Tag | undefined {
    const next = this.#html.charAt(open + 1);
    if (next === '!' || next === '?') {
      const mark = this.#html.startsWith('<!--', open) ? '-->' : '>';
      const end = this.#find(mark, open + 2);
      return end < 0 ? undefined : { name: '', isClosing: false, end: end + mark.length };
    }
    const isClosing = next === '/';
    const from = open + (isClosing ? 2 : 1);
    const [name] = /^[a-z][a-z\d:-]{0,40}/i.exec(this.#html.slice(from, from + 41)) ?? [];
    const end = name === undefined ? -1 : this.#endOf(from);
    return name === undefined || end < 0 ? undefined : { name: name.toLowerCase(), isClosing, end: end + 1 };
  }

  /** Where the end tag of an element begins. */
  closing(name: string, from: number): number | undefined {
    if (this.#missing.has(name)) return undefined;
    const pattern = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
    pattern.lastIndex = from;
    const found = pattern.exec(this.#html);
    if (!found) this.#missing.add(name);
    return found?.index;
  }

  /** A quoted value may hold the character that ends the tag. */
  #endOf(from: number): number {
    const html = this.#html;
    const first = this.#find('>', from);
    if (first < 0 || !this.#isQuoted) return first;
    for (let at = from; at < html.length; at++) {
      const char = html.charAt(at);
      if (char === '>') return at;
      if (html.charAt(at - 1) !== '=' || (char !== '"' && char !== "'")) continue;
      const close = this.#find(char, at + 1);
      if (close < 0) break;
      at = close;
    }
    this.#isQuoted = false;
    return first;
  }

  #find(mark: string, from: number): number {
    if (this.#missing.has(mark)) return -1;
    const found = this.#html.indexOf(mark, from);
    if (found < 0) this.#missing.add(mark);
    return found;
  }
}
