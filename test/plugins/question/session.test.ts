import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { definePlugin, type Plugin } from '../../../kernel/index.ts';
import { type Beat, say, use } from '../../../kernel/testkit/index.ts';
import { type Home, makeHome } from '../../home.ts';
import { answerIn, DATABASE, lastTexts, openIn, PLATFORMS } from './form.ts';

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const ask = (...questions: readonly object[]): Beat => use('question', { questions });
const asked = [ask(DATABASE, PLATFORMS), say('so be it'), say('more')];

describe('a question of the model', () => {
  test('ends the turn, leaves the session idle, and its answer is the next prompt', async () => {
    const session = await home.start(asked);
    expect(await session.run('set it up')).toMatchObject({ reason: 'stop', exitCode: 0, steps: 1 });
    const question = await openIn(session);
    expect(await session.client.snapshot()).toMatchObject({ status: 'idle' });
    expect(question).toMatchObject({ kind: 'question', fields: [{ ...DATABASE, question: DATABASE.question }, PLATFORMS] });
    expect(session.log.of('tool.ended')).toMatchObject([{ tool: 'question', status: 'ok' }]);

    const ended = session.log.until('turn.ended');
    // Of all who answer the first one counts.
    const answers = [session.client.answer(question.id, ['pg', ['mac', 'BeOS']]), session.client.answer(question.id, ['sqlite', []])];
    expect(await Promise.all(answers)).toEqual([true, false]);
    expect(await ended).toMatchObject({ turn: 2, reason: 'stop' });
    expect(lastTexts(session)).toEqual([
      'user: set it up',
      'assistant: call',
      'tool: result',
      'user: Question: Which database shall it be? Answer: PostgreSQL\nQuestion: Which platforms? Answer: macOS, BeOS',
    ]);
    expect(session.log.of('input.accepted').map(({ origin }) => origin)).toEqual(['user', 'user']);
    expect((await session.client.snapshot()).questions).toEqual([]);
  });

  test('takes a text in other words, and none of several', async () => {
    const session = await home.start(asked);
    await session.run('go');
    await answerIn(session, ['  what you\nthink best ', []]);
    expect(lastTexts(session).at(-1)).toBe(
      'user: Question: Which database shall it be? Answer: what you\nthink best\nQuestion: Which platforms? Answer: (none of them)',
    );
  });

  test('stays open when it is answered wrongly', async () => {
    const session = await home.start([ask({ ...DATABASE, noFreeForm: true }), say('ok')]);
    await session.run('go');
    const { id } = await openIn(session);
    await expect(session.client.answer(id, ['mysql'])).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    await expect(session.client.answer(id, ['sqlite', 'x'])).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    await expect(session.client.answer(id, 'sqlite')).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    await answerIn(session, ['sqlite']);
    expect(lastTexts(session).at(-1)).toContain('Answer: SQLite');
  });

  test('is the only one: a second of the same reply, or of a later turn, is refused', async () => {
    let notify = (): void => undefined;
    const bringer = definePlugin({
      name: 'bringer',
      apply: (scope) => {
        notify = () => scope.submit('bg-1 has ended', 'notice');
      },
    });
    const twice = use(['question', { questions: [DATABASE] }], ['question', { questions: [PLATFORMS] }]);
    const session = await home.start([twice, ask(PLATFORMS), say('I wait'), say('ok')], { plugins: [bringer as Plugin] });
    await session.run('go');
    expect(session.log.of('tool.ended')).toMatchObject([{ status: 'ok' }, { status: 'error', error: { code: 'CONFLICT' } }]);
    expect((await openIn(session)).fields).toMatchObject([{ recommended: 'sqlite' }]);

    // What a plugin brings is no answer: the question waits on.
    const ended = session.log.until('turn.ended');
    notify();
    expect(await ended).toMatchObject({ turn: 2 });
    expect(session.log.of('tool.ended').at(-1)).toMatchObject({
      status: 'error',
      error: { code: 'CONFLICT' },
      content: expect.stringContaining('open already'),
    });
    expect(session.log.of('question.asked')).toHaveLength(1);
    await answerIn(session, ['pg']);
    expect(lastTexts(session).at(-1)).toContain('Answer: PostgreSQL');
  });

  test('is withdrawn by another prompt, which goes through', async () => {
    const session = await home.start([...asked, ask(PLATFORMS)]);
    await session.run('go');
    const { id } = await openIn(session);
    await session.run('forget it, use files');
    expect(lastTexts(session).at(-1)).toBe('user: forget it, use files');
    expect(session.log.of('question.withdrawn')).toEqual([{ id }]);
    expect(await session.client.answer(id, ['pg', []])).toBe(false);
    expect((await session.client.snapshot()).questions).toEqual([]);
    // And the next one may be asked.
    await session.run('go on');
    await session.run('ask');
    expect((await openIn(session)).fields).toMatchObject([{ question: 'Which platforms?' }]);
  });

  test('goes before a prompt that was queued by who did not know it', async () => {
    const session = await home.start(asked);
    await session.client.submit({ text: 'go', clientId: 'a' });
    expect(await session.client.queue('and by the way', 'b')).toMatchObject({ state: 'queued' });
    await session.log.until('turn.ended');
    const { id } = await openIn(session);
    expect(await session.client.snapshot()).toMatchObject({ status: 'idle', queue: [{ text: 'and by the way' }] });

    const third = session.log.until('turn.ended', ({ turn }) => turn === 3);
    await session.client.answer(id, ['pg', []]);
    await third;
    expect(session.log.of('input.accepted').map(({ text }) => text)).toEqual(['go', expect.stringContaining('Answer: PostgreSQL'), 'and by the way']);
  });

  test('goes before what is queued, however long other plugins take for the end of the turn', async () => {
    let finish = (): void => undefined;
    const lasting = new Promise<void>((resolve) => {
      finish = resolve;
    });
    // Before the others, as its name is.
    const slow = definePlugin({ name: 'a-slow-one', apply: ({ hooks }) => hooks.ended.tap('takes its time', { budgetMs: 20_000 }, () => lasting) });
    const session = await home.start(asked, { plugins: [slow as Plugin] });
    await session.client.submit({ text: 'go', clientId: 'a' });
    await session.client.queue('and by the way', 'b');
    // An answer that comes while the turn is still ending is no later than what was queued.
    const second = session.log.until('input.accepted', ({ text }) => text !== 'go');
    await session.log.until('question.asked');
    await session.client.answer((await openIn(session)).id, ['pg', []]);
    expect(await second).toMatchObject({ text: expect.stringContaining('Answer: PostgreSQL') });
    finish();
    await session.log.until('turn.ended', ({ turn }) => turn === 3);
    expect(session.log.of('input.accepted').map(({ text }) => text)).toEqual(['go', expect.stringContaining('Answer: PostgreSQL'), 'and by the way']);
    expect(session.log.of('question.withdrawn')).toEqual([]);
  });

  test('stays when somebody presses Esc', async () => {
    const session = await home.start(asked);
    await session.run('go');
    await session.client.abort();
    await openIn(session);
    await answerIn(session, ['pg', 'linux']);
    expect(lastTexts(session).at(-1)).toContain('Answer: Linux');
  });

  test('stays when the plugins are made anew', async () => {
    const renewing = definePlugin({
      name: 'renewing',
      apply: ({ registries }) => void registries.commands.add({ name: 'renew', summary: 'Renews.', run: (_, at) => at.renew() }),
    });
    const session = await home.start(asked, { plugins: [renewing as Plugin] });
    await session.run('go');
    expect(await session.client.command('renew', '')).toMatchObject({ ok: true });
    await vi.waitFor(() => openIn(session));
    await answerIn(session, ['pg', 'linux']);
    expect(lastTexts(session).at(-1)).toContain('Answer: Linux');
    expect(session.log.of('turn.ended')).toHaveLength(2);
  });

  test.each(['bypass', 'ask'] as const)('is for a person, whatever permissions say (mode %s)', async (mode) => {
    const session = await home.start(asked, { config: { permissions: { mode } } });
    await session.run('go');
    await openIn(session);
    expect(session.log.of('question.answered')).toEqual([]);
  });
});

describe('bad questions', () => {
  const one = DATABASE.options[0];
  const options = (...more: readonly object[]): object => ({ ...DATABASE, options: [one, ...more] });
  test.each<[string, readonly object[], RegExp]>([
    ['none', [], /questions: .*few/i],
    ['six', Array.from({ length: 6 }, () => PLATFORMS), /questions: .*many/i],
    ['one option', [PLATFORMS, options()], /questions\[1\]\.options: .*few/i],
    ['five options', [options(...[1, 2, 3, 4].map((n) => ({ value: `${n}`, label: `${n}` })))], /questions\[0\]\.options: .*many/i],
    ['no label', [options({ value: 'pg' })], /questions\[0\]\.options\[1\]: .*label/],
    ['an empty label', [PLATFORMS, options({ value: 'pg', label: ' ' })], /questions\[1\]\.options\[1\]\.label is empty/],
    ['an empty value', [options({ value: '', label: 'x' })], /questions\[0\]\.options\[1\]\.value/],
    [
      'the same value',
      [PLATFORMS, options({ value: 'pg', label: 'x' }, { value: ' sqlite', label: 'y' })],
      /questions\[1\]\.options\[2\]\.value is the same as that of options\[0\] \("sqlite"\)/,
    ],
    ['the same label', [options({ value: 'x', label: 'SQLite' })], /questions\[0\]\.options\[1\]\.label is the same/],
    ['a recommendation of nothing', [PLATFORMS, { ...DATABASE, recommended: 'mysql' }], /questions\[1\]\.recommended is "mysql".*"sqlite", "pg"/],
    ['an empty question', [{ ...DATABASE, question: ' \n' }], /questions\[0\]\.question is empty/],
    ['a long question', [{ ...DATABASE, question: 'x'.repeat(1_001) }], /questions\[0\]\.question: /],
  ])('%s: the error says where, and nothing is asked', async (_, questions, problem) => {
    const session = await home.start([ask(...questions), say('sorry')]);
    expect(await session.run('go')).toMatchObject({ steps: 2 });
    const [result] = session.log.of('tool.ended');
    expect(result).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
    expect(result?.content).toMatch(problem);
    expect((await session.client.snapshot()).questions).toEqual([]);
  });

  test('nothing of a form steers a terminal', async () => {
    const steering = {
      question: 'Which\u001b[2J\r\none?',
      options: [{ value: 'a\u0007', label: 'A\n\u009bB', description: 'x\u0000\ny' }, ...PLATFORMS.options],
    };
    const session = await home.start([ask({ ...steering, recommended: 'a\u0007' }), say('ok')]);
    await session.run('go');
    const options = [{ value: 'a', label: 'A B', description: 'x\ny' }, ...PLATFORMS.options];
    expect((await openIn(session)).fields).toEqual([{ question: 'Which[2J\none?', options, recommended: 'a' }]);
    await answerIn(session, ['a']);
    expect(lastTexts(session).at(-1)).toBe('user: Question: Which[2J one? Answer: A B');
  });

  test('what was not asked for is not kept', async () => {
    const session = await home.start([ask({ ...DATABASE, padding: 'x'.repeat(10_000), multi: false }), say('ok')]);
    await session.run('go');
    expect((await openIn(session)).fields).toEqual([DATABASE]);
  });
});
