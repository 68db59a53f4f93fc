import { extname } from 'node:path';

const EXTENSIONS = new Set(['.png', '.jpg', '.jpeg', '.gif', '.webp', '.bmp']);
export const isImageName = (path: string): boolean => EXTENSIONS.has(extname(path).toLowerCase());

/** The media type by content, since names lie and providers check; undefined for what is no image. */
export const mediaTypeOf = (bytes: Buffer): string | undefined => {
  const starts = (text: string, at = 0): boolean => bytes.subarray(at, at + text.length).toString('latin1') === text;
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  return starts('BM') ? 'image/bmp' : undefined;
};
