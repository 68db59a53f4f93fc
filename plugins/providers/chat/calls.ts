/** Puts streamed pieces of tool calls together, by whatever tells them apart. */
import { type Fields, fieldsOf, isFields, parseJson, placeOf, textOf } from '../values.ts';

interface Piece {
  readonly index: number | undefined;
  /** Empty when it is not given; so the name. */
  readonly id: string;
  readonly tool: string;
  readonly text: string;
  readonly extra: unknown;
}
interface OpenCall {
  index: number | undefined;
  id: string;
  tool: string;
  arguments: string;
  /** Opaque to us, to be sent back with the call (signatures of thoughts). */
  extra: unknown;
}
export interface WholeCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: string;
  readonly extra: unknown;
}

export class CallAssembler {
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();

  /** `whole`: the piece is a call of its own, as in a reply that was not streamed. */
  add(source: unknown, whole = false): void {
    if (!isFields(source)) return;
    const piece = readPiece(source);
    const call = (whole ? undefined : this.#find(piece)) ?? this.#open(piece.index);
    call.id = piece.id || call.id;
    call.tool = piece.tool || call.tool;
    call.arguments += piece.text;
    call.extra = piece.extra ?? call.extra;
  }

  /** In order of first appearance. */
  whole(): readonly WholeCall[] {
    return this.#calls
      .filter((call) => call.tool !== '' || call.arguments !== '')
      .map(({ id, tool, arguments: text, extra }) => ({ id, tool, arguments: text === 'null' ? '' : text, extra }));
  }

  #open(index: number | undefined): OpenCall {
    const call: OpenCall = { index, id: '', tool: '', arguments: '', extra: undefined };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  /** The call that a piece continues; undefined when it begins a new one. */
  #find(piece: Piece): OpenCall | undefined {
    const call = piece.index === undefined ? this.#withoutIndex(piece) : this.#byIndex.get(piece.index);
    if (!call || differ(piece.id, call.id) || beginsAnew(call, piece)) return undefined;
    return call;
  }

  #withoutIndex({ id, tool }: Piece): OpenCall | undefined {
    const known = id === '' ? undefined : this.#calls.findLast((call) => call.id === id);
    const last = this.#calls.at(-1);
    if (known || !last) return known;
    return id === '' && differ(tool, last.tool) ? undefined : last;
  }
}

const differ = (one: string, other: string): boolean => one !== '' && other !== '' && one !== other;

/** A named piece with arguments, after arguments that are already complete: two calls under one id or index. */
const beginsAnew = (call: OpenCall, { tool, text }: Piece): boolean =>
  tool !== '' && text.trimStart().startsWith('{') && call.tool !== '' && isFields(parseJson(call.arguments));

const readPiece = (piece: Fields): Piece => {
  const shape = fieldsOf(piece, 'function');
  return {
    index: placeOf(piece['index']),
    id: textOf(piece['id']) ?? '',
    tool: textOf(shape['name']) ?? '',
    text: argumentsOf(shape['arguments']),
    extra: piece['extra_content'],
  };
};

const argumentsOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
};
