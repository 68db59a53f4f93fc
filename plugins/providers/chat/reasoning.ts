/** Reasoning in a delta: which field counts, and what has to go back to the provider later. */
import { type Fields, isFields, listOf, numberOf, textOf } from '../values.ts';

type Detail = Record<string, unknown>;

export class ReasoningReader {
  /** The text came in `reasoning_content`, which its providers want back with calls. */
  cameAsContent = false;
  readonly #details: Detail[] = [];

  /** New reasoning text of a delta. The fields repeat each other, so only the first one that is there counts. */
  read(delta: Fields): string {
    const fromDetails = this.#keep(listOf(delta['reasoning_details']));
    const content = textOf(delta['reasoning_content']);
    if (content !== undefined) this.cameAsContent = true;
    return content ?? textOf(delta['reasoning']) ?? fromDetails;
  }

  /** Blocks that only the provider understands, pieces of one block put together. */
  get details(): readonly Detail[] {
    return this.#details;
  }

  #keep(details: readonly unknown[]): string {
    let added = '';
    for (const detail of details) if (isFields(detail)) added += this.#keepOne(detail);
    return added;
  }

  #keepOne(detail: Fields): string {
    const key = textOf(detail['text']) === undefined ? 'summary' : 'text';
    const text = textOf(detail[key]) ?? '';
    const known = this.#continued(detail);
    if (!known) {
      this.#details.push({ ...detail });
      return text;
    }
    const before = textOf(known[key]) ?? '';
    // A provider may send all of the text so far instead of what is new.
    const fresh = before !== '' && text.startsWith(before) ? text.slice(before.length) : text;
    const rest = Object.entries(detail).filter(([name, value]) => value !== null && name !== 'text' && name !== 'summary');
    Object.assign(known, Object.fromEntries(rest), fresh === '' ? {} : { [key]: before + fresh });
    return fresh;
  }

  /** The block of which this is a further piece. Encrypted data never comes in pieces. */
  #continued(detail: Fields): Detail | undefined {
    if (textOf(detail['data']) !== undefined || numberOf(detail['index']) === undefined) return undefined;
    return this.#details.findLast((known) => known['type'] === detail['type'] && known['index'] === detail['index']);
  }
}

/** Reasoning text in a content part: `thinking` is a text or a list of texts. */
export const thinkingOf = (part: Fields): string => {
  const thinking = part['thinking'];
  return (
    textOf(thinking) ??
    listOf(thinking)
      .map((piece) => (isFields(piece) ? (textOf(piece['text']) ?? '') : ''))
      .join('')
  );
};
