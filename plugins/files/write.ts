import type { BigIntStats } from 'node:fs';
import { type ToolCall, ToolError, type ToolInputs, type ToolResult } from '../../kernel/index.ts';
import { diffOf, diffView, type FileDiff, renderDiff, repeatedLines } from './change.ts';
import { elisionIn } from './elision.ts';
import { UTF8 } from './charsets.ts';
import { decodeFile, encodeFile, markOf, type TextFile } from './encoding.ts';
import { countOf, endingsOf, lined, toLf } from './endings.ts';
import { answering } from './answering.ts';
import { save } from './save.ts';
import { type Desk, locate, mustBeRegular, readWhole, type Target } from './target.ts';

export const write = (input: ToolInputs['write'], call: ToolCall, desk: Desk): Promise<ToolResult> =>
  answering(input.path, call.signal, async () => {
    const target = await locate(input.path, call, desk);
    mustNameFile(input.path, target);
    if (!target.stat) return create(target, input.content, call, desk);
    mustBeRegular(target.stat, target.shown);
    return overwrite(target, target.stat, input.content, call, desk);
  });

/** Refuses `name/` where nothing is: a file of that name is not what was meant. */
export const mustNameFile = (path: string, target: Target): void => {
  if (/[/\\]$/.test(path) && !target.stat) throw new ToolError('INVALID_ARGUMENT', `${path} names a folder.`, { fix: 'Name a file.' });
};

/** Makes a new file and its folders. */
export const create = async (target: Target, content: string, call: ToolCall, desk: Desk): Promise<ToolResult> => {
  const bytes = encoded({ encoding: UTF8, mark: Buffer.alloc(0) }, content, target);
  desk.seen.note(target.path, await save(target, bytes, desk, call.signal), bytes);
  const warning = repeatedLines('', content);
  return {
    status: 'ok',
    content: [`Created ${target.shown} (${sizeOf(content, bytes)})`, ...(warning === undefined ? [] : [warning])].join('\n'),
    changed: [target.path],
    view: diffView(diffOf(target.shown, '', content)),
  };
};

const overwrite = async (target: Target, stat: BigIntStats, content: string, call: ToolCall, desk: Desk): Promise<ToolResult> => {
  const old = await readWhole(target, call.signal);
  if (desk.seen.hasChanged(target.path, old.stat, old.bytes)) {
    throw new ToolError('CONFLICT', `${target.shown} has changed on disk since it was last read, so it was not overwritten.`, {
      fix: 'Read it again, then write it with those changes kept.',
    });
  }
  const before = await decodeFile(old.bytes);
  const { bytes, text, kept } = inFormOf(before, content, target);
  if (bytes.equals(old.bytes)) {
    desk.seen.note(target.path, old.stat, bytes);
    return { status: 'ok', content: `${target.shown} is identical to that already; nothing was written.` };
  }
  const elision = elisionIn(content, before?.text ?? '');
  if (elision !== undefined && bytes.length < old.bytes.length) {
    throw new ToolError('INVALID_ARGUMENT', `The content leaves lines out (\`${elision}\`), so ${target.shown} would lose them. Nothing was written.`, {
      fix: 'Give the complete content, or use edit for the part that changes.',
    });
  }
  desk.seen.note(target.path, await save({ ...target, stat: old.stat }, bytes, desk, call.signal), bytes);
  const head = `Overwrote ${target.shown} (${sizeOf(text, bytes)})`;
  if (!before) return { status: 'ok', content: `${head}\nIt was a binary file before.`, changed: [target.path] };
  const shape = shapeNotes(before, text, bytes);
  return { status: 'ok', ...changeReport([head, ...kept, ...shape], target, readable(before), text), changed: [target.path] };
};

// The new text is never in the broken encoding, and is compared as it is.
const readable = (file: TextFile): TextFile => (file.encoding.exactOnly ? { ...file, encoding: UTF8, text: file.encoding.outward(file.text) } : file);

/** What an overwrite changed that no line of a difference shows. */
const shapeNotes = (before: TextFile, text: string, bytes: Buffer): readonly string[] => {
  const [had, has] = [endingsOf(before.text), endingsOf(text)];
  const notes = had === has || had === undefined || has === undefined ? [] : [`Note: line endings were ${had} and are ${has} now.`];
  if (before.mark.length === 0 && markOf(bytes)) notes.push('Note: the file begins with a byte order mark now.');
  if (before.encoding.exactOnly) notes.push('Note: the bytes that were no valid UTF-8 are gone.');
  return notes;
};

const sizeOf = (text: string, bytes: Uint8Array): string => {
  const lines = countOf(text, '\n') + (text === '' || text.endsWith('\n') ? 0 : 1);
  return `${lines} ${lines === 1 ? 'line' : 'lines'}, ${bytes.length} bytes`;
};

/** The new content with the byte order mark, encoding and line endings of the file that it replaces, as far as it does not bring its own. */
const inFormOf = (before: TextFile | undefined, content: string, target: Target): { bytes: Buffer; text: string; kept: readonly string[] } => {
  if (!before) return { bytes: encoded({ encoding: UTF8, mark: Buffer.alloc(0) }, content, target), text: content, kept: [] };
  const kept: string[] = [];
  let text = before.mark.length > 0 ? content.replace(/^\ufeff/, '') : content;
  if (before.mark.length > 0) kept.push('byte order mark');
  if (lined(before.text).dominant === '\r\n' && text.includes('\n') && !text.includes('\r\n')) {
    text = text.replaceAll('\n', '\r\n');
    kept.push('CRLF line endings');
  }
  if (before.encoding === UTF8 || before.encoding.exactOnly)
    return { bytes: encoded({ encoding: UTF8, mark: before.mark }, text, target), text, kept: keptNote(kept) };
  const bytes = encodeFile(before, text);
  if (bytes) return { bytes, text, kept: keptNote([...kept, `encoding ${before.encoding.name}`]) };
  const lost = `Note: the encoding is UTF-8 now; ${before.encoding.name} does not have every character of the new content.`;
  return { bytes: encoded({ encoding: UTF8, mark: Buffer.alloc(0) }, text, target), text, kept: [...keptNote(kept), lost] };
};
const keptNote = (kept: readonly string[]): readonly string[] => (kept.length === 0 ? [] : [`Kept from the old file: ${kept.join(', ')}.`]);

/** The bytes of a text; refuses when the encoding lacks one of its characters. */
export const encoded = (form: Pick<TextFile, 'encoding' | 'mark'>, text: string, target: Target): Buffer => {
  const bytes = encodeFile(form, text);
  if (bytes) return bytes;
  throw new ToolError('INVALID_ARGUMENT', `${target.shown} is ${form.encoding.name}, which lacks a character of the new text. Nothing was written.`, {
    fix: 'Use only characters of that encoding.',
  });
};

/** Content and view of a result that changed a text file; `shown` is how the model reads the change. */
export const changeReport = (
  head: readonly string[],
  target: Target,
  before: TextFile,
  after: string,
  shown: (diff: FileDiff) => string = renderDiff,
): Pick<ToolResult, 'content'> & Required<Pick<ToolResult, 'view'>> => {
  const { outward } = before.encoding;
  const [old, now] = [outward(before.text), outward(after)];
  const diff = diffOf(target.shown, old, now);
  const rows = [...head];
  if (diff.hunks.length > 0) rows.push(shown(diff));
  else if (toLf(old) === toLf(now)) rows.push('Note: only line endings, byte order mark or encoding changed.');
  if (old.endsWith('\n') !== now.endsWith('\n') && old !== '' && now !== '') {
    rows.push(`Note: the file ${now.endsWith('\n') ? 'now ends' : 'no longer ends'} with a line feed.`);
  }
  const warning = repeatedLines(old, now);
  if (warning !== undefined) rows.push(warning);
  return { content: rows.join('\n'), view: diffView(diff) };
};
