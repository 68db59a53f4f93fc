/** What the model asks in these tests. */
import type { EventMap, Question } from '../../../kernel/index.ts';
import type { Started } from '../../home.ts';

export const DATABASE = {
  question: 'Which database\nshall it be?',
  options: [
    { value: 'sqlite', label: 'SQLite', description: 'A file' },
    { value: 'pg', label: 'PostgreSQL' },
  ],
  recommended: 'sqlite',
};
export const PLATFORMS = {
  question: 'Which platforms?',
  options: [
    { value: 'linux', label: 'Linux' },
    { value: 'mac', label: 'macOS' },
  ],
  multi: true,
};

/** The one that is open; fails when there is none. */
export const openIn = async ({ client }: Pick<Started, 'client'>): Promise<Question> => {
  const { questions } = await client.snapshot();
  if (questions.length !== 1 || !questions[0]) throw new Error(`${questions.length} questions are open`);
  return questions[0];
};
/** Answers it, and waits for the end of the turn that the answer begins. */
export const answerIn = async (session: Started, values: readonly (string | readonly string[])[]): Promise<EventMap['turn.ended']> => {
  const { id } = await openIn(session);
  const ended = session.log.until('turn.ended');
  if (!(await session.client.answer(id, values))) throw new Error('the answer was not taken');
  return ended;
};
/** What the model was sent last, message by message. */
export const lastTexts = ({ requests }: Pick<Started, 'requests'>): readonly string[] =>
  (requests.at(-1)?.messages ?? [])
    .filter(({ reminder }) => reminder !== true)
    .map(({ role, blocks }) => `${role}: ${blocks.map((block) => (block.type === 'text' ? block.text : block.type)).join(' ')}`);
