/** Content taken out of the view: what a model gets instead, and what stays in the store. */
import { expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type Message, type SessionFace } from 'cast';
import { createTestSession, say, use, type TestSession } from 'cast/testkit';

const PICTURE = { mediaType: 'image/png', data: 'aGVsbG8=' };
const look = defineTool({
  name: 'look',
  description: 'looks',
  effect: 'read',
  input: jsonSchema<object>({ type: 'object' }),
  run: async () => ({ content: 'a picture of a cat', images: [PICTURE] }),
});

const open = async (more: Parameters<typeof createTestSession>[0] = {}): Promise<{ session: TestSession; face: SessionFace }> => {
  let face: SessionFace | undefined;
  const plugin = definePlugin({
    name: 'eyes',
    apply: (scope) => {
      face = scope.session;
      scope.registries.tools.add(look);
    },
  });
  const session = await createTestSession({ plugins: [plugin], script: [use('look'), say('a cat'), say('again')], ...more });
  return { session, face: face as unknown as SessionFace };
};
const entryOf = (face: SessionFace, role: Message['role']): string => face.view().find((message) => message.role === role)?.entry ?? 'none';
const textOf = (message: Message): string =>
  message.blocks.map((block) => ('text' in block ? block.text : 'content' in block ? block.content : block.type)).join('|');

test('a masked result keeps its call and says what stands in its place; the entry stays as it was', async () => {
  const { session, face } = await open();
  await using _ = session;
  await session.run('what is this?');
  await face.mask(entryOf(face, 'tool'), 'left out');
  await session.run('and now?');
  const [, reply, result] = session.requests.at(-1)?.messages ?? [];
  expect(reply?.blocks).toMatchObject([{ type: 'call', tool: 'look' }]);
  expect(result?.blocks).toMatchObject([{ type: 'result', tool: 'look', content: 'left out', status: 'ok' }]);
  const stored = (await session.entries()).find((entry) => entry.kind === 'message' && entry.data.role === 'tool');
  expect(stored?.data).toMatchObject({
    blocks: [
      { type: 'result', content: 'a picture of a cat' },
      { type: 'image', image: PICTURE },
    ],
  });
});

test('images alone are replaced, text and result stay', async () => {
  const { session, face } = await open();
  await using _ = session;
  await session.client.submit({ text: 'what is this?', clientId: 'one', images: [PICTURE] });
  await session.until('turn.ended', ({ clientId }) => clientId === 'one');
  await face.mask(entryOf(face, 'user'), 'an image was here', 'images');
  await face.mask(entryOf(face, 'tool'), 'an image was here', 'images');
  await session.run('and now?');
  const [prompt, , result] = session.requests.at(-1)?.messages ?? [];
  expect(prompt && textOf(prompt)).toBe('what is this?|an image was here');
  expect(result?.blocks).toMatchObject([{ type: 'result', content: 'a picture of a cat\nan image was here' }]);
  expect(JSON.stringify(session.requests.at(-1)?.messages)).not.toContain(PICTURE.data);
});

test('what replaces all of an entry wins over what replaces its images, in either order', async () => {
  for (const order of [[undefined, 'images'] as const, ['images', undefined] as const]) {
    const { session, face } = await open();
    await session.run('what is this?');
    for (const only of order) await face.mask(entryOf(face, 'tool'), only ?? 'all of it', only);
    expect(textOf(face.view().find(({ role }) => role === 'tool') as Message)).toBe('all of it');
    await session.close();
  }
});

test('a masked prompt is no empty message', async () => {
  const { session, face } = await open();
  await using _ = session;
  await session.run('what is this?');
  await face.mask(entryOf(face, 'user'), 'a prompt was here');
  expect(textOf(face.view()[0] as Message)).toBe('a prompt was here');
});

test('masks hold after a resume, and go with a rewind to before them', async () => {
  const { session, face } = await open();
  await session.run('what is this?');
  const tokens = face.view().reduce((sum, message) => sum + message.tokens, 0);
  await session.run('and now?');
  await face.mask(entryOf(face, 'tool'), 'left out');
  expect(face.view().reduce((sum, message) => sum + message.tokens, 0)).toBeLessThan(tokens);
  const resumed = await open({ store: session.store, session: session.id, script: [say('x')] });
  await using _ = resumed.session;
  expect(textOf(resumed.face.view().find(({ role }) => role === 'tool') as Message)).toBe('left out');
  await resumed.session.client.rewind({ turn: 2 });
  expect(textOf(resumed.face.view().find(({ role }) => role === 'tool') as Message)).toBe('a picture of a cat|image');
  await session.close();
});

test('what is masked whole is out of the context, in the store as well; without its images it is still in it', async () => {
  const { session, face } = await open();
  await using _ = session;
  const inContext = async (): Promise<readonly boolean[]> =>
    (await session.client.page()).items.flatMap((item) => (item.kind === 'message' || item.kind === 'result' ? [item.inContext] : []));
  const moves: unknown[] = [];
  const { append } = session.store;
  session.store.append = (id, batch, how) => {
    if (how.leave !== undefined || how.enter !== undefined) moves.push([how.leave, how.enter]);
    return append.call(session.store, id, batch, how);
  };
  await session.run('what is this?');
  await session.run('and now?');
  const [result, reply] = [entryOf(face, 'tool'), face.view()[3]?.entry];
  await face.mask(result, 'no image', 'images');
  expect(await inContext()).toEqual([true, true, true, true, true, true]);
  await face.mask(result, 'left out');
  await face.mask(reply ?? '', 'left out');
  await face.mask(result, 'left out again');
  expect(await inContext()).toEqual([true, true, false, false, true, true]);
  expect(moves).toEqual([
    [[], []],
    [[result], []],
    [[reply], []],
    [[], []],
  ]);
  await session.client.rewind({ turn: 2 });
  expect(moves.at(-1)).toMatchObject([expect.any(Array), [result, reply]]);
  expect((await inContext()).slice(0, 4)).toEqual([true, true, true, true]);
});

test('what is no message of this branch cannot be masked', async () => {
  const { session, face } = await open();
  await using _ = session;
  await expect(face.mask('nothing', 'x')).rejects.toMatchObject({ code: 'HISTORY_BAD_MOVE' });
});

test('a masked prompt that a compaction carries along stays masked, and the job does not see what was masked', async () => {
  const texts: string[] = [];
  const shorten = definePlugin({
    name: 'shorten',
    apply: ({ hooks }) =>
      hooks.compact.tap('cut', ({ messages, cuts }) => {
        texts.push(...messages.map(({ text }) => text));
        return { summary: 'so far', keepFrom: cuts.at(-1) ?? '' };
      }),
  });
  const compacting = definePlugin({
    name: 'compacting',
    apply: ({ hooks, session: face }) =>
      hooks.prepare.tap('now', async ({ step, signal }) => {
        if (step !== 3) return;
        for (const message of face.view()) if (message.role !== 'assistant') await face.mask(message.entry, 'left out');
        await face.compact('command', signal);
      }),
  });
  const eyes = definePlugin({ name: 'eyes', apply: ({ registries }) => void registries.tools.add(look) });
  await using session = await createTestSession({ plugins: [eyes, shorten, compacting], script: [use('look'), use('look'), say('done')] });
  await session.run('what is this?');
  expect(session.requests[2]?.messages.map(textOf)).toEqual([expect.stringContaining('so far'), 'left out', 'call', 'left out']);
  expect(texts.join()).not.toMatch(/what is this|a picture/);
});
