/** Bounds on images. Providers refuse larger ones, and scale down by themselves what has more pixels than these. */
export const IMAGES = {
  /** Bytes of a file. */
  bytes: 5 * 1024 * 1024,
  /** Bytes up to which an image goes out as it is. */
  smallBytes: 300 * 1024,
  /** Longest side, in pixels, of an image that was scaled down. */
  side: 1568,
  /** Longest side, in pixels, that providers take at all. A request with a larger one fails, and so do all that follow it with the same history. */
  mostSide: 8000,
  /** Pixels up to which an image is decoded: each takes about 12 bytes of memory meanwhile. */
  pixels: 40_000_000,
  /** Bytes up to which a scaled image stays a PNG for the sake of its transparency. */
  pngBytes: 1024 * 1024,
  /** Of 100. */
  jpegQuality: 80,
  /** Milliseconds for one image; the largest takes about five seconds of a busy machine. */
  timeMs: 30_000,
  /** MiB of heap for the thread, which holds the code; pixels are outside of it. */
  heapMiB: 64,
} as const;
