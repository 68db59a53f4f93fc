import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { CastConfig, Provider, Recovery } from '../../../kernel/index.ts';
import plugin from '../../../plugins/providers/index.ts';
import { manifest } from '../../../plugins/providers/manifest.ts';
import { answering, clock, gather, request } from './replies.ts';

const END = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** Applies the plugin to a scope that has no more than it may use. */
const apply = (config: CastConfig, secrets: Readonly<Record<string, string>> = {}, environment: Readonly<Record<string, string>> = {}) => {
  const providers = new Map<string, Provider>();
  const taps: { label: string; run: (failure: object, at: object) => Recovery | undefined }[] = [];
  const sent: { url: string; headers: Record<string, string> }[] = [];
  const asked: string[] = [];
  const hidden: RegExp[] = [];
  const answer = answering([Buffer.from(END)]);
  const pool = new Map<string, unknown>();
  const opened: (() => void)[] = [];
  const commands: string[] = [];
  let count = 0;
  plugin.spec.apply?.({
    options: { firstTokenMs: 1000, idleMs: 1000 },
    config: { value: config, origin: () => undefined },
    environment,
    clock,
    ids: { next: (kind: string) => `${kind}-${++count}` },
    log: { debug: () => undefined },
    redact: (pattern: RegExp) => void hidden.push(pattern),
    host: { pool: (key: string, make: () => unknown) => pool.get(key) ?? pool.set(key, make()).get(key) },
    powers: {
      net: {
        fetch: (url: string, init: { headers: Record<string, string> }) => {
          sent.push({ url, headers: init.headers });
          return answer(url);
        },
      },
      secrets: {
        get: async (name: string) => {
          asked.push(name);
          return secrets[name];
        },
      },
    },
    registries: {
      commands: { add: ({ name }: { name: string }) => void commands.push(name) },
      providers: {
        add: (provider: Provider) => providers.set(provider.name, provider),
        list: () => [{ name: 'gateway', from: 'other' }, ...[...providers.values()].map((provider) => ({ ...provider, from: 'providers' }))],
      },
    },
    state: () => ({ value: null, record: async () => {} }),
    hooks: {
      open: { tap: (_label: string, run: () => void) => opened.push(run) },
      request: { tap: () => {} },
      failure: { tap: (label: string, _options: object, run: never) => taps.push({ label, run }) },
    },
  } as never);
  return { providers, taps, sent, asked, hidden, commands, open: () => opened.forEach((run) => run()) };
};
const use = (provider: Provider | undefined) => gather(provider?.stream(request(), new AbortController().signal) ?? (async function* () {})());

describe('the plugin', () => {
  test('says what it needs', () => {
    expect(manifest).toMatchObject({
      name: 'providers',
      capabilities: ['fs', 'net', 'secrets', 'settings'],
      activation: ['session'],
      taps: ['open', 'request', 'failure'],
    });
    expect(plugin.spec).toMatchObject({ name: 'providers' });
  });

  test('brings one provider for each entry', () => {
    expect([...apply({ providers: { env: {}, mine: {} } }).providers.keys()]).toEqual(['env', 'mine']);
    expect(apply({}).providers.size).toBe(0);
  });

  test('a dialect that there is not is an error of the configuration', () => {
    expect(() => apply({ providers: { env: {}, mine: { dialect: 'none' } } })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  test('asks for the key when it is needed, by its name', async () => {
    const { providers, sent, asked } = apply(
      { providers: { env: { baseUrl: 'http://127.0.0.1:9/v1' }, mine: { baseUrl: 'https://api.example.test', key: 'MINE' } } },
      { MINE: 'key-of-mine' },
    );
    expect(asked).toEqual([]);
    expect((await use(providers.get('env'))).text).toBe('hi');
    expect((await use(providers.get('mine'))).text).toBe('hi');
    expect(asked).toEqual(['CAST_API_KEY', 'MINE']);
    expect(sent.map(({ url, headers }) => [url, headers['authorization']])).toEqual([
      ['http://127.0.0.1:9/v1/chat/completions', undefined],
      ['https://api.example.test/chat/completions', 'Bearer key-of-mine'],
    ]);
  });

  test.each<[string, CastConfig, boolean]>([
    ['one of its own', { provider: 'mine', providers: { mine: {} } }, true],
    ['that of another plugin', { provider: 'gateway', providers: { mine: {} } }, false],
    ['the first, which is of another plugin', { providers: { mine: {} } }, false],
    ['none that is known', { provider: 'gone', providers: { mine: {} } }, false],
  ])('what a request needs is loaded early when the active provider is %s', async (_name, config, isLoaded) => {
    vi.resetModules();
    let loads = 0;
    vi.doMock('../../../plugins/providers/provider.ts', () => {
      loads++;
      throw new Error('cannot be loaded');
    });
    onTestFinished(() => {
      vi.doUnmock('../../../plugins/providers/provider.ts');
      // What failed to load is not to stay with the tests behind this one.
      vi.resetModules();
    });
    const { open } = apply(config);
    expect(loads).toBe(0);
    open();
    await vi.dynamicImportSettled();
    expect(loads > 0).toBe(isLoaded);
  });

  test('nothing is asked for a stream that is left before it began', async () => {
    const { providers, sent } = apply({ providers: { mine: { baseUrl: 'http://127.0.0.1:9/v1' } } });
    const parts = providers.get('mine')?.stream(request(), new AbortController().signal)[Symbol.asyncIterator]();
    const first = parts?.next();
    await parts?.return?.();
    expect(await first).toEqual({ done: true, value: undefined });
    expect(sent).toEqual([]);
  });

  test.each<[string, CastConfig, string]>([
    ['chat when nothing is said', { providers: { a: { baseUrl: 'http://127.0.0.1:9/v1' } } }, 'http://127.0.0.1:9/v1/chat/completions'],
    ['chat', { providers: { a: { baseUrl: 'http://127.0.0.1:9/v1', api: 'chat' } } }, 'http://127.0.0.1:9/v1/chat/completions'],
    ['responses', { providers: { a: { baseUrl: 'http://127.0.0.1:9/v1', api: 'responses' } } }, 'http://127.0.0.1:9/v1/responses'],
  ])('the format: %s', async (_name, config, url) => {
    const { providers, sent } = apply(config);
    await use(providers.get('a'));
    expect(sent.map((each) => each.url)).toEqual([url]);
  });

  test('Codex is asked with the login of its command line, and no key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cast-codex-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'auth.json'), JSON.stringify({ tokens: { access_token: 'token-of-codex', account_id: 'account-1' } }));
    const config = { providers: { codex: { baseUrl: 'https://chatgpt.com/backend-api/codex' } } };
    const { providers, sent, asked, hidden } = apply(config, { CAST_API_KEY: 'key' }, { CODEX_HOME: folder });
    for (let i = 0; i < 2; i++) await use(providers.get('codex'));
    expect(hidden.map((pattern) => pattern.test('token-of-codex'))).toEqual([true]);
    expect(asked).toEqual([]);
    expect(sent.slice(1)).toMatchObject([
      { url: 'https://chatgpt.com/backend-api/codex/responses', headers: { authorization: 'Bearer token-of-codex', 'chatgpt-account-id': 'account-1' } },
    ]);
  });

  test('no other host sees that login', async () => {
    const config = { providers: { other: { baseUrl: 'https://chatgpt.com.example.test/backend-api/codex', api: 'responses' as const } } };
    const { providers, sent } = apply(config, { CAST_API_KEY: 'key' }, { CODEX_HOME: '/nowhere' });
    await use(providers.get('other'));
    expect(sent[0]?.headers).toMatchObject({ authorization: 'Bearer key' });
    expect(sent[0]?.headers).not.toHaveProperty('chatgpt-account-id');
  });

  test('its tap answers with spread waits', () => {
    const [tap] = apply({}).taps;
    expect(tap?.label).toBe('retry');
    const failure = { kind: 'overload', error: new Error('busy'), elapsedMs: 0, began: false };
    const waits = [1, 2, 3, 4, 5].map((step) => tap?.run(failure, { turn: 1, step }));
    const delays = waits.map((answer) => (answer && 'retry' in answer ? (answer.retry.afterMs ?? 0) : 0));
    for (const delay of delays) expect(delay >= 400 && delay <= 500).toBe(true);
    expect(new Set(delays).size).toBeGreaterThan(1);
  });
});
