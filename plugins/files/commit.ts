import type { BigIntStats } from 'node:fs';
import { type ToolCall, ToolError, type ToolResult } from '../../kernel/index.ts';
import type { FileDiff } from './change.ts';
import { decodeFile, type TextFile } from './encoding.ts';
import { save } from './save.ts';
import { type Desk, readWhole, type Target } from './target.ts';
import { changeReport, encoded } from './write.ts';

/** A file as it was when an edit looked at it. */
export interface Before {
  readonly file: TextFile;
  readonly bytes: Buffer;
  readonly stat: BigIntStats;
}

export const readText = async (target: Target, signal: AbortSignal): Promise<Before> => {
  const { bytes, stat } = await readWhole(target, signal);
  const file = await decodeFile(bytes);
  if (!file) throw notText(target);
  return { file, bytes, stat };
};

export const notText = (target: Target): ToolError => new ToolError('INVALID_ARGUMENT', `Cannot edit binary file ${target.shown}.`);

interface Edit {
  readonly target: Target;
  readonly before: Before;
  /** The new text, in the decoded form, with its line endings. */
  readonly raw: string;
  readonly notes: readonly string[];
  readonly shown?: (diff: FileDiff) => string;
}

/** Writes an edited file and tells what changed. */
export const commit = async ({ target, before, raw, notes, shown }: Edit, call: ToolCall, desk: Desk): Promise<ToolResult> => {
  const { file, bytes, stat } = before;
  if (raw === file.text) throw new ToolError('INVALID_ARGUMENT', `Nothing would change: ${target.shown} already reads like that.`);
  const isStale = desk.seen.hasChanged(target.path, stat, bytes);
  const result = encoded(file, raw, target);
  const saved = await save({ ...target, stat }, result, desk, call.signal);
  // What others changed is still unread: a later write must not pass over it.
  if (!isStale) desk.seen.note(target.path, saved, result);
  const stale = isStale ? ['Note: the file had changed since it was last read; those changes are kept. Read it again before you write all of it.'] : [];
  return { status: 'ok', ...changeReport([`Edit applied to ${target.shown}`, ...notes, ...stale], target, file, raw, shown), changed: [target.path] };
};
