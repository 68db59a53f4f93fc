import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { type ToolCall, ToolError, type ToolInputs, type ToolResult } from '../../kernel/index.ts';
import { UTF8 } from './charsets.ts';
import { decodeFile, isBinary, markOf } from './encoding.ts';
import { isImageName } from './image.ts';
import { listing } from './listing.ts';
import { fileNotFound } from './nearby.ts';
import { byNumber, type Gutter, MAX_LINES, numbered, type Window, windowOf, windowOfFile } from './page.ts';
import { picture } from './picture.ts';
import { answering } from './answering.ts';
import { openLines, windowOfTable } from './hashline/open-lines.ts';
import { type Desk, locate, MAX_WHOLE, mustBeRegular, openRegular, readUpTo, type Target } from './target.ts';

/** Up to this size, in bytes, a file is read as a whole, so that its lines can be counted and later changes be told. */
const WHOLE = 8 * 1024 * 1024;
/** Bytes that tell what a larger file is. */
const SAMPLE = 4096;

const BINARY_NAMES = new Set(
  '.zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .jar .war .class .exe .dll .so .dylib .o .a .lib .wasm .pyc .pyo .pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp .ico .tiff .mp3 .mp4 .mov .avi .mkv .webm .ogg .wav .flac .woff .woff2 .ttf .otf .eot .sqlite .db'.split(
    ' ',
  ),
);

export const read = (input: ToolInputs['read'], call: ToolCall, desk: Desk): Promise<ToolResult> =>
  answering(input.path, call.signal, async () => {
    const { offset = 1, limit = MAX_LINES } = input;
    const target = await locate(input.path, call, desk);
    if (!target.stat) throw await fileNotFound(target, call);
    if (target.stat.isDirectory()) return { status: 'ok', content: await listing(target, offset, limit) };
    mustBeRegular(target.stat, target.shown);
    const { handle, stat } = await openRegular(target.path, target.shown);
    try {
      return await readFile(target, handle, stat, { offset, limit, call, desk });
    } finally {
      await handle.close();
    }
  });

interface Request {
  readonly offset: number;
  readonly limit: number;
  readonly call: ToolCall;
  readonly desk: Desk;
}

const readFile = async (target: Target, handle: FileHandle, stat: BigIntStats, request: Request): Promise<ToolResult> => {
  const { signal } = request.call;
  if (isImageName(target.path)) {
    const image = await picture(target, handle, stat, signal);
    if (image) return image;
  }
  if (BINARY_NAMES.has(extname(target.path).toLowerCase())) throw binary(target);
  // Anchors are hashes of lines of the whole, wherever the page begins.
  const most = request.desk.lines ? MAX_WHOLE : WHOLE;
  const sample = stat.size > most ? await readUpTo(handle, SAMPLE, signal) : undefined;
  if (sample && !isWide(sample)) return readLarge(target, handle, stat, sample, request);
  if (stat.size > MAX_WHOLE) throw new ToolError('INVALID_ARGUMENT', `${target.shown} is UTF-16 and larger than ${MAX_WHOLE} bytes, too large to be read.`);
  const text = await openText(target, stat, request, () => readUpTo(handle, sample ? MAX_WHOLE : most, signal, Number(stat.size)));
  if (!text) throw binary(target);
  request.desk.seen.note(target.path, stat, text.bytes);
  return pageResult(target, text.window, request, text.gutter);
};

interface OpenText {
  readonly bytes: Buffer;
  readonly window: Window;
  readonly gutter: Gutter;
}
const openText = async (target: Target, stat: BigIntStats, request: Request, load: () => Promise<Buffer>): Promise<OpenText | undefined> => {
  const { offset, limit, desk } = request;
  if (desk.lines) {
    const opened = await openLines(desk.lines, target.path, stat, async () => ({ bytes: await load(), stat }));
    return opened && { bytes: opened.bytes, window: windowOfTable(opened.table, offset, limit), gutter: (number) => opened.table.gutter(number) };
  }
  const bytes = await load();
  const file = await decodeFile(bytes);
  return file && { bytes, window: windowOf(file.encoding.outward(file.text), offset, limit), gutter: byNumber };
};

const readLarge = async (target: Target, handle: FileHandle, stat: BigIntStats, sample: Buffer, request: Request): Promise<ToolResult> => {
  if (isBinary(sample)) throw binary(target);
  request.desk.seen.note(target.path, stat);
  const start = markOf(sample)?.[1].length ?? 0;
  return pageResult(target, await windowOfFile(handle, { ...request, start }, request.call.signal), request);
};

const pageResult = (target: Target, window: Window, { offset, limit }: Pick<Request, 'offset' | 'limit'>, gutter = byNumber): ToolResult => {
  const { total = Infinity } = window;
  if (total === 0 && offset === 1) return { status: 'ok', content: `${target.shown} is empty.` };
  if (offset > total) throw new ToolError('INVALID_ARGUMENT', `offset ${offset} is past the end: ${target.shown} has ${lineCount(total)}.`);
  if (limit === 0) return { status: 'ok', content: `${target.shown} has ${lineCount(total)}; none were asked for.` };
  const { rows, lines, next, isCut } = numbered(window, offset, gutter);
  const notes: string[] = [];
  if (isCut) notes.push(`(Line ${offset} is longer than a page: only its beginning is shown.)`);
  if (next <= total) notes.push(`(Lines ${offset}-${next - 1}${total === Infinity ? '' : ` of ${total}`}. Go on with offset ${next}.)`);
  return { status: 'ok', content: [...rows, ...notes].join('\n'), view: { kind: 'code', path: target.shown, line: offset, text: lines.join('\n') } };
};

const isWide = (sample: Buffer): boolean => (markOf(sample)?.[0] ?? UTF8) !== UTF8;
const lineCount = (total: number): string => (total === Infinity ? 'many lines' : `${total} ${total === 1 ? 'line' : 'lines'}`);

const binary = (target: Target): ToolError => new ToolError('INVALID_ARGUMENT', `Cannot read binary file ${target.shown}.`);
