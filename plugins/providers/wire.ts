/** What a wire format has to bring. The shapes of a format stay in its folder: nothing outside of it knows them. */
import type OpenAI from 'openai';
import type { Delta, ModelInfo, ModelRequest, ProviderConfig, ProviderError } from '../../kernel/index.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { Quirks } from './quirks.ts';
import type { SseEvent } from './stream/sse.ts';

/** What is known of the host that is asked. */
export interface HostTraits {
  /** The name of the provider in the configuration: what it gave us to keep goes back to it alone. */
  readonly provider: string;
  /** Name of the host of the base URL: one name may be given to one host after another, as the environment does. */
  readonly host?: string;
  readonly dialect: Dialect;
  /** What is known of the model. */
  readonly info: ModelInfo | undefined;
  /** Learnt from refusals; before what the dialect says. */
  readonly quirks: Quirks;
  /** As configured. */
  readonly settings: ProviderConfig;
}

export interface Wire {
  /** A copy in the words of the format: the conversation itself is never mended. */
  body(request: ModelRequest, host: HostTraits): object;
  /** By way of the `openai` package: to the path of the format. */
  send(client: OpenAI, body: object): Promise<Response>;
  reader(options: ReaderOptions): ReplyReader;
}

export interface ReaderOptions {
  readonly request: ModelRequest;
  /** Where the reply comes from; kept with what has to go back there. */
  readonly host?: string;
  /** Makes an error of what the provider said inside the reply. */
  readonly fail: (body: unknown) => ProviderError;
}

/** Events of one reply, turned into deltas. */
export interface ReplyReader {
  /** Something of the reply itself has come. */
  readonly began: boolean;
  /** The reply is whole; only usage may follow. */
  readonly complete: boolean;
  /** Nothing that follows counts. */
  readonly done: boolean;
  push(event: SseEvent): Iterable<Delta>;
  /** Calls, what has to go back, usage and the end, which is left out when the reply broke off. */
  finish(): Iterable<Delta>;
}
