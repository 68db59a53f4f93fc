import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { type ToolCall, ToolError, type ToolInputs, type ToolResult } from '../../kernel/index.ts';
import { decodeFile, isBinary } from './encoding.ts';
import { isImageName, MAX_IMAGE, mediaTypeOf } from './image.ts';
import { listing } from './listing.ts';
import { fileNotFound } from './nearby.ts';
import { MAX_LINES, numbered, type Window, windowOf, windowOfFile } from './page.ts';
import { answering } from './answering.ts';
import { type Desk, locate, mustBeRegular, openRegular, readUpTo, type Target } from './target.ts';

/** Up to this size, in bytes, a file is read as a whole, so that its lines can be counted and later changes be told. */
const WHOLE = 8 * 1024 * 1024;

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
    const image = await asImage(target, handle, stat, signal);
    if (image) return image;
  }
  if (BINARY_NAMES.has(extname(target.path).toLowerCase())) throw binary(target);
  if (stat.size > WHOLE) return readLarge(target, handle, stat, request);
  const bytes = await readUpTo(handle, WHOLE, signal, Number(stat.size));
  const file = decodeFile(bytes);
  if (!file) throw binary(target);
  request.desk.seen.note(target.path, stat, bytes);
  return { status: 'ok', content: pageText(target, windowOf(file.encoding.outward(file.text), request.offset, request.limit), request) };
};

const readLarge = async (target: Target, handle: FileHandle, stat: BigIntStats, { offset, limit, call, desk }: Request): Promise<ToolResult> => {
  const sample = Buffer.alloc(4096);
  await handle.read(sample, 0, sample.length, 0);
  if (isBinary(sample)) throw binary(target);
  desk.seen.note(target.path, stat);
  return { status: 'ok', content: pageText(target, await windowOfFile(handle, offset, limit, call.signal), { offset, limit }) };
};

const pageText = (target: Target, window: Window, { offset, limit }: Pick<Request, 'offset' | 'limit'>): string => {
  const { total = Infinity } = window;
  if (total === 0 && offset === 1) return `${target.shown} is empty.`;
  if (offset > total) throw new ToolError('INVALID_ARGUMENT', `offset ${offset} is past the end: ${target.shown} has ${lineCount(total)}.`);
  if (limit === 0) return `${target.shown} has ${lineCount(total)}; none were asked for.`;
  const { rows, next, isCut } = numbered(window, offset);
  const notes: string[] = [];
  if (isCut) notes.push(`(Line ${offset} is longer than a page: only its beginning is shown.)`);
  if (next <= total) notes.push(`(Lines ${offset}-${next - 1}${total === Infinity ? '' : ` of ${total}`}. Go on with offset ${next}.)`);
  return [...rows, ...notes].join('\n');
};

const lineCount = (total: number): string => (total === Infinity ? 'many lines' : `${total} ${total === 1 ? 'line' : 'lines'}`);

const asImage = async (target: Target, handle: FileHandle, stat: BigIntStats, signal: AbortSignal): Promise<ToolResult | undefined> => {
  if (stat.size > MAX_IMAGE) throw new ToolError('INVALID_ARGUMENT', `${target.shown} has ${stat.size} bytes; images may have ${MAX_IMAGE}.`);
  const bytes = await readUpTo(handle, MAX_IMAGE, signal, Number(stat.size));
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === undefined) return undefined;
  return { status: 'ok', content: `Image ${target.shown} (${mediaType}, ${bytes.length} bytes)`, images: [{ mediaType, data: bytes.toString('base64') }] };
};

const binary = (target: Target): ToolError => new ToolError('INVALID_ARGUMENT', `Cannot read binary file ${target.shown}.`);
