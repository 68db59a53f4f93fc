/** Reads `fallback` of the configuration: which models stand behind the first one. */
import { type ModelRef, type Origin, readModelRef } from '../../kernel/index.ts';

export const nameOf = ({ provider, model }: ModelRef): string => `${provider}/${model}`;
export const isSame = (a: ModelRef, b: ModelRef): boolean => a.provider === b.provider && a.model === b.model;

export interface ChainSource {
  readonly entries: readonly string[];
  readonly origin: Origin | undefined;
  /** Names of all registered providers. */
  readonly providers: readonly string[];
  /** Name of the active provider. */
  readonly active: string;
  /** Whether an entry with a slash may be a model of the active provider. */
  isModel(entry: string): boolean;
}
export interface Chain {
  readonly models: readonly ModelRef[];
  /** About entries that were left out. */
  readonly warnings: readonly string[];
}

export const readChain = (source: ChainSource): Chain => {
  const models: ModelRef[] = [];
  const warnings: string[] = [];
  for (const [index, raw] of source.entries.entries()) {
    const entry = raw.trim();
    const fault = faultIn(entry, source);
    if (fault === undefined) {
      const model = readModelRef(entry, source.providers, source.active);
      // Twice in the chain it would be no other model to go on with.
      if (!models.some((known) => isSame(known, model))) models.push(model);
    } else warnings.push(`fallback[${index}]${placeOf(source.origin)} is left out: ${fault}`);
  }
  return { models, warnings };
};

const faultIn = (entry: string, { providers, active, isModel }: ChainSource): string | undefined => {
  if (entry === '') return 'it is empty. Write `provider/model`, or remove it.';
  if (entry.endsWith('/')) return `\`${entry}\` names no model. Write the model behind the slash.`;
  if (providers.includes(entry))
    return `\`${entry}\` is a provider. Write \`${entry}/MODEL\`, or \`${active}/${entry}\` for a model of ${active} with that name.`;
  const slash = entry.indexOf('/');
  if (slash < 0 || providers.some((name) => entry.startsWith(`${name}/`)) || isModel(entry)) return undefined;
  const known = providers.join(', ');
  return `there is no provider ${entry.slice(0, slash)}; known: ${known}. Correct \`${entry}\`, or write \`${active}/${entry}\` for a model of ${active}.`;
};

const placeOf = (origin: Origin | undefined): string => (origin === undefined ? '' : ` (${origin.file ?? origin.layer})`);

/** The first that may be asked now; when none may, the one whose time comes first. */
export const firstReady = (chain: readonly ModelRef[], until: (model: ModelRef) => number, now: number): ModelRef | undefined =>
  chain.find((model) => until(model) <= now) ?? [...chain].sort((a, b) => until(a) - until(b))[0];
