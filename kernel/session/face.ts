import type { SessionFace } from '../hooks/subjects.ts';
import { mask } from './mask.ts';
import type { Session } from './session.ts';

/** What taps see of a session: enough to read it and to ask for the few changes that taps may ask for. */
export const createFace = (session: Session): SessionFace => ({
  id: session.id,
  root: session.root,
  interactive: session.interactive,
  ...(session.parent === undefined ? {} : { parent: session.parent }),
  ...(session.opener === undefined ? {} : { origin: session.opener.origin }),
  get cwd() {
    return session.cwd;
  },
  get model() {
    return session.model;
  },
  get provider() {
    return session.activeProvider()?.name ?? null;
  },
  get window() {
    return session.limits.contextWindow;
  },
  get maxSteps() {
    return session.limits.steps;
  },
  view: () => session.view(),
  tail: (count) => session.history.entries.slice(-count),
  read: async (query) => session.store.read(session.id, query),
  compact: async (reason, signal, instructions) => (await import('./compaction.ts')).compact(session, reason, signal, instructions),
  compactable: async () => (await import('./compaction.ts')).compactable(session),
  mask: (entry, note, only) => mask(session, entry, note, only),
  moveTo: (cwd) => session.workspace.ask(cwd),
  ask: (question, signal) => session.broker.ask(question, { session: session.face, turn: session.turn, signal }),
});
