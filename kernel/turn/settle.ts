import type { Input } from '../data.ts';
import type { TurnContext } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Session } from '../session/session.ts';
import { reminder } from '../session/view.ts';

/** The model has nothing left to do. Text that a person steered in meanwhile comes first, then a plugin's wish to go on. */
export const settle = async (session: Session, turn: TurnContext, continued: number): Promise<Input | undefined> => {
  const steered = session.queue.takeSteered();
  if (steered) return steered;
  if (continued >= LIMITS.continuations) return undefined;
  const wish = (await session.hooks.bail('settle', { reason: 'answered' }, turn)) as { continue: string; by: string } | undefined;
  return wish && { text: reminder(wish.continue), source: 'plugin', origin: wish.by };
};
