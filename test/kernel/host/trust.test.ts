import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openTrust, type Gated, type TrustStore } from '../../../kernel/host/trust.ts';

const NOW = 1_700_000_000_000;
const clock = { now: () => NOW, sleep: (ms: number) => sleep(ms) };
const contents = (code: Record<string, string> = {}, text: string[] = []): Gated => ({ code, text });

const open = (): { readonly home: string; readonly file: string; readonly trust: TrustStore } => {
  const base = mkdtempSync(join(tmpdir(), 'cast-trust-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const home = join(base, 'home');
  return { home, file: join(home, 'trust.json'), trust: openTrust({ home, clock }) };
};

describe('decisions', () => {
  test('nobody was asked', () => {
    const { trust, home } = open();
    expect(trust.status('/p', contents({ a: '1' }))).toEqual({ decision: 'undecided' });
    expect(trust.problem).toBeUndefined();
    expect(existsSync(home)).toBe(false);
  });

  test.each(['trusted', 'text', 'untrusted'] as const)('%s is kept, by root', async (decision) => {
    const { trust, home } = open();
    await trust.decide('/p', decision, contents({ a: '1' }, ['AGENTS.md']));
    const again = openTrust({ home, clock });
    expect(again.status('/p', contents({ a: '1' }, ['AGENTS.md']))).toEqual({ decision });
    expect(again.status('/p/below', contents({ a: '1' }))).toEqual({ decision: 'undecided' });
    expect(again.list()).toEqual([{ root: '/p', decision, at: NOW, code: decision === 'trusted' ? { a: '1' } : {}, text: ['AGENTS.md'] }]);
  });

  test('changed, new and unreadable code is named; the rest is not', async () => {
    const { trust } = open();
    await trust.decide('/p', 'trusted', contents({ same: '1', changed: '2', gone: '3', unreadable: '' }));
    expect(trust.status('/p', contents({ same: '1', changed: 'other', added: '4', unreadable: '' }))).toEqual({
      decision: 'changed',
      changed: ['changed', 'added', 'unreadable'],
    });
    expect(trust.status('/p', contents({ same: '1' }))).toEqual({ decision: 'trusted' });
  });

  test('another folder of the project adds to what is trusted', async () => {
    const { trust } = open();
    await trust.decide('/p', 'trusted', contents({ 'cast.config.ts': '1' }));
    await trust.decide('/p', 'trusted', contents({ 'cast.config.ts': '1', 'sub/cast.config.ts': '2' }));
    expect(trust.status('/p', contents({ 'sub/cast.config.ts': '2', 'cast.config.ts': '1' })).decision).toBe('trusted');
    await trust.decide('/p', 'untrusted', contents({ 'cast.config.ts': '1' }));
    expect(trust.list()[0]?.code).toEqual({});
  });

  test('new text is a notice, not a question', async () => {
    const { trust } = open();
    await trust.decide('/p', 'text', contents({}, ['AGENTS.md']));
    expect(trust.status('/p', contents({ a: 'any' }, ['AGENTS.md', '.cast/rules']))).toEqual({ decision: 'text', newText: ['.cast/rules'] });
  });

  test('names of objects are no projects', () => {
    const { trust } = open();
    expect(trust.status('constructor', contents()).decision).toBe('undecided');
    expect(trust.status('__proto__', contents()).decision).toBe('undecided');
  });

  test('a revoked decision is gone', async () => {
    const { trust } = open();
    await trust.decide('/p', 'trusted', contents());
    expect(await trust.revoke('/p')).toBe(true);
    expect(await trust.revoke('/p')).toBe(false);
    expect(trust.status('/p', contents()).decision).toBe('undecided');
  });
});

describe('the file', () => {
  test('only its owner can read it', async () => {
    const { trust, home, file } = open();
    await trust.decide('/p', 'trusted', contents());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  test.each([
    ['half-written', '{"version":1,"projects":{'],
    ['empty', ''],
    ['of another shape', '{"projects":[]}'],
    ['with a wrong entry', '{"projects":{"/p":{"decision":"yes","at":1,"code":{},"text":[]}}}'],
  ])('%s: everything is untrusted, and nothing is written', async (_, text) => {
    const { trust, home, file } = open();
    mkdirSync(home, { recursive: true });
    writeFileSync(file, text);
    expect(trust.status('/p', contents())).toEqual({ decision: 'untrusted' });
    expect(trust.problem).toMatchObject({ code: 'TRUST_STORE', message: expect.stringContaining(file) });
    await expect(trust.decide('/p', 'trusted', contents())).rejects.toMatchObject({ code: 'TRUST_STORE' });
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test('a folder in its place is a problem, not a crash', async () => {
    const { trust, file } = open();
    mkdirSync(file, { recursive: true });
    expect(trust.status('/p', contents()).decision).toBe('untrusted');
    await expect(trust.decide('/p', 'trusted', contents())).rejects.toMatchObject({ code: 'TRUST_STORE' });
  });

  test('decisions made at once are all kept', async () => {
    const { home } = open();
    const roots = Array.from({ length: 20 }, (_, i) => `/p${i}`);
    await Promise.all(roots.map((root) => openTrust({ home, clock }).decide(root, 'trusted', contents())));
    expect(
      openTrust({ home, clock })
        .list()
        .map((entry) => entry.root)
        .sort(),
    ).toEqual(roots.sort());
  });

  test('a lock that was left behind is taken over', async () => {
    const { trust, home, file } = open();
    mkdirSync(home, { recursive: true });
    writeFileSync(`${file}.lock`, '');
    utimesSync(`${file}.lock`, NOW / 1000 - 60, NOW / 1000 - 60);
    await trust.decide('/p', 'trusted', contents());
    expect(trust.status('/p', contents()).decision).toBe('trusted');
  });

  test('a lock that is held is waited for, and not for ever', async () => {
    const { home, file } = open();
    mkdirSync(home, { recursive: true });
    writeFileSync(`${file}.lock`, '');
    utimesSync(`${file}.lock`, NOW / 1000, NOW / 1000);
    let waits = 0;
    const impatient = openTrust({ home, clock: { now: () => NOW, sleep: async () => void waits++ } });
    await expect(impatient.decide('/p', 'trusted', contents())).rejects.toMatchObject({ code: 'TRUST_STORE', message: expect.stringContaining('.lock') });
    expect(waits).toBe(500);
  });

  test.skipIf(process.getuid?.() === 0)('a home that cannot be written is an error with the reason', async () => {
    const { trust, home } = open();
    mkdirSync(home, { recursive: true });
    chmodSync(home, 0o500);
    await expect(trust.decide('/p', 'trusted', contents())).rejects.toMatchObject({ code: 'TRUST_STORE' });
  });
});
