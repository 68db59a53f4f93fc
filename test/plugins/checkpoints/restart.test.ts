/** Points are found again by another process, whatever ended the one that made them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { say, use } from '../../../kernel/testkit/index.ts';
import { useCommand } from '../../cli/command.ts';
import { start } from '../../cli/program.ts';
import { makeHome } from '../../home.ts';
import { call } from '../../provider.ts';
import { hasGit } from './desk.ts';
import { undoNewest } from './kept.ts';

const command = useCommand();

test('a resumed session takes back what an earlier process did; what is kept is nobody else’s to read', async () => {
  const home = makeHome();
  try {
    const first = await home.start([use('write', { path: 'a.txt', content: 'one\n' }), say('done')], { config: { permissions: { mode: 'bypass' } } });
    await first.run('make it');
    const { cwd } = await first.client.snapshot();
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
    await first.stop();
    const kept = join(cwd, '../home/checkpoints');
    const entries = readdirSync(kept, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile()).length).toBeGreaterThan(1);
    for (const entry of entries) expect(statSync(join(entry.parentPath, entry.name)).mode & 0o777).toBe(entry.isDirectory() ? 0o700 : 0o600);
    const second = await home.start([], { session: first.id });
    expect(await second.client.command('undo', '')).toMatchObject({ ok: true });
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false);
    expect(JSON.stringify(await second.entries())).not.toContain('make it');
  } finally {
    await home.remove();
  }
});

test.skipIf(!hasGit)('killed in the middle of a command, the process leaves a point that says what may be its doing', { timeout: 60_000 }, async () => {
  const place = command.project({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
  const provider = await command.provide(
    call('write', { path: 'a.txt', content: 'agent\n' }),
    call('bash', { command: 'echo half > b.txt; echo begun > begun; sleep 60' }),
  );
  execFileSync('sh', ['-c', 'git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm first'], { cwd: place.cwd });
  const run = start(['run', '--format', 'stream-json', 'go'], { program: command.program(), place, provider });
  await expect.poll(() => existsSync(join(place.cwd, 'begun')), { timeout: 30_000 }).toBe(true);
  run.child.kill('SIGKILL');
  await run.done;
  writeFileSync(join(place.cwd, 'own.txt'), 'mine\n');
  const said = await undoNewest(place.castHome, place.cwd);
  expect(readFileSync(join(place.cwd, 'a.txt'), 'utf8')).toBe('one\n');
  expect(readFileSync(join(place.cwd, 'own.txt'), 'utf8')).toBe('mine\n');
  expect(said).toMatch(/b\.txt: a command that had not ended may have changed it/);
});
