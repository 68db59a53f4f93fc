/** What a provider knows of its models, while the code that knows it is loaded only as it is needed. */
import type { Clock, ModelInfo, ProviderConfig } from '../../../kernel/index.ts';
import { aim, baseUrlOf, type TargetParts } from '../target.ts';
import type { Lessons } from './learnt.ts';
import type { Metadata } from './metadata.ts';
import { infoWith } from './overrides.ts';

/** A server of this machine may be started anew with another window while the process lives. */
const AGAIN_MS = 600_000;
/** Between the first part of a reply and the first question: it must not stand in the way of the reply, nor of the end of a short run. */
const START_MS = 250;

/** Of the process. */
export interface SharedMetadata {
  /** By base URL. */
  readonly lessons: Map<string, Lessons>;
  /** When something was asked about a model of a base URL, epoch milliseconds. */
  readonly asked: Map<string, number>;
  readonly over: AbortController;
}
export const sharedMetadata = (): SharedMetadata => ({ lessons: new Map(), asked: new Map(), over: new AbortController() });

export interface LateParts {
  readonly target: TargetParts;
  readonly config: ProviderConfig;
  /** `$CAST_HOME`. */
  readonly home: string;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Whether the public catalogue may be fetched. */
  readonly catalogue: boolean;
  readonly shared: SharedMetadata;
  readonly debug: (message: string, data?: object) => void;
}

interface Loaded {
  readonly metadata: Metadata;
  readonly baseUrl: string;
}

export class LateMetadata {
  readonly #parts: LateParts;
  #loading: Promise<Loaded> | undefined;
  #metadata: Metadata | undefined;

  constructor(parts: LateParts) {
    this.#parts = parts;
  }

  /** Asks nobody: only files are read. */
  load(): Promise<Loaded> {
    this.#loading ??= this.#load();
    return this.#loading;
  }
  async #load(): Promise<Loaded> {
    const { target, config, home, shared } = this.#parts;
    const { Metadata } = await import('./metadata.ts');
    const baseUrl = baseUrlOf(target);
    this.#metadata = new Metadata({ name: target.name, config, baseUrl, home, lessons: shared.lessons });
    return { metadata: this.#metadata, baseUrl };
  }

  info(model: string): ModelInfo | undefined {
    return this.#metadata ? this.#metadata.info(model) : infoWith(model, this.#parts.config, undefined);
  }

  async models(signal: AbortSignal): Promise<readonly ModelInfo[]> {
    const { metadata } = await this.load();
    const { listModels } = await metadata.listing();
    return metadata.complete(await listModels(await aim(this.#parts.target), this.#parts.fetch, signal));
  }

  /** A reply has begun. Only now something may be asked; nobody waits for it. */
  heard(model: string): void {
    void this.#learn(model).catch((error: unknown) => this.#parts.debug(`nothing was learnt about the model ${model}`, { error: String(error) }));
  }
  async #learn(model: string): Promise<void> {
    const { target, home, fetch, clock, catalogue, shared, debug } = this.#parts;
    const { metadata, baseUrl } = await this.load();
    const key = `${baseUrl} ${model}`;
    if (clock.now() - (shared.asked.get(key) ?? 0) < AGAIN_MS) return;
    shared.asked.set(key, clock.now());
    await clock.sleep(START_MS, shared.over.signal);
    const { learnAbout } = await metadata.learning();
    await learnAbout(model, { target, metadata, baseUrl, home, fetch, catalogue, debug, signal: shared.over.signal });
  }
}
