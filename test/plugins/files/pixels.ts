/** Images for tests, drawn pixel by pixel. */
import { createRequire } from 'node:module';
import { crc32, deflateSync } from 'node:zlib';
import type { PhotonImage as Decoded } from '@silvia-odwyer/photon-node';

const { PhotonImage } = createRequire(import.meta.url)('@silvia-odwyer/photon-node') as { PhotonImage: typeof Decoded };

export type Color = readonly [red: number, green: number, blue: number, alpha: number];
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly colorAt: (x: number, y: number) => Color;
}

export const raw = ({ width, height, colorAt }: Drawing): Buffer => {
  const bytes = Buffer.alloc(width * height * 4);
  for (let y = 0, at = 0; y < height; y++) for (let x = 0; x < width; x++, at += 4) bytes.set(colorAt(x, y), at);
  return bytes;
};

const chunk = (type: string, body: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  return Buffer.concat([word(body.length), named, word(crc32(named))]);
};
const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export const pngHead = (width: number, height: number): Buffer =>
  Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', Buffer.concat([word(width), word(height), Buffer.from([8, 6, 0, 0, 0])]))]);

export const png = (drawing: Drawing): Buffer => {
  const pixels = raw(drawing);
  const rows = Array.from({ length: drawing.height }, (_, y) => [Buffer.alloc(1), pixels.subarray(y * drawing.width * 4, (y + 1) * drawing.width * 4)]).flat();
  const data = deflateSync(Buffer.concat(rows), { level: 1 });
  return Buffer.concat([pngHead(drawing.width, drawing.height), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
};

/** With the tag that cameras write when they are held another way. */
export const jpeg = (drawing: Drawing, orientation?: number): Buffer => {
  const image = new PhotonImage(raw(drawing), drawing.width, drawing.height);
  const bytes = Buffer.from(image.get_bytes_jpeg(100));
  if (orientation === undefined) return bytes;
  const tag = Buffer.from([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
  const exif = Buffer.concat([Buffer.from('Exif\0\0MM\0*\0\0\0\x08\0\x01', 'latin1'), tag, Buffer.alloc(4)]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(exif.length + 2);
  return Buffer.concat([bytes.subarray(0, 2), Buffer.from([0xff, 0xe1]), length, exif, bytes.subarray(2)]);
};

export const bmp = ({ width, height, colorAt }: Drawing): Buffer => {
  const stride = Math.ceil((width * 3) / 4) * 4;
  const bytes = Buffer.alloc(54 + stride * height);
  bytes.write('BM');
  for (const [at, value] of [
    [2, bytes.length],
    [10, 54],
    [14, 40],
    [18, width],
    [22, height],
    [34, stride * height],
  ] as const)
    bytes.writeUInt32LE(value, at);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [red, green, blue] = colorAt(x, height - 1 - y);
      bytes.set([blue, green, red], 54 + y * stride + x * 3);
    }
  }
  return bytes;
};

export interface Opened extends Pick<Drawing, 'width' | 'height'> {
  readonly colorAt: (x: number, y: number) => Color;
}
export const opened = (data: string): Opened => {
  const image = PhotonImage.new_from_byteslice(Buffer.from(data, 'base64'));
  const [width, height, pixels] = [image.get_width(), image.get_height(), image.get_raw_pixels()];
  const part = (x: number, y: number, index: number): number => pixels[(y * width + x) * 4 + index] ?? Number.NaN;
  return { width, height, colorAt: (x, y) => [part(x, y, 0), part(x, y, 1), part(x, y, 2), part(x, y, 3)] };
};

/** The same numbers each time, below `below`. */
export const noise = (below: number): (() => number) => {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) % below;
  };
};
