/** Sessions that work for another one. */
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type ModelRequest } from 'cast';
import { createTestSession, hang, say, use, type TestSession } from 'cast/testkit';
import { answering, delegatePlugin, type Answers, type Delegations } from './delegate.ts';

const open = async (answers: Answers, more: Partial<Parameters<typeof createTestSession>[0] & object> = {}) => {
  const seen: Delegations = { ends: [], events: [] };
  const { plugins = [], ...others } = more;
  const session = await createTestSession({ plugins: [delegatePlugin(seen), ...(plugins as readonly never[])], script: answering(answers), ...others });
  return { session, seen };
};
const childrenOf = async (session: TestSession) => session.store.list({ kind: 'child', limit: 100 });
const toolsOf = (request: ModelRequest | undefined): readonly string[] => (request?.tools ?? []).map(({ name }) => name);

/** The person's session gives one task with the text behind "do:"; a child answers by `child`. */
const handingOver =
  (child: Answers, input: object = {}): Answers =>
  (prompt, results) => {
    if (!prompt.startsWith('do:')) return child(prompt, results);
    return results.length === 0 ? use('task', { prompt: prompt.slice(3), ...input }) : say(`It said: ${results[0]?.content}`);
  };

describe('a child session', () => {
  test('has a history of its own, which is stored, and only its last words come back', async () => {
    const { session, seen } = await open(handingOver((_, results) => (results.length === 0 ? use('nothing') : say('42'))));
    expect(await session.run('do:count the files')).toMatchObject({ reason: 'stop', steps: 2 });
    expect(session.text().trim()).toBe('It said: 42');
    const [child] = await childrenOf(session);
    expect(child).toMatchObject({ parent: session.id, kind: 'child', cwd: session.cwd, id: seen.ends[0]?.session });
    const told = await session.store.branch(child?.id ?? '', { kinds: ['message'] });
    expect(told.map(({ data }) => (data as { role: string }).role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    const own = session.requests.filter(({ messages }) => JSON.stringify(messages).includes('"count the files"'));
    expect(own.every(({ messages }) => !JSON.stringify(messages).includes('do:count'))).toBe(true);
    expect(await session.store.list({ kind: 'conversation', limit: 10 })).toHaveLength(1);
    await session.close();
  });

  test('counts its usage in the session that waits for it, and is told apart there', async () => {
    const { session, seen } = await open(handingOver(() => say('done')));
    const { usage } = await session.run('do:it');
    expect(usage).toMatchObject({ promptTokens: 300, completionTokens: 30 });
    const [id] = (await childrenOf(session)).map((child) => child.id);
    expect(session.events('usage').map(({ child }) => child)).toEqual([undefined, id, undefined]);
    expect(seen.ends[0]?.usage).toMatchObject({ promptTokens: 100, completionTokens: 10 });
    await session.close();
  });

  test('tells each of its events to who ordered it', async () => {
    const { session, seen } = await open(handingOver(() => say('done')));
    await session.run('do:it');
    expect(seen.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['turn.started', 'input.accepted', 'text.delta', 'reply.accepted', 'turn.ended']),
    );
    expect(new Set(seen.events.map((event) => event.session))).toEqual(new Set([seen.ends[0]?.session]));
    await session.close();
  });

  test('is not disturbed by a watcher that throws: that is a fault of the plugin', async () => {
    const ends: unknown[] = [];
    const clumsy = definePlugin({
      name: 'clumsy',
      capabilities: ['children'],
      activation: ['session'],
      apply: ({ hooks, powers, session }) =>
        hooks.settle.tap('hand over', { budgetMs: 60_000 }, async (_, { signal }) => {
          if (session.parent !== undefined) return;
          const watch = (): never => {
            throw new Error('no eyes');
          };
          const { text, reason } = await powers.children.run({ prompt: 'it', label: 'x', watch }, signal);
          ends.push([reason, text]);
        }),
    });
    const { session } = await open(() => say('done'), { plugins: [clumsy] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.events('tap.fault')[0]).toMatchObject({ plugin: 'clumsy', hook: 'children', message: expect.stringContaining('no eyes') });
    expect(ends).toEqual([['stop', 'done']]);
    await session.close();
  });

  test('is asked of the model that was ordered, else of `models.subagent`', async () => {
    const { session } = await open(
      handingOver(() => say('done')),
      { config: { models: { subagent: 'small' } } },
    );
    await session.run('do:it');
    const other = await open(
      handingOver(() => say('done'), { model: 'tiny' }),
      { config: { models: { subagent: 'small' } } },
    );
    await other.session.run('do:it');
    expect([session, other.session].map(({ requests }) => requests.map(({ model }) => model))).toEqual([
      ['script-model', 'small', 'script-model'],
      ['script-model', 'tiny', 'script-model'],
    ]);
    await Promise.all([session.close(), other.session.close()]);
  });

  test('never makes more steps than were ordered, nor than its parent may', async () => {
    const endless: Answers = (_, results) => use('look', { at: results.length });
    const ordered = await open(handingOver(endless, { maxSteps: 3 }));
    await ordered.session.run('do:it');
    const bounded = await open(handingOver(endless, { maxSteps: 50 }), { config: { limits: { maxSteps: 4 } } });
    await bounded.session.run('do:it');
    const steps = ({ seen }: typeof ordered): number => seen.events.filter(({ type }) => type === 'reply.accepted').length;
    expect([steps(ordered), steps(bounded)]).toEqual([3, 4]);
    await Promise.all([ordered.session.close(), bounded.session.close()]);
  });

  test('sees what it is for, and for whom', async () => {
    const origins: unknown[] = [];
    const looking = definePlugin({ name: 'looking', activation: ['session'], apply: ({ session }) => void origins.push(session.origin) });
    const { session } = await open(
      (prompt, results) => {
        if (results.length > 0) return say('done');
        if (prompt === 'top') return use('task', { prompt: 'middle', label: 'explore' });
        return prompt === 'middle' ? use('task', { prompt: 'bottom', label: 'review' }) : say('done');
      },
      { plugins: [looking] },
    );
    await session.run('top');
    expect(origins).toEqual([
      undefined,
      { rootSession: session.id, rootTurn: 1, path: ['explore'] },
      { rootSession: session.id, rootTurn: 1, path: ['explore', 'review'] },
    ]);
    await session.close();
  });

  test('goes three deep and no deeper, and who wanted more is told so', async () => {
    const { session, seen } = await open((prompt, results) =>
      results.length > 0 ? say(`${prompt}: ${results[0]?.content}`) : use('task', { prompt: `${prompt}+` }),
    );
    await session.run('a');
    expect(seen.ends).toHaveLength(3);
    expect(session.text()).toContain('worker > worker > worker > worker: child sessions go 3 deep at most');
    await session.close();
  });
});

describe('plugins in a child session', () => {
  const marker = (name: string, more: object = {}) =>
    definePlugin({
      name,
      activation: ['session'],
      ...more,
      apply: ({ registries }) =>
        void registries.tools.add(
          defineTool({ name, description: name, effect: 'read', input: jsonSchema<object>({ type: 'object' }), run: async () => 'ok' }),
        ),
    });

  test('are those of its parent, but for the ones that are of no use there', async () => {
    const { session } = await open(
      handingOver(() => say('done')),
      { plugins: [marker('plain'), marker('kept', { inChildren: 'inherit' }), marker('apart', { inChildren: 'skip' })] },
    );
    await session.run('do:it');
    expect(toolsOf(session.requests[0])).toEqual(expect.arrayContaining(['plain', 'kept', 'apart', 'task']));
    expect(toolsOf(session.requests[1])).toEqual(expect.arrayContaining(['plain', 'kept', 'task']));
    expect(toolsOf(session.requests[1])).not.toContain('apart');
    await session.close();
  });

  test('one that came late to its parent is there from the start: what it guards is guarded', async () => {
    const joined: string[] = [];
    const late = definePlugin({
      name: 'late',
      activation: ['entry:writer'],
      apply: ({ session }) => void joined.push(session.parent === undefined ? 'root' : 'child'),
    });
    const writer = definePlugin({
      name: 'writer',
      activation: ['session'],
      apply: ({ hooks, state }) => {
        const slice = state({ name: 'seen', data: jsonSchema<{ at: number }>({ type: 'object' }), initial: 0, fold: (sum: number) => sum + 1 });
        hooks.input.tap('note', async () => {
          await slice.record({ at: 1 });
          return undefined;
        });
      },
    });
    const silent = definePlugin({ ...writer.spec, apply: (scope) => (scope.session.parent === undefined ? writer.spec.apply?.(scope as never) : undefined) });
    const { session } = await open(
      handingOver(() => say('done')),
      { plugins: [late, silent] },
    );
    await session.run('do:it');
    expect(joined).toEqual(['root', 'child']);
    await session.close();
  });

  test("share a state that is the root's, and have any other for themselves", async () => {
    const read: unknown[] = [];
    const counting = (name: string, ofRoot: boolean) =>
      definePlugin({
        name,
        activation: ['session'],
        apply: ({ hooks, state, session }) => {
          const sum = state({
            name: 'sum',
            data: jsonSchema<{ by: number }>({ type: 'object' }),
            initial: 0,
            fold: (at: number, { by }: { by: number }) => at + by,
            ofRoot,
          });
          hooks.settle.tap('count', async () => {
            await sum.record({ by: session.parent ? 10 : 1 });
            read.push([name, session.parent ? 'child' : 'root', sum.value]);
            return undefined;
          });
        },
      });
    const { session } = await open(
      handingOver(() => say('done')),
      { plugins: [counting('shared', true), counting('apart', false)] },
    );
    await session.run('do:it');
    expect(read).toHaveLength(4);
    expect(read).toEqual(
      expect.arrayContaining([
        ['shared', 'child', 10],
        ['apart', 'child', 10],
        ['shared', 'root', 11],
        ['apart', 'root', 1],
      ]),
    );
    await session.close();
  });
});

describe('how many run', () => {
  const many =
    (count: number, child: Answers): Answers =>
    (prompt, results) => {
      if (prompt !== 'all') return child(prompt, results);
      return results.length === 0
        ? use(...Array.from({ length: count }, (_, at) => ['task', { prompt: `part ${at}` }, `c${at}`] as const))
        : say(String(results.length));
    };

  /** Answers after a moment, and knows how many did so at a time. */
  const counted = () => {
    const running = { now: 0, most: 0 };
    const child: Answers = () =>
      async function* () {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running.now -= 1;
        yield* say('done')(undefined as never, undefined as never) as Iterable<never>;
      };
    return { child, running };
  };

  test('ten at a time, and each further one when one of them is done', async () => {
    const { child, running } = counted();
    const { session, seen } = await open(many(14, child));
    await session.run('all');
    expect(seen.ends).toHaveLength(14);
    expect(running.most).toBe(10);
    expect(session.text().trim()).toBe('14');
    await session.close();
  });

  test('an abort ends those that run and those that wait, at once', async () => {
    const { session, seen } = await open(many(14, () => hang()));
    const ended = session.run('all');
    await expect.poll(() => seen.events.filter(({ type }) => type === 'turn.started').length).toBe(10);
    const before = Date.now();
    await session.client.abort();
    expect(await ended).toMatchObject({ reason: 'aborted' });
    expect(Date.now() - before).toBeLessThan(2_000);
    expect(seen.ends.map(({ reason }) => reason)).toEqual(Array(10).fill('aborted'));
    expect(await childrenOf(session)).toHaveLength(10);
    await session.close();
  });

  test('who stops waiting takes no place from those that come later', async () => {
    const { child, running } = counted();
    let isFirst = true;
    const { session, seen } = await open(many(14, (...told) => (isFirst ? hang() : child(...told))));
    const ended = session.run('all');
    await expect.poll(() => seen.events.filter(({ type }) => type === 'turn.started').length).toBe(10);
    await session.client.abort();
    await ended;
    isFirst = false;
    await session.client.rewind({ turn: 1 });
    await session.run('all');
    expect(running.most).toBe(10);
    await session.close();
  });
});
