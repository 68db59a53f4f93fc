/** Server-sent events out of bytes, however they are cut. Also takes bodies that are no event stream. */
import { StringDecoder } from 'node:string_decoder';
import { ProviderError } from '../../../kernel/index.ts';

/** Characters of one event, or of one body that is no event stream. */
const MAX_CHARS = 32 * 1024 * 1024;
/** Bytes of one reply: the longest that models write, in the longest-winded form, is less than half of it. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface SseEvent {
  /** Empty when the stream does not name it. */
  readonly event: string;
  readonly data: string;
  /** The body is no event stream: `data` is all of it. */
  readonly whole?: true;
}

export class SseReader {
  readonly #decoder = new StringDecoder('utf8');
  /** The start of a line whose end has not come. */
  #pieces: string[] = [];
  #held = 0;
  #bytes = 0;
  #mode: 'unknown' | 'events' | 'whole' = 'unknown';
  /** The last character was a CR: a LF that follows belongs to it. */
  #afterCr = false;
  #event = '';
  /** Lines of the event that is under way. */
  #data: string[] = [];
  #dataChars = 0;

  /** What these bytes make complete. Throws when more is held back than one event may have, or has come than one reply may. */
  push(bytes: Uint8Array): readonly SseEvent[] {
    this.#bytes += bytes.byteLength;
    if (this.#bytes > MAX_BYTES) throw new ProviderError('other', `the provider sent more than ${MAX_BYTES} bytes for one reply`);
    // Not where it was held: what came before it in the same bytes is still good.
    if (this.#held + this.#dataChars > MAX_CHARS) throw new ProviderError('other', `the provider sent one event of more than ${MAX_CHARS} characters`);
    return this.#read(this.#decoder.write(bytes));
  }

  /** What is left at the end of the body, a final blank line or not. */
  end(): readonly SseEvent[] {
    const events = this.#read(this.#decoder.end());
    if (this.#mode === 'whole') return [{ event: '', data: this.#taken(''), whole: true }];
    if (this.#pieces.length > 0) this.#line(this.#taken(''), events);
    this.#dispatch(events);
    return events;
  }

  #read(decoded: string): SseEvent[] {
    const events: SseEvent[] = [];
    const text = this.#mode === 'unknown' ? this.#recognise(decoded) : decoded;
    if (this.#mode === 'events') this.#lines(text, events);
    else if (text !== '') this.#hold(text);
    return events;
  }

  /** No line of an event stream begins with a bracket: JSON and HTML do. */
  #recognise(decoded: string): string {
    const text = this.#pieces.length === 0 ? decoded.replace(/^\uFEFF/, '') : decoded;
    const first = text.trimStart()[0];
    if (first === undefined) return text;
    this.#mode = first === '{' || first === '[' || first === '<' ? 'whole' : 'events';
    return this.#mode === 'events' ? this.#taken(text) : text;
  }

  #lines(text: string, events: SseEvent[]): void {
    if (text === '') return;
    const fresh = this.#afterCr && text[0] === '\n' ? text.slice(1) : text;
    this.#afterCr = text.endsWith('\r');
    const lines = fresh.includes('\r') ? fresh.split(/\r\n|\n|\r/) : fresh.split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) this.#line(this.#taken(line), events);
    if (rest !== '') this.#hold(rest);
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === '') this.#dispatch(events);
    else if (line.startsWith('data:')) this.#add(valueIn(line, 'data:'), events);
    else if (line === 'data') this.#add('', events);
    else if (line.startsWith('event:')) this.#event = valueIn(line, 'event:');
  }

  /** Some servers leave out the blank line between events: what is complete by itself is an event of its own. */
  #add(value: string, events: SseEvent[]): void {
    const [first] = this.#data;
    // Of the first line only: asked of all lines so far with each further one, a long event would never end.
    if (first !== undefined && this.#data.length === 1 && isComplete(first)) this.#dispatch(events);
    this.#data.push(value);
    this.#dataChars += value.length + 1;
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#data.length > 0) events.push({ event: this.#event, data: this.#data.join('\n') });
    this.#event = '';
    this.#data = [];
    this.#dataChars = 0;
  }

  #hold(text: string): void {
    this.#pieces.push(text);
    this.#held += text.length;
  }
  #taken(rest: string): string {
    if (this.#pieces.length === 0) return rest;
    this.#pieces.push(rest);
    const line = this.#pieces.join('');
    this.#pieces = [];
    this.#held = 0;
    return line;
  }
}

const valueIn = (line: string, field: string): string => line.slice(line[field.length] === ' ' ? field.length + 1 : field.length);

const isComplete = (data: string): boolean => {
  if (data.trim() === '[DONE]') return true;
  if (!data.endsWith('}')) return false;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
};
