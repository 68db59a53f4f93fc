import type { Usage } from '../../kernel/index.ts';

/** US dollars and tokens, and the part of them that sub-agents used. */
export interface Spent {
  readonly cost: number;
  readonly tokens: number;
  readonly childCost: number;
  readonly childTokens: number;
}
export const NOTHING: Spent = { cost: 0, tokens: 0, childCost: 0, childTokens: 0 };

export const spentOn = ({ promptTokens, completionTokens, cost = 0 }: Usage, isChild: boolean): Spent => {
  const tokens = promptTokens + completionTokens;
  return { cost, tokens, childCost: isChild ? cost : 0, childTokens: isChild ? tokens : 0 };
};
export const add = (a: Spent, b: Spent): Spent => ({
  cost: a.cost + b.cost,
  tokens: a.tokens + b.tokens,
  childCost: a.childCost + b.childCost,
  childTokens: a.childTokens + b.childTokens,
});

/** What a session and its sub-agents have used since it was opened: one account for all of them. */
export class Spending {
  spent = NOTHING;

  add(usage: Usage, isChild: boolean): void {
    this.spent = add(this.spent, spentOn(usage, isChild));
  }
}
