/** The table of models that comes with cast, read when the first model is looked up. */
import type { ModelInfo } from '../../../kernel/index.ts';
import { factsFrom, levelsOf, priceFrom, type Reasoning, tokensOf } from './facts.ts';
import type { Catalogue } from './look-up.ts';
import { SNAPSHOT } from './snapshot.ts';

let table: Catalogue | undefined;

export const snapshot = (): Catalogue => (table ??= readTable(SNAPSHOT));

const readTable = (text: string): Catalogue => {
  const sellers: Record<string, ModelInfo[]> = {};
  let models: ModelInfo[] = [];
  for (const line of text.trim().split('\n')) {
    if (line.startsWith('# ')) models = sellers[line.slice(2)] = [];
    else models.push(readLine(line));
  }
  return sellers;
};

const readLine = (line: string): ModelInfo => {
  const [id = '', window, output, prices = '', levels = '?', input] = line.split(' ');
  const [plain, out, cacheRead, cacheWrite] = prices.split('/');
  return {
    id,
    ...factsFrom({
      contextWindow: tokensOf(window),
      maxOutput: tokensOf(output),
      price: priceFrom({ in: plain, out, cacheRead, cacheWrite }),
      reasoning: readLevels(levels),
      images: input === 'image',
    }),
  };
};

const readLevels = (text: string): Reasoning | undefined => {
  if (text === '?') return undefined;
  if (text === 'none') return { levels: [] };
  const names = text.split(',');
  const usual = names.find((name) => name.endsWith('*'))?.slice(0, -1);
  return { levels: levelsOf(names.map((name) => name.replace('*', ''))), ...(usual === undefined ? {} : { default: usual }) };
};
