import type { Entry, SessionFace } from '../../kernel/index.ts';

const PAGE = 500;

/** The branch from its newest entry back to the one that is enough, oldest first; a session holds only the newest part of it. */
export const branchOf = async (session: Pick<SessionFace, 'tail' | 'read'>, isEnough: (entry: Entry) => boolean): Promise<readonly Entry[]> => {
  const branch: Entry[] = [];
  let wanted: string | null = session.tail(1)[0]?.id ?? null;
  for (let before: number | undefined; wanted !== null; ) {
    const page = await session.read({ limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const entry of page) {
      if (entry.id !== wanted) continue;
      branch.push(entry);
      wanted = isEnough(entry) ? null : entry.parent;
    }
    before = page.at(-1)?.seq;
    if (before === undefined) break;
  }
  return branch.reverse();
};
