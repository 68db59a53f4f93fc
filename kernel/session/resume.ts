/** Which session is gone on with, and where. */
import type { SessionWish } from '../contracts/kernel.ts';
import type { SessionRecord, Store } from '../contracts/store.ts';
import { CastError } from '../errors.ts';
import { type Branch, foldedIn, loadBranch } from './branch.ts';

/** Throws SESSION_UNKNOWN when there is none. */
export const findSession = async (store: Store, wish: SessionWish, root: string): Promise<SessionRecord> => {
  if ('id' in wish) {
    const named = await store.get(wish.id);
    if (named) return named;
    throw new CastError('SESSION_UNKNOWN', `there is no session ${wish.id}`, { fix: 'List them with `cast sessions list`.' });
  }
  const [newest] = await store.list({ root, kind: 'conversation', limit: 1 });
  if (newest) return newest;
  throw new CastError('SESSION_UNKNOWN', `there is no session to continue in ${root}`, { fix: 'Start one by leaving -c out, or name one with -s.' });
};

/** Where a session works: where it was opened, unless it moved since. */
export const placeOf = async (store: Store, record: SessionRecord): Promise<string> => placeIn(record, await loadBranch(store, record.id, undefined));

export const placeIn = (record: SessionRecord, { entries }: Branch): string => {
  const { folded, since } = foldedIn(entries);
  const moved = since.findLast((entry) => entry.kind === 'workspace');
  return moved?.kind === 'workspace' ? moved.data.cwd : (folded?.cwd ?? record.cwd);
};
