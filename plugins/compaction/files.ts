/** Files that were read and changed, from the calls themselves: no model is asked, and none can forget them. */
import { resolve } from 'node:path';
import { estimateText, type Tool, type ViewMessage } from '../../kernel/index.ts';
import { fieldsOf } from './conversation.ts';
import { LIMITS } from './limits.ts';

export interface Files {
  readonly read: readonly string[];
  readonly modified: readonly string[];
}
const BLOCKS = { read: 'read-files', modified: 'modified-files' } as const;
type Kind = keyof typeof BLOCKS;

type KnownTool = Pick<Tool, 'name' | 'synonyms' | 'effect'>;

/** Of calls that went well. `tools` are those that there are: what changes files is known by its effect. */
export const filesIn = (messages: readonly ViewMessage[], tools: readonly KnownTool[], cwd: string): Files => {
  const found: Record<Kind, Set<string>> = { read: new Set(), modified: new Set() };
  for (const [index, { blocks }] of messages.entries())
    for (const block of blocks) {
      if (block.type !== 'call' || !wentWell(messages, index, block.id)) continue;
      const kind = kindOf(block.tool, tools);
      const path = pathIn(block.arguments);
      if (kind && path !== undefined) found[kind].add(resolve(cwd, path));
    }
  return { read: [...found.read], modified: [...found.modified] };
};
const kindOf = (called: string, tools: readonly KnownTool[]): Kind | undefined => {
  const tool = tools.find(({ name, synonyms }) => name === called || synonyms.includes(called));
  return tool?.effect === 'write' ? 'modified' : tool?.name === 'read' ? 'read' : undefined;
};
/** One that stands on a line of its own. */
const pathIn = (raw: string): string | undefined => {
  const { path, filePath } = fieldsOf(raw) ?? {};
  const named = path ?? filePath;
  return typeof named === 'string' && !named.includes('\n') ? named : undefined;
};

/** Ids are numbered anew in each reply: its results stand right behind it. */
const wentWell = (messages: readonly ViewMessage[], reply: number, call: string): boolean => {
  for (let at = reply + 1; messages[at]?.role === 'tool'; at++)
    if (messages[at]?.blocks.some((block) => block.type === 'result' && block.id === call && block.status === 'ok')) return true;
  return false;
};

/** What an earlier summary lists comes first, so that it is the first to go when the lists grow too long. */
export const joined = (earlier: Files = { read: [], modified: [] }, later: Files): Files => {
  const modified = new Set([...earlier.modified, ...later.modified]);
  const read = new Set([...earlier.read, ...later.read].filter((path) => !modified.has(path)));
  return { read: [...read], modified: [...modified] };
};

/** The lists behind a summary, each sorted and at most about `budget` tokens; empty when there are no files. */
export const fileLists = (files: Files, budget: number): string =>
  (['read', 'modified'] as const)
    .flatMap((kind) => {
      const paths = newest(files[kind], budget);
      return paths.length === 0 ? [] : [`<${BLOCKS[kind]}>\n${paths.toSorted().join('\n')}\n</${BLOCKS[kind]}>`];
    })
    .join('\n\n');

const newest = (paths: readonly string[], budget: number): readonly string[] => {
  const kept: string[] = [];
  let left = budget;
  for (const path of paths.slice(-LIMITS.files).toReversed()) {
    left -= estimateText(path) + 1;
    if (left < 0) break;
    kept.unshift(path);
  }
  return kept;
};

const LISTS = new RegExp(`\\s*<(${Object.values(BLOCKS).join('|')})>\\n([\\s\\S]*?)\\n?</\\1>`, 'g');

/** A summary without its lists, and what they say. A model that writes such lists of its own is not believed. */
export const parted = (summary: string): { readonly text: string; readonly files: Files } => {
  const of = (kind: Kind): readonly string[] =>
    [...summary.matchAll(LISTS)].filter(([, name]) => name === BLOCKS[kind]).flatMap(([, , paths = '']) => paths.split('\n').filter((path) => path !== ''));
  return { text: summary.replace(LISTS, '').trim(), files: { read: of('read'), modified: of('modified') } };
};
