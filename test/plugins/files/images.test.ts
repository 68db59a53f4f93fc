import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ToolResult } from '../../../kernel/index.ts';
import { type Desk, openDesk } from './desk.ts';
import { bmp, type Color, type Drawing, jpeg, noise, opened, png, pngHead } from './pixels.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

const QUARTERS: readonly Color[] = [
  [230, 20, 20, 255],
  [20, 230, 20, 255],
  [20, 20, 230, 255],
  [230, 230, 20, 255],
];
/** Four quarters, each of one colour with so much noise that the file is large. */
const quarters = (width: number, height: number, alpha = 255): Drawing => {
  const random = noise(24);
  return {
    width,
    height,
    colorAt: (x, y) => {
      const [red, green, blue] = QUARTERS[(x < width / 2 ? 0 : 1) + (y < height / 2 ? 0 : 2)] ?? [0, 0, 0];
      return [red + random(), green + random(), blue + random(), y < height / 2 ? alpha : 255];
    },
  };
};
const firstImage = ({ images }: ToolResult): { readonly mediaType: string; readonly data: string } => images?.[0] ?? { mediaType: '', data: '' };
/** Which of the four colours each quarter has, row by row. */
const quartersOf = (data: string): readonly number[] => {
  const image = opened(data);
  return [
    [0.25, 0.25],
    [0.75, 0.25],
    [0.25, 0.75],
    [0.75, 0.75],
  ].map(([across = 0, down = 0]) => {
    const found = image.colorAt(Math.floor(image.width * across), Math.floor(image.height * down));
    const distances = QUARTERS.map((color) => Math.hypot(...[0, 1, 2].map((part) => (color[part] ?? 0) - (found[part] ?? 0))));
    return distances.indexOf(Math.min(...distances));
  });
};

test('a small image goes beside the text as it is, its type taken from its content', async () => {
  const bytes = png({ width: 3, height: 2, colorAt: () => [1, 2, 3, 4] });
  desk.put('a.jpg', bytes);
  const content = `Image a.jpg (image/png, ${bytes.length} bytes)`;
  expect(await desk.run('read', { path: 'a.jpg' })).toEqual({
    status: 'ok',
    content,
    images: [{ mediaType: 'image/png', data: bytes.toString('base64') }],
    view: { kind: 'text', text: content },
  });
});

test('over 5 MiB it is refused, and a text with the name of an image is a text', async () => {
  desk.put('big.png', Buffer.concat([pngHead(10, 10), Buffer.alloc(5 * 1024 * 1024)]));
  desk.put('text.gif', 'not a picture');
  expect(await desk.run('read', { path: 'big.png' })).toMatchObject({ status: 'error', content: expect.stringMatching(/5242880/) });
  expect((await desk.run('read', { path: 'text.gif' })).content).toBe('1: not a picture');
});

test.each([
  ['PNG', 'a.png', png(quarters(2000, 500))],
  ['JPEG', 'a.jpeg', jpeg(quarters(2000, 500))],
])('a large %s is scaled down to a JPEG, and the text says so', async (_name, file, bytes) => {
  expect(bytes.length).toBeGreaterThan(300 * 1024);
  desk.put(file, bytes);
  const result = await desk.run('read', { path: file });
  const { mediaType, data } = firstImage(result);
  const size = Buffer.from(data, 'base64').length;
  expect(result.content).toBe(`Image ${file} (image/jpeg, ${size} bytes; scaled down from 2000x500 to 1568x392)`);
  expect([mediaType, opened(data).width, opened(data).height]).toEqual(['image/jpeg', 1568, 392]);
  expect(quartersOf(data)).toEqual([0, 1, 2, 3]);
  expect(size).toBeLessThan(bytes.length / 2);
});

describe('what the camera says about how it was held', () => {
  const drawing = quarters(1700, 300);
  // As the quarters of the stored image come to lie: by the definition of the tag.
  test.each([
    [1, [0, 1, 2, 3]],
    [2, [1, 0, 3, 2]],
    [3, [3, 2, 1, 0]],
    [4, [2, 3, 0, 1]],
    [5, [0, 2, 1, 3]],
    [6, [2, 0, 3, 1]],
    [7, [3, 1, 2, 0]],
    [8, [1, 3, 0, 2]],
  ])('%i is heeded', async (orientation, expected) => {
    desk.put('a.jpg', jpeg(drawing, orientation));
    const { data } = firstImage(await desk.run('read', { path: 'a.jpg' }));
    expect(quartersOf(data)).toEqual(expected);
    expect([opened(data).width, opened(data).height]).toEqual(orientation < 5 ? [1568, 277] : [277, 1568]);
  });
});

test.each([
  ['of few bytes', png({ width: 4000, height: 40, colorAt: () => [9, 9, 9, 255] })],
  ['of few pixels', png(quarters(1000, 400))],
])('a PNG %s stays as it is', async (_name, bytes) => {
  desk.put('a.png', bytes);
  expect(firstImage(await desk.run('read', { path: 'a.png' })).data).toBe(bytes.toString('base64'));
});

test('transparency is kept where the PNG is small enough', async () => {
  desk.put('a.png', png(quarters(1700, 150, 0)));
  const result = await desk.run('read', { path: 'a.png' });
  const { mediaType, data } = firstImage(result);
  expect(mediaType).toBe('image/png');
  expect(result.content).toMatch(/scaled down from 1700x150 to 1568x138\)$/);
  expect([opened(data).colorAt(100, 10)[3], opened(data).colorAt(100, 130)[3]]).toEqual([0, 255]);
});

test('transparency becomes white where the PNG is too large, and the text says so', async () => {
  desk.put('a.png', png(quarters(1700, 700, 0)));
  const result = await desk.run('read', { path: 'a.png' });
  const { mediaType, data } = firstImage(result);
  expect(mediaType).toBe('image/jpeg');
  expect(result.content).toContain('scaled down from 1700x700 to 1568x646, its transparent parts now white');
  expect(opened(data).colorAt(100, 100)).toEqual([255, 255, 255, 255]);
});

test('what cannot be decoded goes out as it is', async () => {
  const bytes = png(quarters(2000, 500)).subarray(0, 400_000);
  desk.put('a.png', bytes);
  const result = await desk.run('read', { path: 'a.png' });
  expect(result.content).toBe('Image a.png (image/png, 400000 bytes; could not be scaled down)');
  expect(firstImage(result).data).toBe(bytes.toString('base64'));
});

test('a BMP, which no provider takes, becomes a PNG', async () => {
  const drawing: Drawing = { width: 5, height: 3, colorAt: (x, y) => [x * 50, y * 80, 7, 255] };
  desk.put('a.bmp', bmp(drawing));
  const result = await desk.run('read', { path: 'a.bmp' });
  const { mediaType, data } = firstImage(result);
  expect(mediaType).toBe('image/png');
  expect(result.content).toContain('converted from BMP of 5x3, now 5x3');
  for (let y = 0; y < 3; y++) for (let x = 0; x < 5; x++) expect(opened(data).colorAt(x, y)).toEqual(drawing.colorAt(x, y));
});
test('a large BMP becomes a JPEG of fewer pixels', async () => {
  desk.put('a.bmp', bmp(quarters(2000, 800)));
  const { mediaType, data } = firstImage(await desk.run('read', { path: 'a.bmp' }));
  expect([mediaType, opened(data).width, opened(data).height]).toEqual(['image/jpeg', 1568, 627]);
  expect(quartersOf(data)).toEqual([0, 1, 2, 3]);
});
test('a BMP that is broken is refused', async () => {
  desk.put('a.bmp', bmp(quarters(20, 20)).subarray(0, 200));
  expect(await desk.run('read', { path: 'a.bmp' })).toMatchObject({ status: 'error', content: expect.stringContaining('could not be converted') });
});

test('few bytes that would become very many pixels are refused before they do', async () => {
  desk.put('bomb.png', Buffer.concat([pngHead(100_000, 100_000), Buffer.alloc(400_000)]));
  expect(await desk.run('read', { path: 'bomb.png' })).toMatchObject({ status: 'error', content: expect.stringContaining('100000x100000 pixels') });
});

/** The head of an image of a type that is not drawn here. */
const heads: Readonly<Record<string, (width: number, height: number) => Buffer>> = {
  gif: (width, height) => {
    const bytes = Buffer.from('GIF89a\0\0\0\0\0\0\0;', 'latin1');
    bytes.writeUInt16LE(width, 6);
    bytes.writeUInt16LE(height, 8);
    return bytes;
  },
  'VP8X.webp': (width, height) => {
    const bytes = Buffer.from(`RIFF\0\0\0\0WEBPVP8X${'\0'.repeat(24)}`, 'latin1');
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
    return bytes;
  },
  'VP8.webp': (width, height) => {
    const bytes = Buffer.from(`RIFF\0\0\0\0WEBPVP8 ${'\0'.repeat(24)}`, 'latin1');
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
    return bytes;
  },
  'VP8L.webp': (width, height) => {
    const bytes = Buffer.from(`RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f${'\0'.repeat(20)}`, 'latin1');
    bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
    return bytes;
  },
};
test.each(Object.keys(heads))('%s: a side that no provider takes is refused, a smaller one goes out as it is', async (kind) => {
  const head = heads[kind] ?? (() => Buffer.alloc(0));
  desk.put(`long.${kind}`, head(8001, 3));
  desk.put(`short.${kind}`, head(8000, 3));
  expect(await desk.run('read', { path: `long.${kind}` })).toMatchObject({
    status: 'error',
    content: expect.stringContaining('8001x3 pixels, more than models take'),
  });
  expect(firstImage(await desk.run('read', { path: `short.${kind}` })).data).toBe(head(8000, 3).toString('base64'));
});

test('an image of few bytes with a side that no provider takes is scaled down', async () => {
  desk.put('long.png', png({ width: 9000, height: 20, colorAt: () => [9, 9, 9, 255] }));
  const result = await desk.run('read', { path: 'long.png' });
  expect(result.content).toContain('scaled down from 9000x20 to 1568x3');
  expect(opened(firstImage(result).data).width).toBe(1568);
});

test('no request is spoiled by an image whose header makes no sense', async () => {
  for (const [name, bytes] of Object.entries({
    'a.png': pngHead(0, 5),
    'b.png': pngHead(5, 5).subarray(0, 20),
    'c.gif': Buffer.from('GIF89a'),
    'd.jpg': Buffer.from('ffd8ffe0', 'hex'),
  })) {
    desk.put(name, bytes);
    expect(await desk.run('read', { path: name })).toMatchObject({ status: 'error', content: expect.stringContaining('is no whole image') });
  }
});

test('a header that ends early does no harm', async () => {
  const whole = jpeg(quarters(40, 30), 6);
  for (const [name, bytes] of Object.entries({ 'a.jpg': whole, 'b.png': png(quarters(40, 30)), 'c.gif': Buffer.from('GIF89a') })) {
    for (let length = 3; length < Math.min(bytes.length, 80); length++) {
      desk.put(name, bytes.subarray(0, length));
      const { status } = await desk.run('read', { path: name });
      expect(['ok', 'error']).toContain(status);
    }
  }
});

describe('while an image is scaled', () => {
  // Seconds of work: thirty-six million pixels, of which a few rows are noise for the sake of the size.
  const random = noise(256);
  const huge = png({ width: 6000, height: 6000, colorAt: (x, y) => (y < 40 ? [random(), random(), random(), 255] : [x & 255, 0, 0, 255]) });

  test('an abort ends it at once', async () => {
    desk.put('a.png', huge);
    const stop = new AbortController();
    const reading = desk.run('read', { path: 'a.png' }, { signal: stop.signal });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const abortedAt = performance.now();
    stop.abort();
    expect(await reading).toMatchObject({ status: 'aborted' });
    expect(performance.now() - abortedAt).toBeLessThan(1000);
  });

  test.runIf(process.platform === 'linux')('an abort ends the thread as well', async () => {
    desk.put('small.png', png(quarters(2000, 500)));
    desk.put('a.png', huge);
    await desk.run('read', { path: 'small.png' });
    const threads = (): number => readdirSync('/proc/self/task').length;
    const before = threads();
    const stop = new AbortController();
    const reading = desk.run('read', { path: 'a.png' }, { signal: stop.signal });
    while (threads() <= before) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort();
    await reading;
    const abortedAt = performance.now();
    while (threads() > before) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(performance.now() - abortedAt).toBeLessThan(2000);
  });

  test('the process goes on with other things', async () => {
    desk.put('a.png', huge);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const result = await desk.run('read', { path: 'a.png' });
    clearInterval(timer);
    expect(result.content).toContain('scaled down from 6000x6000 to 1568x1568');
    expect(ticks).toBeGreaterThan(20);
  }, 60_000);

  test('one more waits for its turn, and can be given up meanwhile', async () => {
    desk.put('a.png', huge);
    const [first, second] = [new AbortController(), new AbortController()];
    const readings = [first, second].map(({ signal }) => desk.run('read', { path: 'a.png' }, { signal }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    second.abort();
    expect(await readings[1]).toMatchObject({ status: 'aborted' });
    first.abort();
    expect(await readings[0]).toMatchObject({ status: 'aborted' });
  });
});
