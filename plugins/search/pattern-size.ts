import { LIMITS } from './limits.ts';
import { type Choice, type Node, PatternWrong } from './pattern-tree.ts';
import { looksAround } from './pattern-write.ts';

/**
 * Refuses what ripgrep's engines cannot hold: they write repetitions out. What they can hold depends on how they write, so the bounds are
 * nearer than theirs: a measure of our own for each engine, in parts of which it takes at most so many.
 */
export const checkSize = ({ choice, foreign }: { readonly choice: Choice; readonly foreign: string | undefined }): void => {
  const isPcre = foreign !== undefined || looksAround(choice);
  if (sizeOf(choice, isPcre ? PCRE : OWN) > (isPcre ? LIMITS.partsAround : LIMITS.parts)) {
    throw new PatternWrong('it is too large with its repetitions written out (`{1000}` writes a thousand)');
  }
  for (const node of nodesOf(choice)) {
    if (node.kind === 'look' && node.look.startsWith('?<') && lengthOf(node.body) > LIMITS.behind) {
      throw new PatternWrong(`what is looked for behind is longer than ${LIMITS.behind} characters`);
    }
  }
};

type Measure = (node: Node) => number;
/** A part is about 100 bytes: a character. A class of Unicode takes five hundred of them. */
const OWN: Measure = (node) => (node.kind === 'set' ? setSize(node, 12, 550) : 1);
/** A part is a byte. */
const PCRE: Measure = (node) => (node.kind === 'set' ? setSize(node, 64, 100) : node.kind === 'edge' ? 100 : 20);

const setSize = ({ body, complements }: Node & { readonly kind: 'set' }, plain: number, ofUnicode: number): number =>
  [body, ...complements].reduce((size, each) => size + (each.includes('\\p') ? ofUnicode : 0) + Math.max(1, each.length / 4) * plain, 0);

const sizeOf = (choice: Choice, measure: Measure): number =>
  choice.reduce((size, sequence) => size + 1 + sequence.reduce((sum, node) => sum + nodeSize(node, measure), 0), 0);

const nodeSize = (node: Node, measure: Measure): number => {
  if (node.kind === 'repeat') return nodeSize(node.of, measure) * Math.max(1, node.most === Number.POSITIVE_INFINITY ? node.least + 1 : node.most);
  return measure(node) + (node.kind === 'group' || node.kind === 'look' ? sizeOf(node.body, measure) : 0);
};

/** Characters of the longest text. */
const lengthOf = (choice: Choice): number =>
  choice.reduce(
    (longest, sequence) =>
      Math.max(
        longest,
        sequence.reduce((sum, node) => sum + nodeLength(node), 0),
      ),
    0,
  );
const nodeLength = (node: Node): number => {
  if (node.kind === 'repeat') return nodeLength(node.of) * node.most;
  if (node.kind === 'group') return lengthOf(node.body);
  return node.kind === 'char' || node.kind === 'set' ? 1 : 0;
};

const nodesOf = (choice: Choice): readonly Node[] =>
  choice.flat().flatMap((node) => {
    if (node.kind === 'repeat') return [node, ...nodesOf([[node.of]])];
    return node.kind === 'group' || node.kind === 'look' ? [node, ...nodesOf(node.body)] : [node];
  });
