/** What the configuration says about a model, which wins over whatever is known of it. */
import type { ModelInfo, ProviderConfig } from '../../../kernel/index.ts';

type Facts = Omit<ModelInfo, 'id'>;

/** Undefined when neither says anything. A part of a price counts where the rest of it is known, and so with the levels of reasoning. */
export const infoWith = (model: string, { models = {} }: ProviderConfig, known: Facts | undefined): ModelInfo | undefined => {
  const own = Object.hasOwn(models, model) ? models[model] : undefined;
  if (!own) return known && { id: model, ...known };
  const { price, reasoning, ...rest } = { ...known, ...own };
  return { id: model, ...rest, ...wholePrice({ ...known?.price, ...price }), ...wholeReasoning({ ...known?.reasoning, ...reasoning }) };
};

const wholePrice = ({ in: plain, out, ...cached }: Partial<NonNullable<Facts['price']>>): Pick<Facts, 'price'> =>
  plain === undefined || out === undefined ? {} : { price: { in: plain, out, ...cached } };
const wholeReasoning = ({ levels, ...rest }: Partial<NonNullable<Facts['reasoning']>>): Pick<Facts, 'reasoning'> =>
  levels === undefined ? {} : { reasoning: { levels, ...rest } };
