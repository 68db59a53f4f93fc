/** `/model`, its slots, and `/reasoning`: tried, saved, in force from the next turn. */
import { describe, expect, test } from 'vitest';
import { type CastConfig, definePlugin, type ModelInfo } from '../../../../kernel/index.ts';
import { say } from '../../../../kernel/testkit/index.ts';
import { askedOf, startEndpoint, type EndpointOptions } from './endpoint.ts';
import { openSession } from './session.ts';
import providers from '../../../../plugins/providers/index.ts';

const open = async (options: EndpointOptions = {}, more: CastConfig = {}, models?: Readonly<Record<string, Omit<ModelInfo, 'id'>>>) => {
  const endpoint = await startEndpoint(options);
  const here = { baseUrl: endpoint.url, key: '', ...(models ? { models } : {}) };
  const opened = await openSession({ provider: 'here', model: 'model-a', ...more, providers: { here } });
  return { endpoint, here, ...opened };
};

describe('/model', () => {
  test('lists the models, sorted, with what is known and what can be done', async () => {
    const { rows } = await open({}, {}, { 'model-b': { contextWindow: 4096, reasoning: { levels: ['low', 'high'] } } });
    expect(await rows('/model')).toEqual([
      { cells: ['current', 'model-a', '', ''], commands: [] },
      { cells: ['', 'model-b', '4096', 'reasoning'], commands: ['/model model-b'] },
    ]);
  });

  test('a name that no command could take leads nowhere', async () => {
    const { rows } = await open({ models: ['two words', 'esc\u001b[2J', 'model-a'] });
    expect((await rows('/model')).flatMap(({ commands }) => commands)).toEqual([]);
  });

  test('without a list it says how to go on', async () => {
    const { tell } = await open({ models: 404 });
    expect(await tell('/model')).toMatch(/no list of models.*model-a is in use.*\/model MODEL/);
  });

  test('tries the model, saves it, and the next turn and the record use it', async () => {
    const { endpoint, session, tell, settings } = await open();
    await session.run('one');
    expect(await tell('/model model-b')).toBe('model-b answers from the next turn on.');
    await session.run('two');
    expect(askedOf(endpoint)).toEqual(['model-a', 'model-b', 'model-b']);
    expect(settings()).toMatchObject({ model: 'model-b', providers: { here: { model: 'model-b' } } });
    expect(await session.store.get(session.id)).toMatchObject({ model: 'model-b', provider: endpoint.url });
  });

  test('one that the provider does not know changes nothing', async () => {
    const { session, give, settings, here } = await open();
    expect(await give('/model nonsense')).toMatchObject({ ok: false, code: 'MODEL_NOT_FOUND', message: expect.stringContaining('nonsense') });
    expect(settings()).toEqual({ provider: 'here', model: 'model-a', providers: { here } });
    expect(await session.client.snapshot()).toMatchObject({ model: 'model-a' });
  });

  test('of another provider takes the provider along', async () => {
    const { endpoint, session, tell, settings } = await open({ models: ['a/b'] }, { provider: 'script', model: 'x' });
    await tell('/model here/a/b');
    expect(settings()).toMatchObject({ provider: 'here', model: 'a/b' });
    await session.run('hi');
    expect(askedOf(endpoint)).toEqual(['a/b', 'a/b']);
  });

  test('of a provider that a plugin brings writes nothing about that provider', async () => {
    const { tell, settings } = await openSession({ provider: 'script', model: 'x' }, { script: [say('')], aux: say('OK') });
    await tell('/model y');
    expect(settings()).toEqual({ provider: 'script', model: 'y' });
  });

  test('a flag wins, and that is said', async () => {
    const { url } = await startEndpoint();
    const { tell } = await openSession({ provider: 'here', providers: { here: { baseUrl: url } } }, { config: { model: 'model-a' } });
    expect(await tell('/model model-b')).toContain('Not in force yet: model is set by a flag, which wins.');
  });
});

describe('models of other work', () => {
  test.each([
    ['/subagent-model', 'subagent'],
    ['/plan-model', 'plan'],
  ])('%s is tried, saved with its provider, and taken back', async (command, slot) => {
    const { tell, give, settings } = await open();
    expect(await tell(command)).toContain('model-a, as of the conversation');
    expect(await give(`${command} nonsense`)).toMatchObject({ ok: false, code: 'MODEL_NOT_FOUND' });
    await tell(`${command} model-b`);
    expect(settings()['models']).toEqual({ [slot]: 'here/model-b' });
    expect(await tell(command)).toContain('here/model-b');
    await tell(`${command} off`);
    expect(settings()['models']).toBeUndefined();
    await tell(`${command} here/model-b`);
    await tell(`/model off ${slot}`);
    expect(settings()['models']).toBeUndefined();
  });

  test('a slot that does not exist is named', async () => {
    const { give } = await open();
    expect(await give('/model off nothing')).toMatchObject({ ok: false, suggestedFix: expect.stringContaining('subagent') });
  });
});

describe('/reasoning', () => {
  const models = { 'model-a': { reasoning: { levels: ['off', 'low', 'ultra'], default: 'low' } }, 'model-b': { reasoning: { levels: [] } } };

  test('offers the levels of the model, and marks the one in force', async () => {
    const { rows, tell } = await open({}, {}, models);
    await tell('/reasoning ultra');
    expect(await rows('/reasoning')).toEqual([
      { cells: ['', 'off', ''], commands: ['/reasoning off'] },
      { cells: ['', 'low', 'usual'], commands: ['/reasoning low'] },
      { cells: ['current', 'ultra', ''], commands: [] },
      { cells: ['', 'default', ''], commands: ['/reasoning default'] },
    ]);
  });

  test('is remembered for each model, dots in its name or not', async () => {
    const { url } = await startEndpoint({ models: ['m-1.0', 'm-2.0'] });
    const sent: (string | undefined)[] = [];
    const listener = definePlugin({
      name: 'listener',
      apply: ({ hooks }) =>
        hooks.request.tap('note', (request) => {
          sent.push(request.reasoning);
          return request;
        }),
    });
    const settings = { provider: 'here', model: 'm-1.0', reasoning: 'low', providers: { here: { baseUrl: url } } };
    const opened = await openSession(settings, { plugins: [providers as never, listener as never] });
    for (const line of ['/reasoning high', '/model m-2.0', '/model m-1.0', '/reasoning default']) {
      await opened.tell(line);
      await opened.session.run('go');
    }
    expect(sent).toEqual(['high', 'low', 'high', 'low']);
    expect(opened.settings()['providers']).toEqual({ here: { baseUrl: url, model: 'm-1.0' } });
  });

  test.each([
    ['/reasoning nonsense', /Use off, low, ultra, or default/],
    ['/reasoning high', /Use off, low, ultra, or default/],
  ])('%s names what there is', async (line, fix) => {
    const { give } = await open({}, {}, models);
    expect(await give(line)).toMatchObject({ ok: false, code: 'CLI_USAGE', suggestedFix: expect.stringMatching(fix) });
  });

  test('of a model that does not reason says so', async () => {
    const { tell } = await open({}, { model: 'model-b' }, models);
    expect(await tell('/reasoning low')).toBe('model-b does not reason.');
  });
});

test('the level reaches the request: flags first, then the model’s own, then that of all', async () => {
  const levelWith = async (settings: CastConfig, config: CastConfig = {}): Promise<string | undefined> => {
    const { session } = await openSession({ provider: 'script', model: 'm', ...settings }, { script: [say('')], config });
    await session.run('go');
    return session.requests[0]?.reasoning;
  };
  expect(await levelWith({})).toBeUndefined();
  expect(await levelWith({ reasoning: 'low' })).toBe('low');
  expect(await levelWith({ reasoning: 'low' }, { reasoning: 'max' })).toBe('max');
});
