/** Saved keys: for their owner alone, known to every session at once, and shown by none. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestSession, say } from '../../../kernel/testkit/index.ts';
import { definePlugin, type Powers } from '../../../kernel/index.ts';
import { createCredentials } from '../../../kernel/host/credentials.ts';
import { SavedSecrets } from '../../../kernel/host/secrets.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cast-secrets-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
const file = (): string => join(home, 'secrets.json');
const kept = (): unknown => JSON.parse(readFileSync(file(), 'utf8'));

test('are written for their owner alone, beside others, and removed', async () => {
  const secrets = new SavedSecrets(home);
  await Promise.all([secrets.set('CAST_KEY_A', 'first-secret'), secrets.set('CAST_KEY_B', 'second-secret')]);
  expect(kept()).toEqual({ CAST_KEY_A: 'first-secret', CAST_KEY_B: 'second-secret' });
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  await secrets.set('CAST_KEY_A', undefined);
  expect(kept()).toEqual({ CAST_KEY_B: 'second-secret' });
  expect(readdirSync(home)).toEqual(['secrets.json']);
});

test('what another process saved is found', async () => {
  const [one, other] = [new SavedSecrets(home), new SavedSecrets(home)];
  expect(await one.get('CAST_KEY_A')).toBeUndefined();
  await other.set('CAST_KEY_A', 'later-secret');
  expect(await one.get('CAST_KEY_A')).toBe('later-secret');
  expect([...one.values]).toEqual(['later-secret']);
});

test('the environment comes first', async () => {
  const saved = new SavedSecrets(home);
  await saved.set('CAST_API_KEY', 'saved-secret');
  expect(await createCredentials({ OPENAI_API_KEY: 'given-secret' }, saved).get('CAST_API_KEY')).toBe('given-secret');
  expect(await createCredentials({}, saved).get('CAST_API_KEY')).toBe('saved-secret');
});

test('a damaged file is left as it is, and its text stays out of the message', async () => {
  writeFileSync(file(), '{"A": "sk-in-plain-sight"');
  const failing = new SavedSecrets(home).set('CAST_KEY_A', 'x');
  await expect(failing).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(file()) });
  await expect(failing).rejects.not.toThrow(/plain-sight/);
  expect(readFileSync(file(), 'utf8')).toBe('{"A": "sk-in-plain-sight"');
});

test.each(['', '__proto__', 'with space', '1st', 'a'.repeat(300)])('%j is no name', async (name) => {
  await expect(new SavedSecrets(home).set(name, 'x')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

test.each(['constructor', '__proto__', ''])('%j is nothing that was saved', async (name) => {
  writeFileSync(file(), '{"A":"x"}');
  expect(await new SavedSecrets(home).get(name)).toBeUndefined();
});

describe('in a session', () => {
  test.each<[string, (value: string) => unknown]>([
    ['an answer', (value) => `saved ${value}`],
    ['a table', (value) => ({ kind: 'table', head: ['key'], rows: [{ cells: [value] }] })],
    ['an error', (value) => Promise.reject(new Error(`no use for ${value}`))],
  ])('no command tells one: %s', async (_, tell) => {
    const keeper = definePlugin<never, 'secrets'>({
      name: 'keeper',
      capabilities: ['secrets'],
      commands: [{ name: 'keep', summary: 'keeps a key' }],
      apply: ({ powers, registries }) =>
        registries.commands.add({
          name: 'keep',
          summary: 'keeps a key',
          run: async (value) => {
            await powers.secrets.set('CAST_KEY_A', value);
            return tell(value) as string;
          },
        }),
    });
    await using session = await createTestSession({ plugins: [keeper as never] });
    const outcome = JSON.stringify(await session.client.command('keep', 'fresh-secret-value'));
    expect(outcome).toContain('[redacted]');
    expect(outcome).not.toContain('fresh-secret-value');
  });

  test('what was saved a moment ago is shown by no entry and no event', async () => {
    let powers: Pick<Powers, 'secrets'> | undefined;
    const keeper = definePlugin<never, 'secrets'>({ name: 'keeper', capabilities: ['secrets'], apply: (scope) => void (powers = scope.powers) });
    await using session = await createTestSession({ plugins: [keeper as never], script: [say('the key is fresh-secret-value')] });
    await powers?.secrets.set('CAST_KEY_A', 'fresh-secret-value');
    await session.run('what is fresh-secret-value?');
    expect(JSON.stringify([session.all(), await session.entries()])).not.toContain('fresh-secret-value');
    expect(await powers?.secrets.get('CAST_KEY_A')).toBe('fresh-secret-value');
  });
});
