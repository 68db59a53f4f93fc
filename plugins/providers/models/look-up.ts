/** Finding a model among those of a catalogue, however its name is written. */
import type { ModelInfo } from '../../../kernel/index.ts';
import { type Facts, factsFrom } from './facts.ts';

/** Models by seller. */
export type Catalogue = Readonly<Record<string, readonly ModelInfo[]>>;

/** Names of sellers as the catalogue has them, where the host does not say it. */
const SELLERS: readonly (readonly [host: RegExp, seller: string])[] = [
  [/(?:^|\.)openai\.com$/, 'openai'],
  [/(?:^|\.)anthropic\.com$/, 'anthropic'],
  [/(?:^|\.)googleapis\.com$/, 'google'],
  [/(?:^|\.)deepseek\.com$/, 'deepseek'],
  [/(?:^|\.)x\.ai$/, 'xai'],
  [/(?:^|\.)mistral\.ai$/, 'mistral'],
  [/(?:^|\.)moonshot\.(?:ai|cn)$/, 'moonshotai'],
  [/(?:^|\.)z\.ai$/, 'zai'],
  [/(?:^|\.)bigmodel\.cn$/, 'zhipuai'],
  [/(?:^|\.)minimax\.io$/, 'minimax'],
  [/(?:^|\.)minimaxi?\.(?:com|chat)$/, 'minimax-cn'],
  [/(?:^|\.)aliyuncs\.com$/, 'alibaba'],
  [/(?:^|\.)groq\.com$/, 'groq'],
  [/(?:^|\.)cerebras\.ai$/, 'cerebras'],
  [/(?:^|\.)together\.(?:xyz|ai)$/, 'togetherai'],
  [/(?:^|\.)fireworks\.ai$/, 'fireworks-ai'],
  [/(?:^|\.)cohere\.(?:com|ai)$/, 'cohere'],
  [/(?:^|\.)openrouter\.ai$/, 'openrouter'],
];

/** Who sells what is asked for: by the host, else by the name that the provider has in the configuration. */
export const sellerOf = (baseUrl: string, name: string): string => {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return SELLERS.find(([pattern]) => pattern.test(host))?.[1] ?? name.toLowerCase();
};

/** Parts of a name stand between these; a dot within a number is none of them. */
const BEFORE = /(?:^|[/:_@ -]|[a-z]\.)$/;
const AFTER = /^(?:$|[/:_@ -])/;
/** Shorter names are parts of too many others. */
const LEAST_CHARS = 4;
/** Names of nothing but such words are given to routers, aliases and models of one's own, and say nothing about what is behind them. */
const SAYS_NOTHING =
  /^(?:(?:auto|router|model|chat|default|free|latest|preview|test|local|custom|my|assistant|base|instruct|code|coder|fast|large|medium|small|mini|pro|vision|\d{4,})(?:[-_. :@]|$))*$/;
/** Of a release that is sold under the name without it. */
const RELEASE = /(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2})|-latest|:latest|:free)$/;

interface Indexed {
  readonly model: ModelInfo;
  readonly seller: string;
  /** In lower case, as it is sold. */
  readonly id: string;
  /** Without the maker before it. */
  readonly name: string;
}

/** The models of a catalogue, ready to be searched more than once. */
export class ModelIndex {
  readonly #all: readonly Indexed[];

  constructor(catalogue: Catalogue) {
    this.#all = Object.entries(catalogue).flatMap(([seller, models]) =>
      models.map((model) => {
        const id = model.id.toLowerCase();
        return { model, seller, id, name: nameIn(id) };
      }),
    );
  }

  /**
   * By seller and id, then by id, then where one name is part of the other. Where several fit, it is what holds for all of them: the
   * least window and output, and a price only when they agree. A name that only fits in part says nothing about the price, nor about
   * what the model cannot do.
   */
  find(seller: string, model: string): Facts | undefined {
    const wanted = model.toLowerCase();
    const sold = this.#all.find((each) => each.seller === seller && each.id === wanted);
    if (sold) return together([sold]);
    const bare = nameIn(wanted);
    if (SAYS_NOTHING.test(bare)) return undefined;
    for (const name of new Set([bare, bare.replace(RELEASE, '')])) {
      const same = this.#all.filter((each) => each.name === name);
      if (same.length > 0) return together(preferred(same, seller));
    }
    const facts = together(this.#partial(bare));
    return facts && likely(facts);
  }

  /** The longest names that are part of the wanted one, else all that begin with it: what stands behind is a kind, of which there are many. */
  #partial(wanted: string): readonly Indexed[] {
    const parts = this.#all.filter(({ name }) => isPart(name, wanted) && !SAYS_NOTHING.test(name));
    const longest = parts.reduce((most, { name }) => Math.max(most, name.length), 0);
    return parts.length > 0
      ? parts.filter(({ name }) => name.length === longest)
      : this.#all.filter(({ name }) => name.startsWith(wanted) && isPart(wanted, name));
  }
}

const nameIn = (id: string): string => id.slice(id.lastIndexOf('/') + 1);

/** The seller's own figures come before those of others. */
const preferred = (found: readonly Indexed[], seller: string): readonly Indexed[] => {
  const own = found.filter((each) => each.seller === seller);
  return own.length > 0 ? own : found;
};

const isPart = (part: string, whole: string): boolean => {
  if (part.length < LEAST_CHARS) return false;
  const at = whole.indexOf(part);
  return at >= 0 && BEFORE.test(whole.slice(0, at)) && AFTER.test(whole.slice(at + part.length));
};

/** What may be taken for a model of the same family. */
const likely = ({ contextWindow, maxOutput, images, reasoning }: Facts): Facts =>
  factsFrom({
    contextWindow,
    maxOutput,
    price: undefined,
    images: images || undefined,
    reasoning: reasoning && reasoning.levels.length > 0 ? reasoning : undefined,
  });

const together = (found: readonly Indexed[]): Facts | undefined => {
  if (found.length === 0) return undefined;
  const known = <K extends keyof Facts>(key: K): readonly NonNullable<Facts[K]>[] => found.flatMap(({ model }) => (model[key] as NonNullable<Facts[K]>) ?? []);
  return factsFrom({
    contextWindow: least(known('contextWindow')),
    maxOutput: least(known('maxOutput')),
    price: agreed(known('price')),
    reasoning: agreed(known('reasoning')),
    images: agreed(known('images')),
  });
};

const least = (values: readonly number[]): number | undefined => (values.length > 0 ? Math.min(...values) : undefined);
const agreed = <T>(values: readonly T[]): T | undefined => {
  const [first] = values;
  return values.every((value) => JSON.stringify(value) === JSON.stringify(first)) ? first : undefined;
};
