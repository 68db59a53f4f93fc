import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codexAccess, codexFolder, hideToken } from '../../../plugins/providers/codex.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cast-codex-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
const save = (content: unknown): void => writeFileSync(join(folder, 'auth.json'), typeof content === 'string' ? content : JSON.stringify(content));

describe('the login of the Codex command line', () => {
  test('token and account, read anew each time', async () => {
    save({ OPENAI_API_KEY: null, tokens: { access_token: 't1', account_id: 'a1' } });
    const { config, secret } = await codexAccess({ headers: { 'x-own': 'y' } }, folder);
    expect(config.headers).toEqual({ 'x-own': 'y', 'chatgpt-account-id': 'a1' });
    expect(await secret()).toBe('t1');
    save({ tokens: { access_token: 't2', account_id: 'a1' } });
    expect(await (await codexAccess({}, folder)).secret()).toBe('t2');
  });

  test.each<[string, unknown, RegExp]>([
    ['no file', undefined, /cannot be read/],
    ['no JSON', '{', /access_token/],
    ['no tokens', { OPENAI_API_KEY: 'k' }, /access_token/],
    ['an empty token', { tokens: { access_token: '', account_id: 'a' } }, /access_token/],
    ['no account', { tokens: { access_token: 't' } }, /account_id/],
  ])('%s is named', async (_name, content, message) => {
    if (content !== undefined) save(content);
    const failure = codexAccess({}, folder);
    await expect(failure).rejects.toMatchObject({ kind: 'auth', message: expect.stringMatching(message), fix: expect.stringContaining('codex login') });
    await expect(failure).rejects.toMatchObject({ message: expect.stringContaining(join(folder, 'auth.json')) });
  });

  test('where it is kept', () => {
    expect(codexFolder({ CODEX_HOME: '/c', HOME: '/h' })).toBe('/c');
    expect(codexFolder({ HOME: '/h' })).toBe(join('/h', '.codex'));
    expect(codexFolder({ CODEX_HOME: '' })).toBe(join(homedir(), '.codex'));
  });
});

test('each token is hidden once, to the letter', () => {
  const [hidden, patterns] = [new Set<string>(), [] as RegExp[]];
  for (const token of ['ey.a+b', 'ey.a+b', 'ey.c/d']) hideToken(token, hidden, (pattern) => void patterns.push(pattern));
  expect(patterns.map((pattern) => ['ey.a+b', 'eyxa+b', 'ey.c/d'].map((text) => pattern.test(text)))).toEqual([
    [true, false, false],
    [false, false, true],
  ]);
});
