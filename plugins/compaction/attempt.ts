import { type Compaction, isCastError, type SessionFace } from '../../kernel/index.ts';

/** A compaction that nobody asked for. An unlawful plan of some plugin has been told, and is no reason to end the turn. */
export const attempt = async (session: SessionFace, reason: Compaction['reason'], signal: AbortSignal): Promise<boolean> => {
  try {
    return await session.compact(reason, signal);
  } catch (error) {
    if (isCastError(error) && error.code === 'HISTORY_BAD_CUT') return false;
    throw error;
  }
};
