/** Pieces that are joined before they become a chain: a text of many tokens would hold each of them as a node of its own. */
const JOINED = 1_024;

export class StringBuilder {
  #text = '';
  #pieces: string[] = [];
  #length = 0;

  /** UTF-16 units. */
  get length(): number {
    return this.#length;
  }
  add(piece: string): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#pieces.length >= JOINED) this.#join();
  }
  toString(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    this.#text += this.#pieces.join('');
    this.#pieces = [];
  }
}
