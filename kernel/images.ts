import type { Message } from './data.ts';

/** What a mask of its images makes of a message: a note stands in their place, and whoever leaves images out of one request makes the same bytes. */
export const withoutImages = <M extends Message>(message: M, note: string): M => {
  const kept = message.blocks.filter((block) => block.type !== 'image');
  if (kept.length === message.blocks.length) return message;
  if (message.role !== 'tool') return { ...message, blocks: [...kept, { type: 'text', text: note }] };
  return { ...message, blocks: kept.map((block) => (block.type === 'result' ? { ...block, content: `${block.content}\n${note}` } : block)) };
};
