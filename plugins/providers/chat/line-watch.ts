/** Where a streamed text stands: within its line, and inside or outside of fenced code. */

/** Characters of a line by which it is known. */
const HEAD = 80;

export class LineWatch {
  /** The beginning of the line that is running. */
  #head = '';
  /** What opened the fence that is open. */
  #fence: string | undefined;

  /** Goes on over text in which nothing is looked for. */
  pass(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#extend(text, start, end);
      this.#endLine();
      start = end + 1;
    }
    this.#extend(text, start, text.length);
  }

  /** Goes on to the first `<` that begins a line outside of code, or over all of the text; returns how far. */
  toTag(text: string): number {
    let start = 0;
    for (let tag = text.indexOf('<'); tag >= 0; tag = text.indexOf('<', start)) {
      this.pass(text.slice(start, tag));
      if (this.#fence === undefined && /^ {0,3}$/.test(this.#head)) return tag;
      this.pass('<');
      start = tag + 1;
    }
    this.pass(text.slice(start));
    return text.length;
  }

  #extend(text: string, from: number, to: number): void {
    if (this.#head.length < HEAD && to > from) this.#head += text.slice(from, Math.min(to, from + HEAD - this.#head.length));
  }

  #endLine(): void {
    const line = this.#head;
    this.#head = '';
    const [, marker, rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line.replace(/\r$/, '')) ?? [];
    if (marker === undefined) return;
    if (this.#fence === undefined) this.#fence = marker;
    else if (marker.startsWith(this.#fence) && rest.trim() === '') this.#fence = undefined;
  }
}
