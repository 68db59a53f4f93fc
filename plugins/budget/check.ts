/** Whether a request may be sent, and how long its reply may be. */
import { estimateRequest, type ConfigView, type ModelInfo, type ModelRequest, type Refusal, type UsageTotals } from '../../kernel/index.ts';
import { LEAST_REPLY, UNLIMITED_REPLY, type Amounts } from './limits.ts';
import { NOTHING, type Spent } from './spending.ts';

export interface Budget {
  readonly of: 'run' | 'session' | 'day';
  readonly unit: 'cost' | 'tokens';
  readonly most: number;
  readonly spent: Spent;
  /** The setting, or the flag, that was given. */
  readonly setting: string;
}
export interface Sources {
  readonly config: ConfigView;
  readonly options: { readonly session?: Amounts; readonly day?: Amounts };
  readonly run: Spent;
  /** Of the session in all its runs; undefined where nobody counts it. */
  readonly total: UsageTotals | undefined;
  readonly today: Spent | undefined;
}
type Price = NonNullable<ModelInfo['price']>;

export const budgetsOf = ({ config, options, run, total, today = NOTHING }: Sources): readonly Budget[] => {
  // What sub-agents cost in all runs is not known apart from their tokens.
  const whole = total ? { cost: total.cost ?? 0, tokens: total.promptTokens + total.completionTokens, childCost: 0, childTokens: total.subagentTokens } : run;
  const session: Spent = { ...whole, cost: Math.max(whole.cost, run.cost), tokens: Math.max(whole.tokens, run.tokens) };
  return [
    ...budgets(config, 'run', config.value.limits, run, 'limits.'),
    ...budgets(config, 'session', options.session, session, 'plugins.budget.session.'),
    ...budgets(config, 'day', options.day, today, 'plugins.budget.day.'),
  ];
};

const budgets = (config: ConfigView, of: Budget['of'], amounts: Amounts | undefined, spent: Spent, prefix: string): readonly Budget[] => {
  const one = (unit: Budget['unit'], key: keyof Amounts, flag: string): readonly Budget[] => {
    const most = amounts?.[key];
    if (most === undefined) return [];
    const origin = config.origin(`${prefix}${key}`);
    const setting = of === 'run' && origin?.layer === 'flags' ? flag : `${prefix}${key}${origin?.file === undefined ? '' : ` in ${origin.file}`}`;
    return [{ of, unit, most, spent, setting }];
  };
  return [...one('cost', 'maxCost', '--max-cost'), ...one('tokens', 'maxTokens', '--max-tokens')];
};

/** Undefined when all is well. A reply that could cost too much is asked to be shorter, as long as it may still be a reply. */
export const verdictOn = (
  request: ModelRequest,
  all: readonly Budget[],
  price: Price | undefined,
): { readonly maxOutputTokens: number } | { readonly refuse: Refusal } | undefined => {
  const costly = all.find(({ unit }) => unit === 'cost');
  if (costly && !price) return { refuse: unpriced(request, costly) };
  const prompt = estimateRequest(request);
  const wished = request.maxOutputTokens ?? UNLIMITED_REPLY;
  const rates = ratesOf(price);
  const [tightest] = all.map((budget) => ({ budget, room: roomIn(budget, prompt, rates) })).sort((a, b) => a.room - b.room);
  if (!tightest || tightest.room >= wished) return undefined;
  const least = Math.min(wished, LEAST_REPLY);
  if (tightest.room >= least) return { maxOutputTokens: Math.floor(tightest.room) };
  return { refuse: spentUp(tightest.budget, tightest.budget.unit === 'tokens' ? prompt + least : prompt * rates.in + least * rates.out) };
};

/** US dollars a token, the dearest way. */
interface Rates {
  readonly in: number;
  readonly out: number;
}
const ratesOf = (price: Price = { in: 0, out: 0 }): Rates => ({ in: Math.max(price.in, price.cacheWrite ?? 0) / 1e6, out: price.out / 1e6 });

/** Tokens that a reply may have. */
const roomIn = ({ unit, most, spent }: Budget, prompt: number, rates: Rates): number => {
  if (unit === 'tokens') return most - spent.tokens - prompt;
  const left = most - spent.cost - prompt * rates.in;
  // What costs nothing fits into any budget that is not overdrawn.
  return rates.out === 0 ? (left >= 0 ? Number.POSITIVE_INFINITY : 0) : left / rates.out;
};

const PERIODS: Readonly<Record<Budget['of'], string>> = { run: 'this run', session: 'this session', day: 'today' };

const spentUp = ({ of, unit, most, spent, setting }: Budget, next: number): Refusal => {
  const [used, byChildren, written] = unit === 'cost' ? [spent.cost, spent.childCost, dollars] : [spent.tokens, spent.childTokens, tokens];
  const part = byChildren > 0 ? ` (${written(byChildren)} by sub-agents)` : '';
  return {
    code: 'BUDGET_EXCEEDED',
    message: `the budget of ${PERIODS[of]} does not cover the next request: ${written(used)}${part} of ${written(most)} ${unit === 'cost' ? 'are spent' : 'are used'}, and it could take ${written(next)}`,
    fix: `Raise ${setting}${of === 'day' ? ', or wait for tomorrow' : ''}. All work is kept: go on with \`cast run -c\`.`,
  };
};
const unpriced = ({ provider, model }: ModelRequest, { setting }: Budget): Refusal => ({
  code: 'BUDGET_NO_PRICE',
  message: `the price of ${provider}/${model} is not known, so ${setting} cannot be kept`,
  fix: `Set providers.${provider}.models.${model}.price to { in, out }, in US dollars a million tokens, or limit tokens with --max-tokens.`,
});

const dollars = (amount: number): string => `$${amount.toFixed(4)}`;
const tokens = (count: number): string => `${String(Math.ceil(count)).replace(/\B(?=(\d{3})+$)/g, ',')} tokens`;
