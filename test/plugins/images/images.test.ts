/** What becomes of images that a provider refuses. */
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, type Image, jsonSchema, type Message, type ModelInfo, type ModelRequest, type Plugin } from '../../../kernel/index.ts';
import { type Beat, createTestSession, fail, say, type TestSession, type TestSessionOptions, use } from '../../../kernel/testkit/index.ts';
import compaction from '../../../plugins/compaction/index.ts';
import images from '../../../plugins/images/index.ts';

const picture = (letter: string, bytes = 40_000): Image => ({ mediaType: 'image/png', data: letter.repeat(bytes) });
const camera = definePlugin({
  name: 'camera',
  apply: ({ registries }) =>
    void registries.tools.add(
      defineTool({
        name: 'look',
        description: 'Takes a picture.',
        effect: 'read',
        input: jsonSchema<{ letter: string; bytes?: number; text?: number }>({ type: 'object' }),
        run: async ({ letter, bytes, text = 0 }) => ({ content: `a picture of ${letter}${'.'.repeat(text)}`, images: [picture(letter, bytes)] }),
      }),
    ),
});
const look = (letter: string, more: object = {}): Beat => use('look', { letter, ...more });
const open = (script: readonly Beat[], more: Omit<TestSessionOptions, 'plugins'> & { readonly plugins?: readonly Plugin[] } = {}) =>
  createTestSession({ ...more, plugins: [images, camera, ...(more.plugins ?? [])] as never, script });

/** First letters of the images in a request, in order. */
const shown = ({ messages = [] }: Partial<ModelRequest> = {}): string =>
  messages.flatMap(({ blocks }: Message) => blocks.map((block) => (block.type === 'image' ? block.image.data[0] : ''))).join('');
const masks = async (session: TestSession): Promise<number> => (await session.entries()).filter(({ kind }) => kind === 'mask').length;
const codes = (session: TestSession): readonly unknown[] => [...session.events('notice'), ...session.events('warning')].map(({ code }) => code);

const UNABLE = fail('bad_request', 'image input is not supported', { status: 400 });
const ODD = fail('bad_request', 'invalid request', { status: 400 });
const PAGE = fail('overflow', 'does not fit (HTTP 413): 413 Request Entity Too Large', { status: 413 });

describe('a model that turns out to take no images', () => {
  test('is asked once more without them, and from then on is not shown any', async () => {
    await using session = await open([look('a'), UNABLE, say('blind, then'), look('b'), say('still blind')]);
    expect(await session.run('look')).toMatchObject({ reason: 'stop', exitCode: 0 });
    expect(session.requests.map(shown)).toEqual(['', 'a', '']);
    expect(JSON.stringify(session.requests[2]?.messages)).toMatch(/a picture of a\\n\[Images were left out here/);
    expect(await session.run('look again')).toMatchObject({ reason: 'stop' });
    expect(session.requests.slice(3).map(shown)).toEqual(['', '']);
    expect(codes(session)).toEqual(['IMAGES_NOT_TAKEN']);
    expect(session.events('retry')).toMatchObject([{ delayMs: 0 }]);
  });
  test('gets the same bytes before and after the images are masked', async () => {
    await using session = await open([look('a'), UNABLE, say('blind'), say('yes')]);
    for (const text of ['look', 'and?']) await session.run(text);
    const [, , third, fourth] = session.requests;
    expect(JSON.stringify(fourth?.messages.slice(0, third?.messages.length).map(({ blocks }) => blocks))).toBe(
      JSON.stringify(third?.messages.map(({ blocks }) => blocks)),
    );
  });
  test('also when the image came with the prompt', async () => {
    await using session = await open([UNABLE, say('blind')]);
    await session.client.submit({ text: 'what is this?', clientId: 'one', images: [picture('p')] });
    expect(await session.until('turn.ended')).toMatchObject({ reason: 'stop' });
    expect(session.requests.map(shown)).toEqual(['p', '']);
    expect(JSON.stringify(session.requests[1]?.messages)).toContain('what is this?');
  });
  test('and the store keeps them, while a resumed session does not send them', async () => {
    const session = await open([look('a'), UNABLE, say('blind')]);
    await session.run('look');
    await using resumed = await open([say('yes')], { store: session.store, session: session.id });
    await resumed.run('and?');
    expect(shown(resumed.requests[0])).toBe('');
    expect(JSON.stringify(await resumed.entries())).toContain('aaaa');
    await session.client.rewind({ turn: 1 });
    await session.close();
  });
});

describe('a refusal that may have another reason', () => {
  test('is tried once without images, which stay when that is refused too', async () => {
    await using session = await open([look('a'), ODD, ODD, say('fine')]);
    expect(await session.run('look')).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(session.requests.map(shown)).toEqual(['', 'a', '']);
    expect([await masks(session), codes(session)]).toEqual([0, []]);
    await session.run('again');
    expect(shown(session.requests[3])).toBe('a');
  });
  test('that has it shows the images again, when somebody else asks once more', async () => {
    const again = definePlugin({
      name: 'stubborn',
      apply: ({ hooks }) => hooks.failure.tap('again', { stage: 'late' }, ({ seen }) => (seen < 3 ? { retry: { reason: 'again' } } : undefined)),
    });
    await using session = await open([look('a'), ODD, ODD, say('fine')], { plugins: [again as never] });
    expect((await session.run('look')).reason).toBe('stop');
    expect([session.requests.map(shown), await masks(session)]).toEqual([['', 'a', '', 'a'], 0]);
  });
  test('leaves out those images alone, when it helped', async () => {
    await using session = await open([look('a'), ODD, look('b'), say('fine')]);
    expect((await session.run('look')).reason).toBe('stop');
    expect(session.requests.map(shown)).toEqual(['', 'a', '', 'b']);
    expect([await masks(session), codes(session)]).toEqual([1, ['IMAGES_DROPPED']]);
  });
  test('is the end where there are no images', async () => {
    await using session = await open([ODD]);
    expect((await session.run('go')).reason).toBe('error');
    expect(session.requests).toHaveLength(1);
  });
  test('says nothing about another model that is asked instead', async () => {
    const other = definePlugin({
      name: 'other',
      apply: ({ hooks }) => hooks.request.tap('change', (_, { attempt }) => (attempt > 1 ? { model: 'another' } : undefined)),
    });
    await using session = await open([look('a'), UNABLE, say('a cat')], { plugins: [other as never] });
    expect((await session.run('look')).reason).toBe('stop');
    expect(session.requests.map(shown)).toEqual(['', 'a', 'a']);
    expect([await masks(session), codes(session)]).toEqual([0, []]);
  });
});

describe('a model that stands in for that of the session', () => {
  const standIn = definePlugin({
    name: 'stand-in',
    apply: ({ hooks }) => hooks.request.tap('change', (_, { turn }) => (turn < 3 ? { model: 'another' } : undefined)),
  });
  test.each([
    ['takes no images', UNABLE, 'IMAGES_NOT_TAKEN'],
    ['may take none', ODD, 'IMAGES_DROPPED'],
  ])('%s: it gets none, and that of the session gets them again', async (_name, refusal, code) => {
    await using session = await open([look('a'), refusal, say('blind'), say('still'), say('a cat')], { plugins: [standIn as never] });
    for (const text of ['look', 'and?', 'now?']) expect((await session.run(text)).reason).toBe('stop');
    expect(session.requests.map(({ model }) => model)).toEqual(['another', 'another', 'another', 'another', 'script-model']);
    expect(session.requests.map(shown)).toEqual(['', 'a', '', '', 'a']);
    expect([await masks(session), codes(session)]).toEqual([0, [code]]);
  });
});

test('a long turn may meet refusals of more than one kind of image, and any number of full requests', async () => {
  const more = [...'klmnopqrst'].flatMap((letter) => [look(letter), PAGE]);
  await using session = await open([look('a'), ODD, look('b'), ODD, ...more, say('done')]);
  expect(await session.run('look')).toMatchObject({ reason: 'stop', exitCode: 0 });
  expect(shown(session.requests.at(-1))).toBe('');
});

test('a model that is known to take no images is not asked with any, with one warning', async () => {
  const blind = definePlugin({
    name: 'blind',
    apply: ({ registries: { providers } }) =>
      void providers.add({
        name: 'blind',
        stream: (request, signal) => providers.get('script')?.stream(request, signal) ?? (async function* () {})(),
        info: (id): ModelInfo => ({ id, images: false }),
      }),
  });
  await using session = await open([look('a'), look('b'), say('blind')], { plugins: [blind as never], config: { provider: 'blind' } });
  expect((await session.run('look')).reason).toBe('stop');
  expect(session.requests.map(shown)).toEqual(['', '', '']);
  expect([await masks(session), codes(session)]).toEqual([0, ['IMAGES_NOT_TAKEN']]);
});

describe('a request of too many bytes', () => {
  const four = [...'abcd'].map((letter) => look(letter));
  test('loses its oldest images, half of their bytes at a time, until it fits', async () => {
    await using session = await open([...four, PAGE, PAGE, say('fits')]);
    expect(await session.run('look')).toMatchObject({ reason: 'stop', exitCode: 0 });
    expect(session.requests.map(shown)).toEqual(['', 'a', 'ab', 'abc', 'abcd', 'cd', 'd']);
    expect(JSON.stringify(session.requests.at(-1)?.messages)).toContain('Read the file again');
    expect(codes(session)).toEqual(['IMAGES_DROPPED', 'IMAGES_DROPPED']);
    expect(JSON.stringify(await session.entries())).toContain('aaaa');
  });
  test('fails with the error of the provider when no image is left', async () => {
    await using session = await open([...four, ...Array.from({ length: 9 }, () => PAGE)]);
    expect(await session.run('look')).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(session.requests.slice(4).map(shown)).toEqual(['abcd', 'cd', 'd', '']);
    expect(session.events('error')).toMatchObject([{ code: 'MODEL_OVERFLOW' }]);
  });
  test('comes before the results of tools, which are next', async () => {
    await using session = await open([look('a', { text: 20_000 }), PAGE, PAGE, say('fits')], { plugins: [compaction as never] });
    expect((await session.run('look')).reason).toBe('stop');
    expect(codes(session)).toEqual(['IMAGES_DROPPED', 'TOOL_RESULT_TRIMMED']);
  });
  test('is none of the images’ doing when they are a small part of it', async () => {
    await using session = await open([look('a', { bytes: 4_000, text: 40_000 }), PAGE, say('fits')], { plugins: [compaction as never] });
    expect((await session.run('look')).reason).toBe('stop');
    expect(codes(session)).toEqual(['TOOL_RESULT_TRIMMED']);
  });
});
