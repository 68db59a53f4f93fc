/** What is known of the models of a provider by now. It answers from memory and from small files, and asks nobody. */
import type { ModelInfo, ProviderConfig } from '../../../kernel/index.ts';
import { reachOf } from './address.ts';
import { type Facts, mergeFacts } from './facts.ts';
import { type Lesson, type Lessons, readLessons } from './learnt.ts';
import { sellerOf } from './look-up.ts';
import { infoWith } from './overrides.ts';
import { snapshot } from './snapshot-table.ts';

export interface MetadataParts {
  readonly name: string;
  readonly config: ProviderConfig;
  readonly baseUrl: string;
  /** `$CAST_HOME`. */
  readonly home: string;
  /** Of the process, by base URL: what one session learns is known to the others. */
  readonly lessons: Map<string, Lessons>;
}

export class Metadata {
  readonly #parts: MetadataParts;
  readonly #isPublic: boolean;
  readonly #fromSnapshot = new Map<string, Facts | undefined>();

  constructor(parts: MetadataParts) {
    this.#parts = parts;
    this.#isPublic = reachOf(parts.baseUrl) === 'public';
    if (!parts.lessons.has(parts.baseUrl)) parts.lessons.set(parts.baseUrl, readLessons(parts.home, parts.baseUrl));
  }

  /** The configuration first, then the provider, the public catalogue, and what came with cast. */
  info(model: string): ModelInfo | undefined {
    return this.#info(model, this.lesson(model)?.reported);
  }
  /** A listing, each model with what is known of it beside what the provider says. */
  complete(models: readonly ModelInfo[]): readonly ModelInfo[] {
    return models.map((model) => {
      const { id, ...facts } = model;
      return this.#info(id, facts) ?? model;
    });
  }
  #info(model: string, reported: Facts | undefined): ModelInfo | undefined {
    const catalogued = this.lesson(model)?.catalogued;
    return infoWith(model, this.#parts.config, mergeFacts(reported, this.#withoutPrice(catalogued), this.#withoutPrice(this.snapshot(model))));
  }

  // Loaded from here, so that what they share with this file stays in one chunk with it.
  listing(): Promise<typeof import('./listing.ts')> {
    return import('./listing.ts');
  }
  learning(): Promise<typeof import('./learn.ts')> {
    return import('./learn.ts');
  }

  lesson(model: string): Lesson | undefined {
    return this.#parts.lessons.get(this.#parts.baseUrl)?.get(model);
  }
  learnt(model: string, lesson: Lesson): void {
    const { lessons, baseUrl } = this.#parts;
    lessons.set(baseUrl, new Map([...(lessons.get(baseUrl) ?? []), [model, lesson]]));
  }
  snapshot(model: string): Facts | undefined {
    if (!this.#fromSnapshot.has(model)) {
      const { baseUrl, name } = this.#parts;
      this.#fromSnapshot.set(model, snapshot().find(sellerOf(baseUrl, name), model));
    }
    return this.#fromSnapshot.get(model);
  }

  /** A server of one's own has no seller: what others take for its model is no price of it. */
  #withoutPrice(facts: Facts | undefined): Facts | undefined {
    if (!facts?.price || this.#isPublic) return facts;
    const { price: _, ...rest } = facts;
    return rest;
  }
}

/** Of servers of this machine. */
export const loadLocal = (): Promise<typeof import('./local.ts')> => import('./local.ts');
