import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ToolError, type ToolResult } from '../../kernel/index.ts';
import { mediaTypeOf } from './image.ts';
import { headerOf, type ImageHeader } from './image-header.ts';
import { IMAGES } from './limits.ts';
import { scale, type Scaled } from './scale.ts';
import { readUpTo, type Target } from './target.ts';

/** An image as the model gets it; undefined for a file that only has the name of one. */
export const picture = async (target: Target, handle: FileHandle, stat: BigIntStats, signal: AbortSignal): Promise<ToolResult | undefined> => {
  if (stat.size > IMAGES.bytes) throw new ToolError('INVALID_ARGUMENT', `${target.shown} has ${stat.size} bytes; images may have ${IMAGES.bytes}.`);
  const bytes = await readUpTo(handle, IMAGES.bytes, signal, Number(stat.size));
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === undefined) return undefined;
  const header = headerOf(bytes, mediaType);
  if (!header) {
    throw new ToolError('INVALID_ARGUMENT', `${target.shown} begins like ${mediaType}, but is no whole image: its header ends early or makes no sense.`);
  }
  if (header.width * header.height > IMAGES.pixels) {
    throw new ToolError('INVALID_ARGUMENT', `${target.shown} has ${sizeText(header)} pixels; images may have ${IMAGES.pixels}.`, {
      fix: 'Scale it down first.',
    });
  }
  // No provider takes it.
  if (mediaType === 'image/bmp') return converted(target, bytes, header, signal);
  const side = Math.max(header.width, header.height);
  const isLarge = side > IMAGES.mostSide || (CAN_SCALE.has(mediaType) && bytes.length > IMAGES.smallBytes && side > IMAGES.side);
  return isLarge ? smaller(target, { data: bytes, mediaType }, header, signal) : shown(target, { data: bytes, mediaType });
};

/** Types of one picture. Others may move, and would lose that. */
const CAN_SCALE: ReadonlySet<string> = new Set(['image/png', 'image/jpeg']);

const smaller = async (target: Target, whole: Shown, header: ImageHeader, signal: AbortSignal): Promise<ToolResult> => {
  const scaled = await scale(whole.data, header, false, signal);
  const isTooLarge = Math.max(header.width, header.height) > IMAGES.mostSide;
  if (!scaled && isTooLarge) {
    const why = `${target.shown} has ${sizeText(header)} pixels, more than models take in a side (${IMAGES.mostSide}), and could not be scaled down.`;
    throw new ToolError('INVALID_ARGUMENT', why, { fix: 'Scale it down first.' });
  }
  if (!scaled) return shown(target, whole, 'could not be scaled down');
  // Some drawings take fewer bytes as they are.
  if (!isTooLarge && scaled.data.length >= whole.data.length) return shown(target, whole);
  return shown(target, scaled, `scaled down from ${sizeText(header)} to ${sizeText(scaled)}${flattened(scaled)}`);
};

const converted = async (target: Target, bytes: Buffer, header: ImageHeader, signal: AbortSignal): Promise<ToolResult> => {
  const scaled = await scale(bytes, header, true, signal);
  if (scaled) return shown(target, scaled, `converted from BMP of ${sizeText(header)}, now ${sizeText(scaled)}${flattened(scaled)}`);
  throw new ToolError('INVALID_ARGUMENT', `${target.shown} is a BMP image, which models do not take, and it could not be converted.`, {
    fix: 'Convert it to PNG.',
  });
};

const sizeText = ({ width, height }: Pick<ImageHeader, 'width' | 'height'>): string => `${width}x${height}`;
const flattened = ({ isFlattened }: Scaled): string => (isFlattened ? ', its transparent parts now white' : '');

type Shown = { readonly data: Uint8Array; readonly mediaType: string };
const shown = (target: Target, { data, mediaType }: Shown, note?: string): ToolResult => {
  const content = `Image ${target.shown} (${mediaType}, ${data.length} bytes${note === undefined ? '' : `; ${note}`})`;
  return { status: 'ok', content, images: [{ mediaType, data: Buffer.from(data).toString('base64') }], view: { kind: 'text', text: content } };
};
