/** A conversation as a person reads it. */
import type { Entry, SessionRecord } from '../../kernel/index.ts';
import { cut, oneLine, plainLines, type Paint } from '../style.ts';

/** Lines and characters of a tool's result that are shown; all of it is in the JSON. */
const RESULT_LINES = 12;
const RESULT_WIDTH = 200;

export const titleOf = ({ title }: SessionRecord): string => oneLine(title) || '(no title)';

/** Local time, to the minute. */
export const dateOf = (at: number): string => {
  const date = new Date(at);
  const two = (number: number): string => `${number}`.padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
};

export const transcriptOf = (record: SessionRecord, entries: readonly Entry[], paint: Paint): readonly string[] => {
  const lines = [`${paint.bold(titleOf(record))}`, paint.dim(`${record.id}, ${dateOf(record.createdAt)}, ${record.model}, ${record.cwd}`)];
  let isOpen = false;
  for (const entry of entries) {
    lines.push(...(entry.kind === 'turn' ? turnLines(entry.data, isOpen, paint) : entryLines(entry, paint)));
    if (entry.kind === 'turn') isOpen = entry.data.phase === 'start';
  }
  return isOpen ? [...lines, '', paint.dim('— this turn has no end: its process was ended, or still runs —')] : lines;
};

/** What became of a turn that did not end by an answer. */
const turnLines = ({ phase, reason = 'answered', code }: Extract<Entry, { kind: 'turn' }>['data'], isOpen: boolean, paint: Paint): readonly string[] => {
  if (phase === 'start') return isOpen ? ['', paint.dim('— the turn had no end: its process was ended —')] : [];
  return reason === 'answered' ? [] : ['', paint.dim(`— ${reason}${code === undefined ? '' : `: ${oneLine(code)}`} —`)];
};

const entryLines = (entry: Entry, paint: Paint): readonly string[] => {
  if (entry.kind === 'compaction') return ['', paint.dim('— what came before was summarised —'), plainLines(entry.data.summary)];
  if (entry.kind !== 'message') return [];
  const { role, origin, blocks, incomplete } = entry.data;
  const lines = blocks.flatMap((block): readonly string[] => {
    if (block.type === 'text') return [plainLines(block.text.trim())].filter((text) => text !== '');
    if (block.type === 'call') return [paint.dim(`→ ${block.tool} ${cut(oneLine(block.arguments), RESULT_WIDTH)}`)];
    if (block.type === 'image') return [paint.dim(`(image, ${block.image.mediaType})`)];
    return block.type === 'result' ? resultLines(block.status, block.content, paint) : [];
  });
  if (lines.length === 0) return [];
  if (role === 'tool') return lines;
  const speaker = role === 'assistant' ? paint.green('assistant') : paint.cyan(origin);
  return ['', `${speaker}${incomplete ? paint.dim(' (broke off)') : ''}`, ...lines];
};

const resultLines = (status: string, content: string, paint: Paint): readonly string[] => {
  const lines = plainLines(content.trimEnd()).split('\n');
  const shown = lines.slice(0, RESULT_LINES).map((line) => paint.dim(`  ${cut(line, RESULT_WIDTH)}`));
  const rest = lines.length > RESULT_LINES ? [paint.dim(`  … ${lines.length - RESULT_LINES} more lines`)] : [];
  return status === 'ok' ? [...shown, ...rest] : [paint.red(`  ${status}`), ...shown, ...rest];
};
