/** `cast sessions show ID --format stream-json`: a stored session as the stream of records that its transcript would hold. */
import { CastError, isCastError, messageOf, RecordStream, sessionMeta, type SessionRecordLine, type Store } from '../../kernel/index.ts';
import { oneOf } from '../arguments.ts';
import { jsonLine } from '../run-formats.ts';

const KINDS: Readonly<Record<string, string>> = { SESSION_UNKNOWN: 'session_not_found', STORE_CORRUPT: 'corrupt', STORE_UNAVAILABLE: 'permission' };
/** Entries whose records are made at once. */
const PIECE = 500;

/** Reads only. What cannot be shown is a record as well, and then thrown. */
export const showStream = async (store: Store, id: string, print: (line: string) => Promise<void>): Promise<void> => {
  try {
    const record = await store.get(id);
    if (!record) throw new CastError('SESSION_UNKNOWN', `there is no session ${id}`, { fix: 'List them with `cast sessions list --all`.' });
    await print(jsonLine(sessionMeta(record)));
    const entries = await store.branch(id);
    const stream = new RecordStream(id);
    for (let at = 0; at < entries.length; ) {
      // A reply and the usage that is stored with it stay together.
      const end = entries.findIndex((entry, index) => index >= at + PIECE && entry.kind !== 'plugin');
      const next = end < 0 ? entries.length : end;
      for (const each of stream.push(entries.slice(at, next))) if (isShown(each)) await print(jsonLine(each));
      at = next;
    }
  } catch (error) {
    const failure = isCastError(error) ? error : new CastError('INTERNAL', messageOf(error), { cause: error });
    await print(jsonLine({ type: 'replay_error', session_id: id, kind: KINDS[failure.code] ?? 'internal', error: failure.message, exit_code: failure.exit }));
    throw failure;
  }
};

/** How full the window was is for who goes on, not for who reads. */
const isShown = ({ type }: SessionRecordLine): boolean => type !== 'turn_usage';

export const checkStreamFormat = (format: string): void => void oneOf('--format', format, ['stream-json'] as const);
