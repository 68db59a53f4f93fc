import { basename, dirname } from 'node:path';
import type { ToolCall, ToolInputs, ToolResult } from '../../kernel/index.ts';
import { fitting, remarkRows } from './answer.ts';
import { answering } from './answering.ts';
import { withEngine } from './engine.ts';
import { First } from './first.ts';
import { LIMITS } from './limits.ts';
import { readPattern } from './pattern.ts';
import { byPath, type Desk, locate, type Place, shownPath } from './place.ts';
import type { FileMatches, Remarks, TextQuery } from './query.ts';
import { type Rules, rulesFor } from './rules.ts';
import { filter } from './wildcard.ts';

export const grep = (input: ToolInputs['grep'], call: ToolCall, desk: Desk): Promise<ToolResult> =>
  answering(call.signal, 'code', async () => {
    const pattern = readPattern(input);
    const place = await locate(input.path ?? '.', call, desk);
    const folder = place.isFile ? dirname(place.path) : place.path;
    const rules = await rulesFor(folder, place.isFile ? basename(place.path) : undefined, desk.environment);
    const query: TextQuery = {
      path: place.path,
      isFile: place.isFile,
      rules,
      signal: call.signal,
      pattern,
      context: Math.min(input.context ?? 0, LIMITS.context),
      limit: Math.min(input.limit ?? 100, LIMITS.lines),
      wanted: filter(input.glob, folder),
    };
    return withEngine(desk, async (engine) => {
      const first = new First<FileMatches>(LIMITS.lines);
      const isCounting = (): boolean => first.total <= LIMITS.counted;
      const remarks = await engine.matches(query, {
        isOpen: (path) => isCounting() || first.hasPlaceFor(path),
        visit: (file) => {
          first.add(file.path, file, file.rows.length);
          return isCounting();
        },
      });
      return render(first, query, place, rules, remarks);
    });
  });

const render = (first: First<FileMatches>, query: TextQuery, place: Place, rules: Rules, remarks: Remarks): string => {
  const files = first.items();
  const lines = files.flatMap((file) => fileRows(file, shownPath(place, file.path), query.context > 0));
  const shown = fitting(lines);
  const remarked = remarkRows(place, rules, { ...remarks, unreadable: remarks.unreadable.filter(isLookedAt(first, files)) });
  const notes = [...cutRows(shown.length, lines.length, first.total), ...fullRows(files, query, place), ...remarked];
  return [...(shown.length > 0 ? shown : ['No matches found']), ...notes].join('\n');
};

/** Beyond so many lines nobody says what lies behind those that are shown: one engine looks there, the other does not. */
const isLookedAt = (first: First<FileMatches>, files: readonly FileMatches[]): ((path: string) => boolean) => {
  const last = files.at(-1);
  return (path) => first.total <= LIMITS.counted || last === undefined || byPath(path, last.path) <= 0;
};

const cutRows = (shown: number, kept: number, total: number): readonly string[] => {
  if (shown === kept && total <= LIMITS.lines) return [];
  return [
    `(First ${shown} of ${total > LIMITS.counted ? `more than ${LIMITS.counted}` : total} lines. Narrow the pattern, the path or the glob to see the rest.)`,
  ];
};

const fullRows = (files: readonly FileMatches[], { limit }: TextQuery, place: Place): readonly string[] => {
  const full = files.filter((file) => file.rows.filter((row) => row.isMatch).length >= limit).map((file) => shownPath(place, file.path));
  if (full.length === 0) return [];
  return [
    `(At most ${limit} ${limit === 1 ? 'match' : 'matches'} of each file are shown; reached in ${full.slice(0, 5).join(', ')}${full.length > 5 ? ', …' : ''}.)`,
  ];
};

const fileRows = ({ rows }: FileMatches, path: string, hasContext: boolean): readonly string[] =>
  rows.flatMap((row, index) => {
    const text = row.isMatch ? `${path}:${row.line}:${row.text}` : `${path}-${row.line}-${row.text}`;
    const before = rows[index - 1];
    return hasContext && before !== undefined && row.line !== before.line + 1 ? ['--', text] : [text];
  });
