/** What the header of an image says. */
export interface ImageHeader {
  /** Pixels as stored. */
  readonly width: number;
  readonly height: number;
  /** As cameras tag it: how the stored pixels are turned or mirrored, from 1 (as they are) to 8. From 5 on width and height change places. */
  readonly orientation: number;
}

/** Undefined for a header that ends early or makes no sense. */
export const headerOf = (bytes: Buffer, mediaType: string): ImageHeader | undefined => {
  try {
    const header = READERS[mediaType]?.(bytes);
    return header && header.width > 0 && header.height > 0 ? header : undefined;
  } catch (error) {
    // It ends before it says everything.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};

const png = (bytes: Buffer): ImageHeader => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), orientation: 1 });

const bmp = (bytes: Buffer): ImageHeader => {
  if (bytes.readUInt32LE(14) === 12) return { width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20), orientation: 1 };
  // A negative height says that the first row is the upper one.
  return { width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)), orientation: 1 };
};

const gif = (bytes: Buffer): ImageHeader => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), orientation: 1 });

const webp = (bytes: Buffer): ImageHeader | undefined => {
  const size = (width: number, height: number): ImageHeader => ({ width, height, orientation: 1 });
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8X') return size(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
  if (kind === 'VP8 ') return size(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
  if (kind !== 'VP8L') return undefined;
  const bits = bytes.readUInt32LE(21);
  return size((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
};

const jpeg = (bytes: Buffer): ImageHeader | undefined => {
  let orientation = 1;
  for (const { code, body } of segmentsOf(bytes)) {
    if (code === 0xe1 && body.subarray(0, 6).toString('latin1') === 'Exif\0\0') orientation = orientationIn(body.subarray(6));
    if (isFrame(code)) return { height: body.readUInt16BE(1), width: body.readUInt16BE(3), orientation };
  }
  return undefined;
};
const isFrame = (code: number): boolean => code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

const START_OF_SCAN = 0xda;

function* segmentsOf(bytes: Buffer): Generator<{ readonly code: number; readonly body: Buffer }> {
  for (let at = 2; bytes[at] === 0xff; ) {
    const code = bytes.readUInt8(at + 1);
    if (code === START_OF_SCAN) return;
    // Any number of fill bytes may stand before a marker.
    if (code === 0xff) {
      at += 1;
      continue;
    }
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    yield { code, body: bytes.subarray(at + 4, end) };
    at = end;
  }
}

const ORIENTATION = 0x0112;

const orientationIn = (tiff: Buffer): number => {
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number): number => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const table = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const entries = Array.from({ length: Math.min(short(table), 500) }, (_, index) => table + 2 + index * 12);
  const entry = entries.find((at) => short(at) === ORIENTATION);
  const value = entry === undefined ? 1 : short(entry + 8);
  return value >= 1 && value <= 8 ? value : 1;
};

const READERS: Readonly<Record<string, (bytes: Buffer) => ImageHeader | undefined>> = {
  'image/png': png,
  'image/jpeg': jpeg,
  'image/gif': gif,
  'image/webp': webp,
  'image/bmp': bmp,
};
