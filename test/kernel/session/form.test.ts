import { describe, expect, test, vi } from 'vitest';
import { checkedBy, definePlugin, messageOf, type Answer, type FieldValues, type QuestionDraft, type QuestionField } from '../../../kernel/index.ts';
import { createTestSession, hang, say, type TestSessionOptions } from '../../../kernel/testkit/index.ts';

const FIELDS: readonly QuestionField[] = [
  {
    question: 'Which database?',
    options: [
      { value: 'sqlite', label: 'SQLite', description: 'A file' },
      { value: 'pg', label: 'PostgreSQL' },
    ],
    recommended: 'sqlite',
  },
  {
    question: 'Which platforms?',
    options: [
      { value: 'linux', label: 'Linux' },
      { value: 'mac', label: 'macOS' },
    ],
    multi: true,
    noFreeForm: true,
  },
];
const FORM: QuestionDraft = { kind: 'form', text: 'Two things', choices: [], fields: FIELDS, standing: true };

/** `/ask` puts a form and does not wait for it. */
const asker = (outcomes: (Answer | string)[], controller = new AbortController()) =>
  definePlugin({
    name: 'asker',
    apply({ registries, session }) {
      registries.commands.add({
        name: 'ask',
        summary: 'Asks.',
        whileRunning: true,
        run: () =>
          void session.ask(FORM, controller.signal).then(
            (answer) => outcomes.push(answer),
            (error: unknown) => outcomes.push(messageOf(error)),
          ),
      });
    },
  });
const open = async (options: TestSessionOptions = {}, controller?: AbortController) => {
  const outcomes: (Answer | string)[] = [];
  const { plugins = [], ...more } = options;
  const session = await createTestSession({ plugins: [asker(outcomes, controller), ...(plugins as [])], interactive: true, ...more });
  await session.client.command('ask', '');
  return { session, outcomes };
};
const VALUES: FieldValues = ['sqlite', ['linux']];

describe('a standing form', () => {
  test('is in the snapshot of an idle session, and takes its answer once from whoever is first', async () => {
    const { session, outcomes } = await open();
    await using _ = session;
    const { status, questions } = await session.client.snapshot();
    expect({ status, questions }).toMatchObject({ status: 'idle', questions: [{ kind: 'form', fields: FIELDS }] });
    // It has to go through a connection.
    expect(JSON.parse(JSON.stringify(questions))).toEqual(questions);
    const id = questions[0]?.id ?? '';
    expect(await session.client.answer(id, ['  MariaDB\n', ['mac', 'linux', 'mac']])).toBe(true);
    expect(await session.client.answer(id, VALUES)).toBe(false);
    const answered = { choice: 'answered', values: ['MariaDB', ['mac', 'linux']], by: 'user' };
    await vi.waitFor(() => expect(session.events('question.answered')).toMatchObject([{ id, ...answered }]));
    expect(outcomes).toEqual([answered]);
    expect((await session.client.snapshot()).questions).toEqual([]);
  });

  test.each<[string, unknown, RegExp]>([
    ['no list', 'sqlite', /2 values are asked for, and they have to be a list/],
    ['too few', ['sqlite'], /2 values are asked for, 1 came/],
    ['too many', ['sqlite', ['linux'], 'x'], /3 came/],
    ['a list where one is asked for', [['sqlite'], ['linux']], /question 1 \("Which database\?"\) takes one text/],
    ['a number', [1, ['linux']], /question 1 .* takes one text/],
    ['nothing', [' ', ['linux']], /question 1 .* has no answer/],
    ['a text where only options are taken', ['sqlite', ['linux', 'windows']], /question 2 \("Which platforms\?"\) takes one of linux, mac/],
    ['null in a list', ['sqlite', [null]], /question 2 .* takes one text/],
    ['more than a prompt may be', ['x'.repeat(1_000_001), []], /has 1000001 characters, 1000000 is the most/],
  ])('says what is wrong with %s and stays open', async (_, given, problem) => {
    const { session, outcomes } = await open();
    await using __ = session;
    const [question] = (await session.client.snapshot()).questions;
    const refused = session.client.answer(question?.id ?? '', given as FieldValues);
    await expect(refused).rejects.toMatchObject({ code: 'ANSWER_INVALID', message: expect.stringMatching(problem) as unknown });
    expect((await session.client.snapshot()).questions).toHaveLength(1);
    expect(outcomes).toEqual([]);
  });

  test('takes one option, or none, where several may be chosen', async () => {
    const { session, outcomes } = await open();
    await using _ = session;
    const answer = async (values: FieldValues) => session.client.answer((await session.client.snapshot()).questions[0]?.id ?? '', values);
    expect(await answer(['pg', 'mac'])).toBe(true);
    await session.client.command('ask', '');
    expect(await answer(['pg', []])).toBe(true);
    await vi.waitFor(() => expect(outcomes).toMatchObject([{ values: ['pg', ['mac']] }, { values: ['pg', []] }]));
  });

  test('does not make a running turn wait, nor is it withdrawn with it', async () => {
    const { session } = await open({ script: [hang()] });
    await using _ = session;
    const ended = session.run('go');
    await session.until('turn.started');
    expect((await session.client.snapshot()).status).toBe('running');
    await session.client.abort();
    expect((await ended).reason).toBe('aborted');
    expect(await session.client.snapshot()).toMatchObject({ status: 'idle', questions: [{ kind: 'form' }] });
  });

  test('is withdrawn by whoever asked', async () => {
    const controller = new AbortController();
    const { session, outcomes } = await open({}, controller);
    await using _ = session;
    const [question] = (await session.client.snapshot()).questions;
    controller.abort(new Error('no longer of interest'));
    await vi.waitFor(() => expect(session.events('question.withdrawn')).toEqual([{ id: question?.id }]));
    expect((await session.client.snapshot()).questions).toEqual([]);
    expect(await session.client.answer(question?.id ?? '', VALUES)).toBe(false);
    expect(outcomes).toEqual(['no longer of interest']);
  });

  test('is answered by a tap that fills it in, and not by one that fills it in wrongly', async () => {
    const answers: FieldValues[] = [VALUES, ['sqlite', ['beos']]];
    const filler = definePlugin({
      name: 'filler',
      apply: ({ hooks }) => hooks.ask.tap('fill in', () => ({ choice: 'answered', values: answers.shift() ?? [], by: 'filler' })),
    });
    const { session, outcomes } = await open({ plugins: [filler] });
    await using _ = session;
    await vi.waitFor(() => expect(outcomes).toEqual([{ choice: 'answered', values: VALUES, by: 'filler' }]));
    await session.client.command('ask', '');
    const { text } = await session.until('warning');
    expect(text).toMatch(/What filler answered is not used: question 2/);
    await vi.waitFor(async () => expect((await session.client.snapshot()).questions).toHaveLength(1));
  });

  test('is turned down where nobody can be asked', async () => {
    const { session, outcomes } = await open({ interactive: false });
    await using _ = session;
    expect((await session.client.snapshot()).questions).toEqual([]);
    await vi.waitFor(() => expect(outcomes).toEqual([{ choice: 'reject', by: 'nobody' }]));
  });
});

test('values are no answer to a question that is no form', async () => {
  const chooser = definePlugin({
    name: 'chooser',
    apply: ({ registries }) =>
      void registries.commands.add({ name: 'choose', summary: 'Asks.', run: (_, at) => at.ask({ text: 'sure?', choices: [{ value: 'yes', label: 'Yes' }] }) }),
  });
  await using session = await createTestSession({ plugins: [chooser], interactive: true });
  const chosen = session.client.command('choose', '');
  const { question } = await session.until('question.asked');
  await expect(session.client.answer(question.id, ['yes'])).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
  expect(await session.client.answer(question.id, 'yes')).toBe(true);
  expect(await chosen).toEqual({ ok: true, result: 'yes' });
});

test('a plugin learns that the branch is another one, its own state folded by then', async () => {
  const seen: unknown[] = [];
  const counter = definePlugin({
    name: 'counter',
    apply({ state, hooks, events }) {
      const turns = state({
        name: 'turns',
        data: checkedBy<{ turn: number }>('a turn', ({ turn }) => typeof turn === 'number'),
        initial: 0,
        fold: (_, { turn }) => turn,
      });
      hooks.prepare.tap('count', ({ turn }) => turns.record({ turn }));
      events.on('branch.changed', ({ head }) => seen.push([head, turns.value]));
    },
  });
  await using session = await createTestSession({ plugins: [counter], script: [say('1'), say('2')] });
  await session.run('one');
  await session.run('two');
  await session.client.rewind({ turn: 2 });
  const head = (await session.entries()).at(-1)?.id;
  await session.client.rewind({ turn: 1 });
  expect(seen).toEqual([
    [head, 1],
    [null, 0],
  ]);
});
