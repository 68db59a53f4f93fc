/** The table of models that comes with cast. */
import type { ModelInfo } from '../../../kernel/index.ts';
import { levelsOf, type Price, priceFrom, type Reasoning, tokensOf } from './facts.ts';
import { type Catalogue, ModelIndex } from './look-up.ts';
import { SNAPSHOT } from './snapshot.ts';

/** Its figures are read when they are asked for: of all these models a run needs one. */
class TableLine {
  readonly id: string;
  readonly #line: string;

  constructor(line: string) {
    this.id = line.slice(0, line.indexOf(' '));
    this.#line = line;
  }

  get contextWindow(): number | undefined {
    return tokensOf(this.#part(1));
  }
  get maxOutput(): number | undefined {
    return tokensOf(this.#part(2));
  }
  get price(): Price | undefined {
    const [plain, out, cacheRead, cacheWrite] = this.#part(3).split('/');
    return priceFrom({ in: plain, out, cacheRead, cacheWrite });
  }
  get reasoning(): Reasoning | undefined {
    const text = this.#part(4);
    if (text === '?') return undefined;
    if (text === 'none') return { levels: [] };
    const names = text.split(',');
    const usual = names.find((name) => name.endsWith('*'))?.slice(0, -1);
    return { levels: levelsOf(names.map((name) => name.replace('*', ''))), ...(usual === undefined ? {} : { default: usual }) };
  }
  get images(): boolean {
    return this.#part(5) === 'image';
  }

  #part(index: number): string {
    return this.#line.split(' ')[index] ?? '';
  }
}

export const readTable = (text: string): Catalogue => {
  const sellers: Record<string, ModelInfo[]> = {};
  let models: ModelInfo[] = [];
  for (const line of text.trim().split('\n')) {
    if (line.startsWith('# ')) models = sellers[line.slice(2)] = [];
    else models.push(new TableLine(line) as ModelInfo);
  }
  return sellers;
};

let index: ModelIndex | undefined;
/** Read when the first model is looked up. */
export const snapshot = (): ModelIndex => (index ??= new ModelIndex(readTable(SNAPSHOT)));
