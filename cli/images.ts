/** Images that are given on the command line. */
import { resolve } from 'node:path';
import { CastError, messageOf, type Image } from '../kernel/index.ts';
import { readNamedFile } from './named-file.ts';

/** What providers take at most, with room for base64. */
const MAX_BYTES = 15 * 1_048_576;

const SIGNATURES: readonly (readonly [mediaType: string, test: (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ['image/gif', (bytes) => bytes.subarray(0, 4).toString('latin1') === 'GIF8'],
  ['image/webp', (bytes) => bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP'],
];

/** Throws CLI_USAGE; the kind of an image is what its first bytes say. */
export const readImage = async (file: string, cwd: string): Promise<Image> => {
  const path = resolve(cwd, file);
  let bytes: Buffer;
  try {
    bytes = await readNamedFile(path, MAX_BYTES);
  } catch (error) {
    throw refused(file, `cannot be read: ${messageOf(error)}`, 'Name an image file, and a smaller one if it is too large.');
  }
  const mediaType = SIGNATURES.find(([, test]) => test(bytes))?.[0];
  if (mediaType === undefined) throw refused(file, 'is no PNG, JPEG, GIF or WebP image', 'Convert it first.');
  return { mediaType, data: bytes.toString('base64') };
};

const refused = (file: string, what: string, fix: string): CastError => new CastError('CLI_USAGE', `--image ${file} ${what}`, { fix });
