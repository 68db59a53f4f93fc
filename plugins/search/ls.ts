import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ToolCall, ToolError, type ToolInputs, type ToolResult } from '../../kernel/index.ts';
import { fitting, remarkRows } from './answer.ts';
import { type Entry, entriesOf } from './entries.ts';
import { LIMITS } from './limits.ts';
import { onDisk, shownName } from './name.ts';
import { type Desk, locateFolder, type Place, shownPath } from './place.ts';
import { answering } from './answering.ts';
import { isIgnored, type Rules, rulesFor } from './rules.ts';

interface Line {
  readonly kind: 'd' | 'f';
  readonly size: string;
  readonly name: string;
}

export const ls = (input: ToolInputs['ls'], call: ToolCall, desk: Desk): Promise<ToolResult> =>
  answering(call.signal, 'code', async () => {
    const place = await locateFolder(input.path ?? '.', call, desk);
    const limit = Math.min(input.limit ?? 500, LIMITS.lines);
    const rules = await rulesFor(place.path, undefined, desk.environment);
    const { names, hidden } = visibleOf(place, rules);
    const lines = await Promise.all(names.slice(0, limit).map((name) => lineOf(place.path, name)));
    const width = Math.max(0, ...lines.map((line) => line.size.length));
    const rows = fitting(lines.map((line) => `${line.kind} ${line.size.padStart(width)} ${line.name}`));
    const notes: string[] = [];
    if (rows.length < names.length) notes.push(`(${names.length - rows.length} more ${names.length - rows.length === 1 ? 'entry' : 'entries'})`);
    if (hidden > 0) notes.push(`(${hidden} ${hidden === 1 ? 'entry' : 'entries'} that git ignores not listed)`);
    notes.push(...remarkRows(place, rules, { unreadable: [], notes: [] }));
    return [...(rows.length > 0 ? rows : [`${shownPath(place, place.path)} is empty.`]), ...notes].join('\n');
  });

const visibleOf = (place: Place, rules: Rules): { names: readonly string[]; hidden: number } => {
  const entries = listed(place);
  const visible = entries.filter((entry) => entry.name !== '.git' && !isIgnored(rules, rules.level, join(place.path, entry.name), entry.isFolder));
  const hidden = entries.filter((entry) => entry.name !== '.git').length - visible.length;
  return { names: visible.map((entry) => entry.name).sort(), hidden };
};

const listed = (place: Place): readonly Entry[] => {
  try {
    return entriesOf(place.path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ToolError(code === 'EACCES' ? 'PERMISSION_DENIED' : 'EXTERNAL_ERROR', `${shownPath(place, place.path)} cannot be listed (${code ?? message}).`);
  }
};

/** A link is what it leads to; one that leads nowhere is a file of unknown size. */
const lineOf = async (folder: string, name: string): Promise<Line> => {
  const found = await stat(onDisk(join(folder, name))).catch(() => undefined);
  if (!found) return { kind: 'f', size: '?', name: shownName(name) };
  return found.isDirectory() ? { kind: 'd', size: '-', name: shownName(`${name}/`) } : { kind: 'f', size: String(found.size), name: shownName(name) };
};
