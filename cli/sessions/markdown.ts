/** A session as Markdown. */
import type { Block, Entry, SessionRecord } from '../../kernel/index.ts';
import { oneLine, plainLines } from '../style.ts';
import { dateOf, titleOf } from './transcript.ts';

export const markdownStart = (record: SessionRecord): string =>
  `# ${titleOf(record)}\n\n${oneLine(record.id)} · ${dateOf(record.createdAt)} · ${oneLine(record.model)} · ${oneLine(record.cwd)}\n`;

export const markdownEntry = (entry: Entry): string => {
  if (entry.kind === 'compaction') return `\n---\n\n*What came before was summarised:*\n\n${plainLines(entry.data.summary)}\n\n---\n`;
  if (entry.kind !== 'message' || entry.data.reminder) return '';
  const { role, blocks, origin, incomplete } = entry.data;
  const parts = blocks.map(blockText).filter((part) => part !== '');
  if (parts.length === 0) return '';
  const heading =
    role === 'tool' ? '' : `\n## ${role === 'assistant' ? 'Assistant' : origin === 'user' ? 'User' : oneLine(origin)}${incomplete ? ' (broke off)' : ''}\n`;
  return `${heading}${parts.map((part) => `\n${part}\n`).join('')}`;
};

const blockText = (block: Block): string => {
  if (block.type === 'text') return plainLines(block.text).trim();
  if (block.type === 'call') return `**→ ${oneLine(block.tool)}**\n\n${fenced(block.arguments)}`;
  if (block.type === 'image') return `*(image, ${oneLine(block.image.mediaType)})*`;
  return block.type === 'result' ? `*${oneLine(block.tool)}: ${block.status}*\n\n${fenced(block.content)}` : '';
};

/** With a fence that is longer than any within. */
const fenced = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${plainLines(text).trimEnd()}\n${fence}`;
};
