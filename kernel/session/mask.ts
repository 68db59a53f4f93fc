import type { NewEntry } from '../data.ts';
import { CastError } from '../errors.ts';
import type { Session } from './session.ts';

/** Takes content out of the view. Throws HISTORY_BAD_MOVE when there is no such message on this branch. */
export const mask = async (session: Session, entry: string, note: string, only?: 'images'): Promise<void> => {
  const masked = session.history.entries.find(({ id }) => id === entry);
  if (masked?.kind !== 'message')
    throw new CastError('HISTORY_BAD_MOVE', `there is no message ${entry} to mask`, { fix: 'Take an `entry` of `session.view()`.' });
  const batch: readonly NewEntry[] = [{ kind: 'mask', data: { entry, note, ...(only === undefined ? {} : { only }) } }];
  await session.append(batch);
};
