/** `/provider`: nothing is saved that was not tried, and nothing is left half changed. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hang, say } from '../../../../kernel/testkit/index.ts';
import { askedOf, startEndpoint } from './endpoint.ts';
import { openSession } from './session.ts';

describe('adding', () => {
  test('the first one becomes active, its key apart and for its owner alone', async () => {
    const { url, seen } = await startEndpoint({ key: 'sk-of-the-test' });
    const { session, tell, settings, secrets } = await openSession();
    expect(await tell(`/provider add mine ${url} sk-of-the-test`)).toMatch(/Saved mine .*secrets\.json.*\/model/);
    expect(settings()).toEqual({ provider: 'mine', providers: { mine: { baseUrl: url, key: 'CAST_KEY_MINE' } } });
    expect(secrets()).toEqual({ CAST_KEY_MINE: 'sk-of-the-test' });
    expect(statSync(join(session.home, 'secrets.json')).mode & 0o777).toBe(0o600);
    expect(seen).toEqual([{ path: 'GET /v1/models', authorization: 'Bearer sk-of-the-test' }]);
    expect(await session.client.snapshot()).toMatchObject({ provider: 'mine' });
  });

  test('a further one does not, and leaves the model as it is', async () => {
    const [one, other] = [await startEndpoint(), await startEndpoint()];
    const { tell, settings } = await openSession({ provider: 'one', model: 'model-a', providers: { one: { baseUrl: one.url } } });
    expect(await tell(`/provider add other ${other.url}`)).toContain('/provider other');
    expect(settings()).toMatchObject({ provider: 'one', model: 'model-a', providers: { other: { baseUrl: other.url, key: '' } } });
  });

  test('without a key none is sent, whatever the environment holds', async () => {
    const { url, seen } = await startEndpoint();
    const { session, tell } = await openSession({}, { environment: { OPENAI_API_KEY: 'sk-for-somebody-else' } });
    await tell(`/provider add mine ${url}`);
    await tell('/model model-a');
    await session.run('hi');
    expect(seen.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(session.text()).toBe('hello');
  });

  test('a key may stay in the environment', async () => {
    const { url, seen } = await startEndpoint({ key: 'sk-of-a-variable' });
    const { tell, give, settings, secrets } = await openSession({}, { environment: { MY_API_KEY: 'sk-of-a-variable' } });
    expect(await give(`/provider add mine ${url} env:NOT_THERE`)).toMatchObject({
      ok: false,
      code: 'CLI_USAGE',
      message: expect.stringContaining('NOT_THERE'),
    });
    await tell(`/provider add mine ${url} env:MY_API_KEY`);
    expect(settings()).toMatchObject({ providers: { mine: { key: 'MY_API_KEY' } } });
    expect(secrets()).toEqual({});
    expect(seen.at(-1)?.authorization).toBe('Bearer sk-of-a-variable');
  });

  test.each<[string, (url: string) => string]>([
    ['as it stands', (url) => url],
    ['with the path of the format', (url) => `${url}/chat/completions`],
    ['with a slash', (url) => `${url}/`],
    ['without its path', (url) => url.replace('/v1', '')],
    ['without a scheme', (url) => url.replace('http://', '')],
  ])('an address %s', async (_, given) => {
    const { url } = await startEndpoint();
    const { tell, settings } = await openSession();
    await tell(`/provider add mine ${given(url)}`);
    expect(settings()).toMatchObject({ providers: { mine: { baseUrl: url } } });
  });

  test.each<[string, Parameters<typeof startEndpoint>[0], string, RegExp]>([
    ['a wrong key', { key: 'right-key' }, 'MODEL_AUTH', /refused the API key|wants an API key/],
    ['no permission', { models: 403 }, 'MODEL_AUTH', /may not do this/],
    ['a failing server', { models: 503 }, 'MODEL_OVERLOADED', /503/],
  ])('%s is told apart, and nothing is saved', async (_, options, code, message) => {
    const { url } = await startEndpoint(options);
    const { give, settings, secrets } = await openSession();
    expect(await give(`/provider add mine ${url} wrong-key`)).toMatchObject({
      ok: false,
      code,
      message: expect.stringMatching(message),
      suggestedFix: expect.any(String),
    });
    expect([settings(), secrets()]).toEqual([{}, {}]);
  });

  test.each<[string, string, string, RegExp]>([
    ['a refused connection', 'http://127.0.0.1:9/v1', 'MODEL_UNREACHABLE', /refused \(.*ECONNREFUSED/],
    ['a host that nobody knows', 'http://nowhere.invalid/v1', 'MODEL_UNREACHABLE', /ENOTFOUND|EAI_AGAIN/],
    ['another scheme', 'ftp://host/v1', 'CLI_USAGE', /no address/],
    ['a password in the address', 'https://me:secret@host/v1', 'CLI_USAGE', /password/],
  ])('%s is named', async (_, url, code, message) => {
    const { give, settings } = await openSession();
    expect(await give(`/provider add mine ${url}`)).toMatchObject({ ok: false, code, message: expect.stringMatching(message) });
    expect(settings()).toEqual({});
  });

  test.each<[string, Parameters<typeof startEndpoint>[0]]>([
    ['a limit that is reached', { models: 429 }],
    ['no list', { models: 404 }],
    ['something that is no list', { models: '<html>hello</html>' }],
  ])('%s is no reason to refuse it', async (_, options) => {
    const { url } = await startEndpoint(options);
    const { tell, settings } = await openSession();
    expect(await tell(`/provider add mine ${url}`)).toContain('no list of models');
    expect(settings()).toMatchObject({ provider: 'mine' });
  });

  test.each(['list', 'env', 'Mine', 'a.b', 'a/b', '__proto__'])('%s is no name', async (name) => {
    const { url, seen } = await startEndpoint();
    const { give } = await openSession();
    expect(await give(`/provider add ${name} ${url}`)).toMatchObject({ ok: false, code: 'CLI_USAGE' });
    expect(seen).toEqual([]);
  });

  test('a name that is taken is for the same address alone', async () => {
    const { url } = await startEndpoint({ key: 'new-key' });
    const { tell, give, secrets } = await openSession({
      provider: 'mine',
      providers: { mine: { baseUrl: 'https://elsewhere.test/v1' }, same: { baseUrl: url } },
    });
    expect(await give(`/provider add mine ${url} new-key`)).toMatchObject({ ok: false, message: expect.stringContaining('already') });
    expect(await give(`/provider add script ${url} new-key`)).toMatchObject({ ok: false, message: expect.stringContaining('already') });
    await tell(`/provider add same ${url} new-key`);
    expect(secrets()).toEqual({ CAST_KEY_SAME: 'new-key' });
  });

  test('a model that does not answer is not saved, and neither is anything else', async () => {
    const { url } = await startEndpoint();
    const { give, settings, secrets } = await openSession();
    await give(`/provider check mine ${url} some-key`);
    expect(await give('/provider save mine no-such-model')).toMatchObject({ ok: false, code: 'MODEL_NOT_FOUND' });
    expect([settings(), secrets()]).toEqual([{}, {}]);
  });
});

describe('checking first', () => {
  test('saves nothing, and leads to the models', async () => {
    const { url } = await startEndpoint({ key: 'the-key-itself' });
    const { session, rows, tell, settings, secrets } = await openSession();
    const found = await rows(`/provider check mine ${url} the-key-itself`);
    expect(found.map(({ commands }) => commands)).toEqual([['/provider save mine model-a'], ['/provider save mine model-b']]);
    expect([settings(), secrets()]).toEqual([{}, {}]);
    expect(JSON.stringify(found)).not.toContain('the-key-itself');
    expect(await tell('/provider save mine model-a')).toMatch(/From now on model-a answers/);
    expect(settings()).toEqual({ provider: 'mine', model: 'model-a', providers: { mine: { baseUrl: url, key: 'CAST_KEY_MINE', model: 'model-a' } } });
    await session.run('hi');
    expect(session.text()).toBe('hello');
  });

  test('what was not checked is not saved', async () => {
    const { give } = await openSession();
    expect(await give('/provider save mine')).toMatchObject({ ok: false, code: 'CLI_USAGE', suggestedFix: expect.stringContaining('/provider check mine') });
  });
});

describe('switching', () => {
  const two = async (more: { readonly saved?: string; readonly models?: readonly string[] } = {}) => {
    const [one, other] = [await startEndpoint(), await startEndpoint({ models: more.models ?? ['other-1', 'other-2'] })];
    const providers = { one: { baseUrl: one.url }, other: { baseUrl: other.url, ...(more.saved === undefined ? {} : { model: more.saved }) } };
    return { one, other, settings: { provider: 'one', model: 'model-a', providers } };
  };

  test('goes back to the model that was used there, and both answer from the next turn', async () => {
    const { one, other, settings } = await two({ saved: 'other-2' });
    const { session, tell } = await openSession(settings);
    await session.run('first');
    expect(await tell('/provider other')).toBe('other is used from now on, with other-2.');
    await session.run('second');
    await tell('/provider one model-b');
    await session.run('third');
    expect([askedOf(one), askedOf(other)]).toEqual([['model-a', 'model-b', 'model-b'], ['other-2']]);
  });

  test('asks a person where none was used', async () => {
    const { settings } = await two();
    const opened = await openSession(settings, { interactive: true, answer: ({ choices }) => choices[1]?.value });
    expect(await opened.tell('/provider other')).toContain('other-2');
    expect(opened.settings()).toMatchObject({ provider: 'other', model: 'other-2', providers: { other: { model: 'other-2' } } });
  });

  test('cancelled it leaves all as it was', async () => {
    const { settings } = await two();
    const opened = await openSession(settings, { interactive: true, answer: ({ choices }) => choices.at(-1)?.value });
    expect(await opened.tell('/provider other')).toMatch(/^\[Cancelled/);
    expect(opened.settings()).toEqual(settings);
  });

  test('without a person it says what to give', async () => {
    const { settings } = await two();
    const opened = await openSession(settings);
    expect(await opened.give('/provider other')).toMatchObject({ ok: false, suggestedFix: 'Name one: /provider other MODEL' });
    expect(await opened.give('/provider other none-of-them')).toMatchObject({ ok: false, code: 'MODEL_NOT_FOUND' });
    expect(await opened.give('/provider elsewhere')).toMatchObject({ ok: false, message: 'there is no provider elsewhere' });
    expect(opened.settings()).toEqual(settings);
  });
});

describe('deleting', () => {
  const settings = {
    provider: 'one',
    model: 'a',
    fallback: ['one/x', 'other/y'],
    models: { subagent: 'one/x', plan: 'other/y' },
    providers: { one: { baseUrl: 'http://127.0.0.1:9/v1', key: 'CAST_KEY_ONE' }, other: { baseUrl: 'http://127.0.0.1:9/v1', model: 'y' } },
  };
  test('the active one moves to another, and nothing points at it any more', async () => {
    const opened = await openSession(settings);
    expect(await opened.tell('/provider delete one')).toBe('Deleted one. other is used from now on with y.');
    expect(opened.settings()).toEqual({
      provider: 'other',
      model: 'y',
      fallback: ['other/y'],
      models: { plan: 'other/y' },
      providers: { other: settings.providers.other },
    });
    expect(await opened.tell('/provider delete other')).toContain('No provider is left');
    expect(opened.settings()).toEqual({});
  });
  test('another one leaves the active one alone', async () => {
    const opened = await openSession(settings);
    await opened.tell('/provider delete other');
    expect(opened.settings()).toMatchObject({ provider: 'one', model: 'a', models: { subagent: 'one/x' } });
  });
  test('a saved key goes with it', async () => {
    const { url } = await startEndpoint();
    const opened = await openSession();
    await opened.tell(`/provider add mine ${url} its-own-key`);
    await opened.tell('/provider delete mine');
    expect([opened.settings(), opened.secrets()]).toEqual([{}, {}]);
  });
  test('but not one that another provider takes as well', async () => {
    const { url } = await startEndpoint();
    const opened = await openSession({ provider: 'b', providers: { b: { baseUrl: url, key: 'CAST_KEY_MINE' } } });
    await opened.tell(`/provider add mine ${url} shared-by-two`);
    await opened.tell('/provider delete mine');
    expect(opened.secrets()).toEqual({ CAST_KEY_MINE: 'shared-by-two' });
  });
  test('what no file names cannot be deleted', async () => {
    const { give } = await openSession({}, { config: { providers: { env: { baseUrl: 'http://127.0.0.1:9/v1' } } } });
    for (const name of ['env', 'script', 'nobody']) expect(await give(`/provider delete ${name}`)).toMatchObject({ ok: false, code: 'CLI_USAGE' });
  });
});

describe('looking', () => {
  test('lists them with host, dialect and what can be done, and may be done beside a turn', async () => {
    const settings = {
      provider: 'two',
      model: 'm',
      providers: { two: { baseUrl: 'https://api.x.ai/v1', api: 'chat' as const, dialect: 'xai' }, one: { baseUrl: 'http://127.0.0.1:9/v1' } },
    };
    const { session, rows, give } = await openSession(settings, { script: [hang()], config: { provider: 'script', model: 'm' } });
    const ended = session.run('go');
    await session.until('turn.started');
    expect(await rows('/provider')).toEqual([
      { cells: ['', 'one', '127.0.0.1:9', 'chat', 'auto'], commands: ['/provider one', '/provider delete one'] },
      { cells: ['active', 'script', '(plugin testkit)', '', ''], commands: [] },
      { cells: ['', 'two', 'api.x.ai', 'chat', 'xai'], commands: ['/provider two', '/provider delete two'] },
    ]);
    expect(await give('/provider one')).toMatchObject({ ok: false, code: 'SESSION_BUSY' });
    await session.client.abort();
    await ended;
  });

  test('finds what runs on this machine', async () => {
    const { port, url } = await startEndpoint({ models: JSON.stringify({ data: [{ id: 'm', owned_by: 'vllm', max_model_len: 4096 }] }) });
    const { rows } = await openSession({}, { environment: { OLLAMA_HOST: `127.0.0.1:${port}` } });
    expect(await rows('/provider find')).toContainEqual({ cells: ['vLLM', url, '1 model'], commands: [`/provider check vllm ${url}`] });
  });

  test('a dialect can be set and taken back', async () => {
    const opened = await openSession({ provider: 'one', providers: { one: { baseUrl: 'http://127.0.0.1:9/v1' } } });
    await opened.tell('/provider one reasoning qwen');
    expect(opened.settings()).toMatchObject({ providers: { one: { dialect: 'qwen' } } });
    expect(await opened.give('/provider one reasoning latin')).toMatchObject({ ok: false, suggestedFix: expect.stringContaining('qwen') });
    await opened.tell('/provider one reasoning auto');
    expect(opened.settings()['providers']).toEqual({ one: { baseUrl: 'http://127.0.0.1:9/v1' } });
  });

  test.each(['/provider add mine', '/provider find this', '/provider one two three', '/provider delete'])('%s is answered with its usage', async (line) => {
    const { give } = await openSession({ provider: 'one', providers: { one: { baseUrl: 'http://127.0.0.1:9/v1' } } }, { script: [say('')] });
    expect(await give(line)).toMatchObject({ ok: false, code: 'CLI_USAGE', suggestedFix: expect.stringContaining('Usage: /provider') });
  });
});
