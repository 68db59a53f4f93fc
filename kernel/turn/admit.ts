import type { Block, Input, NewEntry } from '../data.ts';
import { CastError } from '../errors.ts';
import type { Admission, TurnContext } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Session } from '../session/session.ts';
import { reminderBy } from '../session/view.ts';

/** Lets an input into the history. Answers with a text when a plugin took it over and there is nothing for the model to do. */
export const admit = async (session: Session, turn: TurnContext, input: Input, isFirst = false): Promise<string | undefined> => {
  if (Buffer.byteLength(input.text) > LIMITS.promptBytes)
    throw new CastError('INPUT_TOO_LARGE', `the prompt has more than ${LIMITS.promptBytes} bytes`, { fix: 'Write it to a file and name the file.' });
  const draft: Admission = { input, text: input.text, before: [] };
  const admission = await session.hooks.waterfall('input', draft, turn);
  const batch: NewEntry[] = isFirst ? [{ kind: 'turn', data: { turn: turn.turn, phase: 'start' } }] : [];
  for (const text of admission.before) batch.push(reminderBy('kernel', text));
  const images: readonly Block[] = (input.images ?? []).map((image) => ({ type: 'image', image }));
  // The first one is the prompt of its turn, whoever brought it.
  const isNote = !isFirst && input.source === 'plugin' && input.origin !== 'user';
  const blocks: readonly Block[] = [{ type: 'text', text: admission.text }, ...images];
  batch.push({ kind: 'message', data: { role: 'user', origin: input.origin, ...(isNote ? { reminder: true } : {}), blocks } });
  await session.append(batch);
  session.emit('input.accepted', { text: admission.text, origin: input.origin });
  if (admission.handled === undefined) return undefined;
  const reply = { role: 'assistant', origin: 'kernel', blocks: [{ type: 'text', text: admission.handled }] } as const;
  await session.append([{ kind: 'message', data: reply }]);
  session.emit('text.delta', { text: admission.handled });
  session.emit('reply.accepted', { message: reply, visible: admission.handled });
  return admission.handled;
};
