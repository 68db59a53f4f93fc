import { type Choice, type Node, PatternWrong } from './pattern-tree.ts';

const FOREIGN = 'a reference to a group that may have no part in the match';

/**
 * What a group that took no part stands for differs between engines: a reference must be to one that certainly has, else it is for ripgrep.
 * One to a group that is not there (of `groups`, numbers and names) is wrong.
 */
export const foreignReference = (choice: Choice, groups: ReadonlySet<string>): string | undefined =>
  inChoice(choice, new Set(), groups) ? FOREIGN : undefined;

/** Each looks at everything: behind what is foreign there may be something wrong. */
const inChoice = (choice: Choice, closed: Set<string>, groups: ReadonlySet<string>): boolean =>
  choice
    .map((sequence) => {
      const known = choice.length > 1 ? new Set(closed) : closed;
      return sequence.map((node) => inNode(node, known, groups)).some(Boolean);
    })
    .some(Boolean);

const inNode = (node: Node, known: Set<string>, groups: ReadonlySet<string>): boolean => {
  switch (node.kind) {
    case 'back':
      if (!groups.has(node.to)) throw new PatternWrong(`there is no group ${node.to}`);
      return !known.has(node.to);
    case 'look':
      return inChoice(node.body, new Set(known), groups);
    case 'repeat':
      return inNode(node.of, node.least > 0 ? known : new Set(known), groups);
    case 'group':
      return inGroup(node, known, groups);
    default:
      return false;
  }
};

const inGroup = (node: Node & { readonly kind: 'group' }, known: Set<string>, groups: ReadonlySet<string>): boolean => {
  const isForeign = inChoice(node.body, known, groups);
  if (node.number !== undefined) known.add(String(node.number));
  if (node.name !== undefined) known.add(node.name);
  return isForeign;
};
