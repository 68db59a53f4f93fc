/** The images of a conversation: how many bytes of a request they are, and messages without them. */
import type { Message, ViewMessage } from '../../kernel/index.ts';

/** The images of one message. */
export interface Held {
  /** Id of its entry. */
  readonly entry: string;
  readonly images: number;
  /** As they are sent: base64. */
  readonly bytes: number;
}

export const hasImages = ({ blocks }: Message): boolean => blocks.some((block) => block.type === 'image');

/** By message, oldest first. */
export const heldIn = (view: readonly ViewMessage[]): readonly Held[] =>
  view.filter(hasImages).map(({ entry, blocks }) => {
    const sizes = blocks.flatMap((block) => (block.type === 'image' ? [block.image.data.length] : []));
    return { entry, images: sizes.length, bytes: sum(sizes) };
  });

export const imagesOf = (held: readonly Held[]): number => sum(held.map(({ images }) => images));
export const bytesOf = (held: readonly Held[]): number => sum(held.map(({ bytes }) => bytes));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** UTF-8 bytes of everything else in these messages, roughly. */
export const otherBytesIn = (view: readonly Message[]): number =>
  sum(view.flatMap(({ blocks }) => blocks.map((block) => (block.type === 'image' ? 0 : Buffer.byteLength(JSON.stringify(block))))));

/** The oldest messages that hold at least half of the bytes of all images. */
export const olderHalf = (held: readonly Held[]): readonly Held[] => {
  const wanted = bytesOf(held) / 2;
  const half: Held[] = [];
  for (const each of held) {
    if (bytesOf(half) >= wanted) break;
    half.push(each);
  }
  return half;
};
