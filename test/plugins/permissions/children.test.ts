/** Child sessions that need a person: who is asked, how often, and what becomes of the answer. */
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type Question } from '../../../kernel/index.ts';
import { createTestSession, say, use, type TestSessionOptions } from '../../../kernel/testkit/index.ts';
import permissions from '../../../plugins/permissions/index.ts';
import shell from '../../../plugins/shell/index.ts';
import { answering, delegatePlugin, type Answers, type Delegations } from '../../kernel/session/delegate.ts';

const DANGEROUS = 'rm -rf build';

const open = async (answers: Answers, options: TestSessionOptions = {}) => {
  const ran: string[] = [];
  const recorder = definePlugin({
    name: 'recorder',
    apply: ({ registries, session }) =>
      void registries.tools.add(
        defineTool({
          name: 'bash',
          description: 'Notes a command.',
          input: jsonSchema<{ command: string }>({ type: 'object', required: ['command'], properties: { command: { type: 'string' } } }),
          effect: 'exec',
          run: async ({ command }) => {
            ran.push(`${session.origin?.path.join('/') ?? 'root'}: ${command}`);
            return 'ok';
          },
        }),
      ),
  });
  const seen: Delegations = { ends: [], events: [] };
  const plugins = [shell, permissions, recorder, delegatePlugin(seen)] as never[];
  const session = await createTestSession({ plugins, script: answering(answers), ...options });
  return { session, ran, seen };
};

/** `fan:explore,review` hands a dangerous task to each, `mild:explore` a harmless one; `deep:a` hands one on below `a`; anything else is run. */
const answers: Answers = (prompt, results) => {
  if (results.length > 0) return say(results.map(({ status, content }) => `${status}: ${content}`).join('\n'));
  if (!prompt.includes(':')) return use('bash', { command: prompt });
  const [kind, names = ''] = prompt.split(':');
  if (kind === 'deep') return use('task', { prompt: `fan:${names}`, label: 'outer' });
  return use(...names.split(',').map((label, at) => ['task', { prompt: kind === 'mild' ? 'touch a' : DANGEROUS, label }, `c${at}`] as const));
};
const asked = (session: Awaited<ReturnType<typeof open>>['session']): readonly Question[] => session.events('question.asked').map(({ question }) => question);

describe('B020: a child needs a person', () => {
  test('B020: nobody can be asked: denied at once, the child sees the reason, the parent goes on', async () => {
    const { session, ran, seen } = await open(answers);
    expect(await session.run('fan:explore')).toMatchObject({ reason: 'stop', exitCode: 0 });
    expect(ran).toEqual([]);
    expect(seen.ends[0]?.text).toMatch(/^denied: .*dangerous pattern \(rm with -r or -f\)/s);
    expect(session.events('question.answered')).toMatchObject([{ choice: 'reject', by: 'nobody', tool: 'bash', path: ['explore'] }]);
    await session.close();
  });

  test('B020: with a person the question stands in the root session, once, and says which child asks', async () => {
    const { session, ran } = await open(answers, { interactive: true, answer: () => 'once' });
    await session.run('fan:explore');
    expect(asked(session)).toMatchObject([{ path: ['explore'], call: { tool: 'bash' } }]);
    expect(session.events('question.answered')).toMatchObject([{ choice: 'once', by: 'user', path: ['explore'] }]);
    expect(ran).toEqual([`explore: ${DANGEROUS}`]);
    await session.close();
  });

  test('B020: one level deeper, the same: asked once, with the whole path', async () => {
    const { session, ran } = await open(answers, { interactive: true, answer: () => 'once' });
    await session.run('deep:inner');
    expect(asked(session)).toMatchObject([{ path: ['outer', 'inner'] }]);
    expect(ran).toEqual([`outer/inner: ${DANGEROUS}`]);
    await session.close();
  });

  test('B020: two children ask at once: each is answered for itself', async () => {
    const answer = ({ path }: Question): string => (path?.[0] === 'explore' ? 'once' : 'reject');
    const { session, ran, seen } = await open(answers, { interactive: true });
    const ended = session.run('fan:explore,review');
    await expect.poll(() => asked(session).length).toBe(2);
    expect((await session.client.snapshot()).status).toBe('waiting');
    for (const question of asked(session).toReversed()) expect(await session.client.answer(question.id, answer(question))).toBe(true);
    await ended;
    expect(ran).toEqual([`explore: ${DANGEROUS}`]);
    expect(new Set(seen.ends.map(({ text }) => text.split(':')[0]))).toEqual(new Set(['denied', 'ok']));
    expect(asked(session)).toHaveLength(2);
    await session.close();
  });

  test('B020: a client that comes later finds the open question, and its answer counts', async () => {
    const { session, ran } = await open(answers, { interactive: true });
    const ended = session.run('fan:explore');
    await session.until('question.asked');
    const { questions, seq } = await session.client.snapshot();
    expect(questions).toMatchObject([{ path: ['explore'], text: expect.stringContaining(DANGEROUS) }]);
    const again: string[] = [];
    const late = (async () => {
      for await (const { type } of session.client.events(seq)) again.push(type);
    })();
    expect(await session.client.answer(questions[0]?.id ?? '', 'once')).toBe(true);
    expect(await session.client.answer(questions[0]?.id ?? '', 'once')).toBe(false);
    await ended;
    expect(ran).toHaveLength(1);
    await session.close();
    await late;
    expect(again).not.toContain('question.asked');
    expect(again.filter((type) => type === 'question.answered')).toHaveLength(1);
  });

  test.each([
    ['before the child has asked for anything', 'fan:explore', () => Promise.resolve()],
    ['while the question stands open', 'fan:explore', (session: Awaited<ReturnType<typeof open>>['session']) => session.until('question.asked')],
    ['while it stands open one level deeper', 'deep:inner', (session: Awaited<ReturnType<typeof open>>['session']) => session.until('question.asked')],
    [
      'while two stand open',
      'fan:explore,review',
      async (session: Awaited<ReturnType<typeof open>>['session']) => expect.poll(() => asked(session).length).toBe(2),
    ],
  ])('B020: stop works %s', async (_, prompt, moment) => {
    const { session, ran } = await open(answers, { interactive: true });
    const ended = session.run(prompt);
    await moment(session);
    await session.client.abort();
    expect(await ended).toMatchObject({ reason: 'aborted' });
    expect(ran).toEqual([]);
    expect((await session.client.snapshot()).questions).toEqual([]);
    expect(session.events('question.withdrawn').map(({ id }) => id)).toEqual(asked(session).map(({ id }) => id));
    await session.close();
  });
});

describe('what is granted to a child', () => {
  test("for the session: it is the root's, and the next child is not asked again", async () => {
    const twice: Answers = (prompt, results) =>
      prompt === 'two' && results.length < 2
        ? use(['task', { prompt: DANGEROUS, label: `number ${results.length}` }, `c${results.length}`])
        : answers(prompt, results);
    const { session, ran } = await open(twice, { interactive: true, answer: () => 'session' });
    await session.run('two');
    expect(ran).toHaveLength(2);
    expect(asked(session)).toHaveLength(1);
    const grants = (await session.entries()).filter(({ kind, data }) => kind === 'plugin' && (data as { slice: string }).slice === 'grants');
    expect(grants).toHaveLength(1);
    await session.close();
  });

  test('a mode that was set for the root holds in the child', async () => {
    const { session, ran } = await open(answers, { interactive: true, answer: () => 'reject' });
    expect(await session.client.command('permissions', 'ask')).toMatchObject({ ok: true });
    await session.run('mild:explore');
    expect(asked(session)).toMatchObject([{ path: ['explore'] }]);
    expect(ran).toEqual([]);
    await session.close();
  });
});
