/** How large a pattern is once its repetitions are written out: an engine does that, and refuses what becomes too large, each at a size of its own. */
import { LIMITS } from './limits.ts';
import { type CharSet, type Choice, type Node, PatternWrong } from './pattern-tree.ts';
import { isSingle, pcreWriter } from './pattern-write.ts';

/** Throws where an engine might refuse it. */
export const checkSize = (choice: Choice): void => {
  if (sizeOf(choice, plainSize) > LIMITS.size) throw tooLarge();
};
/** The same for what PCRE2 is given. */
export const checkPcreSize = (choice: Choice, isReturn: boolean): void => {
  const written = pcreWriter(choice, isReturn);
  const size = (node: Node): number => {
    const text = written(node);
    if (node.kind === 'repeat' && !(isSingle(written(node.of)) && timesOf(node) < MOST_COUNTED)) return timesOf(node) * size(node.of);
    if (node.kind === 'group' || node.kind === 'look') return 16 + sizeOf(node.body, size);
    // A set takes 32 bytes, a character two or three times what it takes in the text.
    return 3 * text.length + 40 * (text.split('[').length - 1);
  };
  if (sizeOf(choice, size) > LIMITS.pcreSize) throw tooLarge();
};
/** PCRE2 has 16 bits for it. */
const MOST_COUNTED = 30_000;

const tooLarge = (): PatternWrong => new PatternWrong('its repetitions make it too large');

const sizeOf = (choice: Choice, size: (node: Node) => number): number =>
  choice.reduce((sum, sequence) => sum + sequence.reduce((all, node) => all + size(node), 2), 0);

const plainSize = (node: Node): number => {
  if (node.kind === 'repeat') return timesOf(node) * plainSize(node.of);
  if (node.kind === 'group' || node.kind === 'look') return sizeOf(node.body, plainSize);
  return node.kind === 'set' ? setSize(node) : 2;
};

const timesOf = ({ least, most }: Extract<Node, { kind: 'repeat' }>): number => Math.max(1, most === Number.POSITIVE_INFINITY ? least + 1 : most);

/** Properties of Unicode are long lists of ranges. */
const setSize = ({ body, complements }: CharSet): number => {
  const properties = [body, ...complements].join('').split('\\p{').length - 1;
  return properties === 0 ? 2 + Math.floor(body.length / 20) : 42 + 10 * properties;
};
