/** What files would be without the turns that are taken back. */
import type { Images } from './images.ts';
import { merge } from './merge.ts';
import type { Change } from './points.ts';
import { type FileState, hashOf, isSame, type Look, lookAt } from './state.ts';

/** One path. `now` is what has been looked at: when it is something else later, nothing is done. */
export type Move =
  | { readonly kind: 'same'; readonly path: string }
  /** `isMerged`: changes of others are in it and stay. */
  | { readonly kind: 'restore'; readonly path: string; readonly now: FileState; readonly to: Look; readonly isMerged: boolean }
  /** Only a person may say so; `to` is undefined where nothing can be put back. */
  | { readonly kind: 'conflict'; readonly path: string; readonly now: FileState; readonly to: Look | undefined; readonly why: string };

/** `changes` of one path, oldest first. */
export const unwind = async (path: string, changes: readonly Change[], images: Images): Promise<Move> => {
  const now = await lookAt(path);
  let at: Look = now;
  let isMerged = false;
  for (const change of changes.toReversed()) {
    const back = await takeBack(at, change, images);
    if (typeof back === 'string') return conflict(path, now, changes, back, images);
    isMerged ||= back.isMerged;
    at = back;
  }
  if (isSame(at.state, now.state)) return { kind: 'same', path };
  if (at.state.kind === 'other') return conflict(path, now, changes, `it was ${at.state.what} and was not kept`, images);
  return { kind: 'restore', path, now: now.state, to: at, isMerged };
};

const conflict = async (path: string, now: Look, changes: readonly Change[], why: string, images: Images): Promise<Move> => {
  const first = changes[0]?.before;
  const to = first && (await lookOf(first, images));
  return { kind: 'conflict', path, now: now.state, to, why };
};

/** Undefined where it was not kept. */
const lookOf = async (state: FileState, images: Images): Promise<Look | undefined> => {
  if (state.kind === 'other') return undefined;
  if (state.kind !== 'file') return { state };
  const bytes = await images.get(state.hash);
  return bytes && { state, bytes };
};

type Back = (Look & { readonly isMerged: boolean }) | string;

/** A text says why it cannot be done without a person. */
const takeBack = async (now: Look, { before, after }: Change, images: Images): Promise<Back> => {
  if (isSame(now.state, before)) return { ...now, isMerged: false };
  if (!after) return 'a command that had not ended may have changed it, or somebody else';
  for (const each of [before, after]) if (each.kind === 'other') return notKept(each);
  const wanted = await lookOf(before, images);
  if (!wanted) return 'its earlier content was not kept';
  return isSame(now.state, after) ? { ...wanted, isMerged: false } : mergeInto(now, after, wanted, images);
};

const mergeInto = async (now: Look, after: FileState, wanted: Look, images: Images): Promise<Back> => {
  const { state } = now;
  if (state.kind === 'absent') return 'it has been deleted since';
  if (state.kind !== 'file' || after.kind !== 'file') return 'something else is there now';
  if (wanted.state.kind !== 'file') return 'it has been changed since';
  const bytes = await mergedBytes(now, after.hash, wanted, images);
  if (!bytes) return 'it has been changed since, in the same lines';
  const mode = state.mode === after.mode ? wanted.state.mode : state.mode;
  return { state: { kind: 'file', hash: hashOf(bytes), mode, size: bytes.length }, bytes, isMerged: true };
};
const notKept = (state: Extract<FileState, { kind: 'other' }>): string => `it was ${state.what} and was not kept`;

const mergedBytes = async (now: Look, hash: string, wanted: Look, images: Images): Promise<Buffer | undefined> => {
  // Only its mode has changed since.
  if (now.state.kind === 'file' && now.state.hash === hash) return wanted.bytes;
  const base = await images.get(hash);
  return base && now.bytes && wanted.bytes && merge(base, now.bytes, wanted.bytes);
};
