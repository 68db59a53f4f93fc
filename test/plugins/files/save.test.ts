/** What happens to the file of a user at the moment when its new content takes its place. */
import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

let desk: Desk | undefined;
const open = (...given: Parameters<typeof openDesk>): Desk => {
  desk = openDesk(...given);
  return desk;
};
afterEach(() => desk?.remove());

test('edits of several sessions at once: each that says it was made is in the file', async () => {
  const { put, run, text, cwd } = open();
  put('a.txt', 'a\nb\nc\nd\n');
  const letters = ['a', 'b', 'c', 'd'];
  const results = await Promise.all(letters.map((letter) => run('edit', { filePath: 'a.txt', oldString: letter, newString: letter.repeat(2) })));
  const made = letters.filter((_, index) => results[index]?.status === 'ok');
  expect(made.length).toBeGreaterThan(0);
  expect(text('a.txt')).toBe(letters.map((letter) => `${made.includes(letter) ? letter.repeat(2) : letter}\n`).join(''));
  for (const { status, error } of results) if (status !== 'ok') expect(error).toMatchObject({ code: 'CONFLICT', retryable: true });
  expect(readdirSync(cwd)).toEqual(['a.txt']);
});

test('a change meanwhile that keeps size and time is not lost', async () => {
  let happens = (): void => undefined;
  const { put, run, text } = open({ drafting: () => happens() });
  const path = put('a.txt', 'user line\nb\n');
  utimesSync(path, 1000, 1000);
  const { atime, mtime } = lstatSync(path);
  happens = () => {
    writeFileSync(path, 'USER LINE\nb\n');
    utimesSync(path, atime, mtime);
  };
  expect(await run('edit', { filePath: 'a.txt', oldString: 'b', newString: 'c' })).toMatchObject({ status: 'error', error: { code: 'CONFLICT' } });
  expect(text('a.txt')).toBe('USER LINE\nb\n');
});

test('a file that nobody may write is not replaced', async () => {
  const { put, run, text, cwd } = open();
  chmodSync(put('a.txt', 'old'), 0o444);
  const refusal = { status: 'error', error: { code: 'PERMISSION_DENIED' }, content: expect.stringContaining('a.txt is read-only. Nothing was written.') };
  expect(await run('edit', { filePath: 'a.txt', oldString: 'old', newString: 'new' })).toMatchObject(refusal);
  expect(await run('write', { path: 'a.txt', content: 'new' })).toMatchObject(refusal);
  expect(text('a.txt')).toBe('old');
  expect(readdirSync(cwd)).toEqual(['a.txt']);
});

const isRoot = process.getuid?.() === 0;
test.skipIf(!isRoot)('a file of another owner stays in its group, and never runs as someone else (needs the superuser)', async () => {
  const { put, run, cwd } = open();
  const path = put('a.txt', 'old');
  for (const folder of [`${cwd}/..`, cwd]) chmodSync(folder, 0o777);
  execFileSync('chown', ['1234:65534', path]);
  chmodSync(path, 0o6775);
  process.setegid?.(65534);
  process.seteuid?.(65534);
  const result = await run('write', { path: 'a.txt', content: 'new' }).finally(() => {
    process.seteuid?.(0);
    process.setegid?.(0);
  });
  expect(result.status, result.content).toBe('ok');
  const { uid, gid, mode } = statSync(path);
  expect([uid, gid, mode & 0o7777]).toEqual([65534, 65534, 0o775]);
});

test.skipIf(!isRoot)('nobody can give a file away, but its group goes with it (needs the superuser)', async () => {
  const { put, run, cwd } = open();
  const path = put('a.txt', 'old');
  for (const folder of [`${cwd}/..`, cwd]) chmodSync(folder, 0o777);
  execFileSync('chown', ['1234:4321', path]);
  chmodSync(path, 0o666);
  const groups = process.getgroups?.() ?? [];
  process.setgroups?.([4321]);
  process.setegid?.(65534);
  process.seteuid?.(65534);
  const result = await run('write', { path: 'a.txt', content: 'new' }).finally(() => {
    process.seteuid?.(0);
    process.setegid?.(0);
    process.setgroups?.(groups);
  });
  expect(result.status, result.content).toBe('ok');
  expect([statSync(path).uid, statSync(path).gid]).toEqual([65534, 4321]);
});
