import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { ImageHeader } from './image-header.ts';
import { IMAGES } from './limits.ts';

export interface Scaled {
  readonly data: Uint8Array;
  readonly mediaType: 'image/png' | 'image/jpeg';
  readonly width: number;
  readonly height: number;
  /** It had transparent parts, which are white now. */
  readonly isFlattened: boolean;
}

/** Scales an image down and turns it upright, in a thread of its own. Undefined when that fails or takes too long. */
export const scale = async (bytes: Uint8Array, header: ImageHeader, keepsPng: boolean, signal: AbortSignal): Promise<Scaled | undefined> => {
  signal.throwIfAborted();
  const { width, height, orientation } = header;
  const ratio = Math.min(1, IMAGES.side / Math.max(width, height));
  const size = { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) };
  const task = { bytes, ...size, orientation, keepsPng, pngBytes: IMAGES.pngBytes, jpegQuality: IMAGES.jpegQuality };
  return untilAborted(
    signal,
    inTurn(() => work(task, signal)),
  );
};

/** Calls may come side by side, and each image takes a core and hundreds of megabytes. */
let last: Promise<unknown> = Promise.resolve();
const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
  const mine = last.then(run);
  last = mine.catch(() => undefined);
  return mine;
};

const untilAborted = <T>(signal: AbortSignal, done: Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });

const work = async (task: object, signal: AbortSignal): Promise<Scaled | undefined> => {
  signal.throwIfAborted();
  const library = createRequire(import.meta.url).resolve('@silvia-odwyer/photon-node');
  const thread = new Worker(THREAD, {
    eval: true,
    name: 'image',
    workerData: { library, ...task },
    env: {},
    execArgv: [],
    // What the library has to say when it fails is not for the user's terminal.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: IMAGES.heapMiB },
  });
  const stop = (): void => void thread.terminate();
  const timer = setTimeout(stop, IMAGES.timeMs);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<Scaled | undefined>((resolve) => {
      const fail = (): void => resolve(undefined);
      thread.once('message', resolve).once('error', fail).once('exit', fail);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
};

/** Runs as CommonJS outside of the bundle. Turning is done here: the library's own leaves pixels out. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const { library, bytes, width, height, orientation, keepsPng, pngBytes, jpegQuality } = workerData;
const { PhotonImage, SamplingFilter, resize } = require(library);

const SOURCE = {
  2: (x, y, w) => y * w + w - 1 - x,
  3: (x, y, w, h) => (h - 1 - y) * w + w - 1 - x,
  4: (x, y, w, h) => (h - 1 - y) * w + x,
  5: (x, y, w) => x * w + y,
  6: (x, y, w, h) => (h - 1 - x) * w + y,
  7: (x, y, w, h) => (h - 1 - x) * w + w - 1 - y,
  8: (x, y, w) => x * w + w - 1 - y,
};
const pixelsOf = (image) => {
  const raw = image.get_raw_pixels();
  return new Uint32Array(raw.buffer, raw.byteOffset, raw.length / 4);
};
const imageOf = (pixels, width, height) => new PhotonImage(new Uint8Array(pixels.buffer), width, height);
const upright = (image) => {
  const from = SOURCE[orientation];
  if (!from) return image;
  const [w, h] = [image.get_width(), image.get_height()];
  const [across, down] = orientation < 5 ? [w, h] : [h, w];
  const pixels = pixelsOf(image);
  const turned = new Uint32Array(pixels.length);
  for (let y = 0, at = 0; y < down; y += 1) for (let x = 0; x < across; x += 1, at += 1) turned[at] = pixels[from(x, y, w, h)];
  return imageOf(turned, across, down);
};
const isSolid = (image) => image.get_raw_pixels().every((value, index) => index % 4 !== 3 || value === 255);
const onWhite = (image) => {
  const raw = image.get_raw_pixels();
  for (let at = 0; at < raw.length; at += 4) {
    const alpha = raw[at + 3] / 255;
    for (let part = at; part < at + 3; part += 1) raw[part] = raw[part] * alpha + 255 * (1 - alpha);
    raw[at + 3] = 255;
  }
  return new PhotonImage(raw, image.get_width(), image.get_height());
};

const whole = PhotonImage.new_from_byteslice(bytes);
const isSame = whole.get_width() === width && whole.get_height() === height;
const image = upright(isSame ? whole : resize(whole, width, height, SamplingFilter.Lanczos3));
const isSolidImage = isSolid(image);
const png = keepsPng || !isSolidImage ? image.get_bytes() : undefined;
const isPng = png !== undefined && png.length <= pngBytes;
const data = isPng ? png : (isSolidImage ? image : onWhite(image)).get_bytes_jpeg(jpegQuality);
parentPort.postMessage({
  data,
  mediaType: isPng ? 'image/png' : 'image/jpeg',
  width: image.get_width(),
  height: image.get_height(),
  isFlattened: !isPng && !isSolidImage,
});
`;
