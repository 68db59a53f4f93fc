/** The older part of a conversation as a text to be summarised, never longer than it may be. */
import { type CallBlock, estimateText, type ViewMessage } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';

/** Characters of what somebody said and of a result, tried in this order until all of it fits. */
const SIZES: readonly (readonly [said: number, result: number])[] = [
  [Infinity, LIMITS.resultChars],
  [16_000, LIMITS.resultChars],
  [4_000, LIMITS.resultChars],
  [2_000, 200],
  [1_000, 100],
  [500, 50],
  [200, 0],
];

/** At most about `budget` tokens. Where nothing else helps, the oldest messages are left out. */
export const conversationText = (messages: readonly ViewMessage[], budget: number): string => {
  for (const [said, result] of SIZES) {
    const text = messages.flatMap((message) => linesOf(message, said, result)).join('\n\n');
    if (estimateText(text) <= budget) return text;
  }
  return newestOf(
    messages.flatMap((message) => linesOf(message, 200, 0)),
    budget,
  );
};

const newestOf = (lines: readonly string[], budget: number): string => {
  const kept: string[] = [];
  let left = budget - estimateText(leftOut(lines.length));
  for (const line of lines.toReversed()) {
    left -= estimateText(line) + 1;
    if (left < 0) break;
    kept.unshift(line);
  }
  return [leftOut(lines.length - kept.length), ...kept].join('\n\n');
};
const leftOut = (count: number): string => `[${count} older parts are left out]`;

const linesOf = ({ role, blocks, reminder }: ViewMessage, said: number, result: number): readonly string[] => {
  // Notes of plugins come again when they are still true.
  if (reminder) return [];
  const speaker = role === 'assistant' ? 'Assistant' : 'User';
  return blocks.flatMap((block) => {
    if (block.type === 'text') return block.text.trim() === '' ? [] : [`${speaker}: ${cut(block.text.trim(), said)}`];
    if (block.type === 'call') return [`Assistant calls ${callText(block)}`];
    if (block.type === 'image') return [`${speaker}: [image]`];
    if (block.type !== 'result') return [];
    return [`Result of ${block.tool}${block.status === 'ok' ? '' : ` (${block.status})`}: ${cut(block.content, result)}`];
  });
};

const callText = ({ tool, arguments: raw }: CallBlock): string => {
  const fields = fieldsOf(raw);
  if (!fields) return `${tool}(${cut(raw, LIMITS.argumentChars)})`;
  const parts = Object.entries(fields).map(([name, value]) => `${name}=${cut(JSON.stringify(value) ?? '', LIMITS.argumentChars)}`);
  const more = parts.length > LIMITS.arguments ? [`… ${parts.length - LIMITS.arguments} more`] : [];
  return `${tool}(${[...parts.slice(0, LIMITS.arguments), ...more].join(', ')})`;
};

/** Undefined for arguments that are no JSON object. */
export const fieldsOf = (raw: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

/** Its beginning, not in the middle of a character. */
export const cut = (text: string, chars: number): string => {
  if (text.length <= chars) return text;
  const head = text.slice(0, chars).replace(/[\ud800-\udbff]$/, '');
  return `${head}… (${text.length - head.length} more characters)`;
};
