import type { Input } from '../data.ts';
import type { TurnContext } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Session } from '../session/session.ts';
import { reminder } from '../session/view.ts';

export interface Next {
  readonly input: Input;
  /** How often a plugin's wish has continued the turn by now. */
  readonly continued: number;
}

/** The model has nothing left to do. What came in meanwhile, from a person or as a notice, comes first; then a plugin's wish to go on. */
export const settle = async (session: Session, turn: TurnContext, continued: number): Promise<Next | undefined> => {
  const steered = session.queue.takeSteered();
  if (steered) return { input: steered, continued };
  if (continued >= LIMITS.continuations) return undefined;
  const wish = (await session.hooks.bail('settle', { reason: 'answered' }, turn)) as { continue: string; by: string } | undefined;
  return wish && { input: { text: reminder(wish.continue), source: 'plugin', origin: wish.by }, continued: continued + 1 };
};
