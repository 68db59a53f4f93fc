/**
 * What `fetch` answers with: the members of a Response on a stream of node:http. The built-in class takes 25 to 100 ms
 * to load and is made only for the parts of a form. So it is no `instanceof Response`; iterated, it gives the bytes of its body.
 */
import { Readable } from 'node:stream';
import type { BodyReader } from './http-body.ts';
import type { HttpHeaders } from './http-headers.ts';

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HttpHeaders;
  /** Of the last request, after redirects. */
  readonly url: string;
  readonly redirected: boolean;
}

type Bytes = AsyncIterableIterator<Uint8Array>;

export class HttpResponse implements Response, AsyncIterable<Uint8Array> {
  readonly type = 'basic';
  readonly status: number;
  readonly statusText: string;
  readonly headers: HttpHeaders;
  readonly url: string;
  readonly redirected: boolean;
  /** Null for an answer that has no body. */
  readonly #reader: BodyReader | null;
  /** Made when somebody asks for it; from then on all reading goes through it. */
  #stream: ReadableStream<Uint8Array> | undefined;
  #isTaken = false;

  constructor(head: ResponseHead, reader: BodyReader | null) {
    this.status = head.status;
    this.statusText = head.statusText;
    this.headers = head.headers;
    this.url = head.url;
    this.redirected = head.redirected;
    this.#reader = reader;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }
  get body(): ReadableStream<Uint8Array> | null {
    if (!this.#reader) return null;
    if (!this.#stream) {
      this.#stream = toWebStream(this.#reader);
      if (this.#isTaken) this.#stream.getReader();
    }
    return this.#stream;
  }
  get bodyUsed(): boolean {
    return this.#isTaken || (this.#stream !== undefined && wasRead(this.#stream));
  }

  /** The bytes as they come; costs less than `body` does. */
  [Symbol.asyncIterator](): Bytes {
    if (!this.#reader) return nothing();
    if (this.bodyUsed || this.#stream?.locked) throw new TypeError('the body of this answer is being read, or has been');
    this.#isTaken = true;
    return this.#stream ? this.#stream.values() : this.#reader;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this) chunks.push(chunk);
    const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
    let at = 0;
    for (const chunk of chunks) {
      all.set(chunk, at);
      at += chunk.byteLength;
    }
    return all;
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }
  async blob(): Promise<Blob> {
    return new Blob([await this.bytes()], { type: this.headers.get('content-type') ?? '' });
  }
  async formData(): Promise<FormData> {
    return new Response(await this.bytes(), { headers: { 'content-type': this.headers.get('content-type') ?? '' } }).formData();
  }

  clone(): HttpResponse {
    if (this.bodyUsed || this.#stream?.locked) throw new TypeError('the body of this answer is being read, or has been, so it cannot be cloned');
    const copy = new HttpResponse(this, this.#reader);
    const { body } = this;
    if (body) [this.#stream, copy.#stream] = body.tee();
    return copy;
  }
}

/** Node knows it of web streams as well, its types do not. */
const wasRead = (stream: ReadableStream): boolean => Readable.isDisturbed(stream as unknown as NodeJS.ReadableStream);

const toWebStream = (reader: BodyReader): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await reader.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await reader.return();
      },
    },
    { highWaterMark: 0 },
  );

async function* nothing(): AsyncGenerator<Uint8Array, undefined> {}
