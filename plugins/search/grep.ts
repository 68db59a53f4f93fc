import { basename, dirname } from 'node:path';
import { type ToolCall, ToolError, type ToolInputs, type ToolResult } from '../../kernel/index.ts';
import { fitting, MAX_LINES, remarkRows } from './answer.ts';
import { withEngine } from './engine.ts';
import { First } from './first.ts';
import { type Desk, locate, pathKey, type Place, shownPath } from './place.ts';
import type { FileMatches, Remarks, Row, TextQuery } from './query.ts';
import { answering } from './answering.ts';
import { type Rules, rulesFor } from './rules.ts';
import { wildcard } from './wildcard.ts';

/** Lines after which counting stops. */
const MAX_COUNTED = 4 * MAX_LINES;
const MAX_CONTEXT = 100;
/** Characters of a line that are shown, and how many of them may stand before the match. */
const MAX_LINE = 500;
const BEFORE_MATCH = 100;

export const grep = (input: ToolInputs['grep'], call: ToolCall, desk: Desk): Promise<ToolResult> =>
  answering(call.signal, async () => {
    mustBeOneLine(input);
    const place = await locate(input.path ?? '.', call, desk);
    const folder = place.isFile ? dirname(place.path) : place.path;
    const rules = await rulesFor(folder, place.isFile ? basename(place.path) : undefined, desk.environment);
    const query: TextQuery = {
      path: place.path,
      isFile: place.isFile,
      rules,
      signal: call.signal,
      pattern: input.pattern,
      ignoreCase: input.ignoreCase ?? false,
      literal: input.literal ?? false,
      context: Math.min(input.context ?? 0, MAX_CONTEXT),
      limit: Math.min(input.limit ?? 100, MAX_LINES),
      wants: filter(input.glob, folder),
    };
    return withEngine(desk, async (engine) => {
      const first = new First<FileMatches>(MAX_LINES);
      const remarks = await engine.matches(query, (file) => {
        first.add(pathKey(file.path), file, file.rows.length);
        return first.total <= MAX_COUNTED;
      });
      return render(first, query, place, rules, remarks);
    });
  });

// A line feed can never match within a line; ripgrep refuses it, and a silent "no match" would mislead.
const mustBeOneLine = ({ pattern, literal }: ToolInputs['grep']): void => {
  if (!pattern.includes('\n') && (literal || !/(?:^|[^\\])(?:\\\\)*\\n/.test(pattern))) return;
  throw new ToolError('INVALID_ARGUMENT', 'The pattern contains a line feed, but matches lie within one line.', {
    fix: 'Search for one of the lines and set `context`.',
  });
};

const filter = (glob: string | undefined, folder: string): ((path: string) => boolean) => {
  if (glob === undefined || glob.trim() === '') return () => true;
  if (!glob.startsWith('!')) return wildcard(glob, folder);
  const matches = wildcard(glob.slice(1), folder);
  return (path) => !matches(path);
};

const render = (first: First<FileMatches>, query: TextQuery, place: Place, rules: Rules, remarks: Remarks): string => {
  const files = first.items();
  const lines = files.flatMap((file) => fileRows(file, shownPath(place, file.path), query.context > 0));
  const shown = fitting(lines);
  const notes = [...cutRows(shown.length, lines.length, first.total), ...fullRows(files, query, place), ...remarkRows(place, rules, remarks)];
  return [...(shown.length > 0 ? shown : ['No matches found']), ...notes].join('\n');
};

const cutRows = (shown: number, kept: number, total: number): readonly string[] => {
  if (shown === kept && total <= MAX_LINES) return [];
  return [`(First ${shown} of ${total > MAX_COUNTED ? `more than ${MAX_COUNTED}` : total} lines. Narrow the pattern, the path or the glob to see the rest.)`];
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
    const text = row.isMatch ? `${path}:${row.line}:${excerpt(row)}` : `${path}-${row.line}-${excerpt(row)}`;
    const before = rows[index - 1];
    return hasContext && before !== undefined && row.line !== before.line + 1 ? ['--', text] : [text];
  });

const excerpt = ({ text, at }: Row): string => {
  if (text.length <= MAX_LINE) return text;
  const start = at + BEFORE_MATCH < MAX_LINE ? 0 : at - BEFORE_MATCH;
  const end = start + MAX_LINE;
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''} (${text.length} characters)`;
};
