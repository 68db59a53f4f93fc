/** A new session that begins with what another one says to its model now, and with the states of its plugins. The other one is only read. */
import type { SessionRecord, Store } from '../contracts/store.ts';
import type { Entry } from '../data.ts';
import type { Clock, Ids } from '../plugin.ts';
import { type Branch, cutIn, keptFrom, loadBranch } from './branch.ts';
import { placeIn } from './resume.ts';
import { inContext } from './view.ts';

const SUFFIX = ' (fork)';

/**
 * What was cut away stays with the other session, and what plugins recorded comes along: a state that is of one session alone says of
 * which. Ids of entries are those of the original, as they are unique within a session.
 */
export const forkSession = async (
  store: Store,
  source: SessionRecord,
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
): Promise<SessionRecord> => {
  const branch = await loadBranch(store, source.id, undefined);
  const entries = chained(await contentOf(store, source.id, branch));
  const id = ids.next('session');
  const title = source.title === '' ? '' : `${source.title}${SUFFIX}`;
  const { root, model, provider } = source;
  await store.create({ id, cwd: placeIn(source, branch), root, title, model, provider, parent: null, kind: 'conversation', createdAt: clock.now() });
  if (entries.length > 0) {
    const shown = inContext({ entries });
    const lease = await store.claim(id);
    try {
      await store.append(id, entries, { epoch: lease.epoch, leave: entries.filter((entry) => !shown.has(entry.id)).map((entry) => entry.id) });
    } finally {
      await lease.release();
    }
  }
  return (await store.get(id)) ?? source;
};

const contentOf = async (store: Store, source: string, { entries, carried, isWhole }: Branch): Promise<readonly Entry[]> => {
  const from = keptFrom(entries);
  const first = entries[from]?.seq ?? 0;
  const records = isWhole ? entries : await store.branch(source, { kinds: ['plugin'] });
  const prompt = carried ?? entries.slice(0, from).find((entry) => entry.id === cutIn(entries)?.data.prompt);
  return [
    ...records.filter((entry) => entry.kind === 'plugin' && entry.seq < first),
    ...(prompt ? [prompt] : []),
    // Its place is that of the new record, and what a snapshot says is said by the records.
    ...entries.slice(from).filter((entry) => entry.kind !== 'snapshot' && entry.kind !== 'workspace'),
  ];
};

const chained = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map((entry, index) => ({ ...entry, parent: entries[index - 1]?.id ?? null, seq: index + 1 }));
