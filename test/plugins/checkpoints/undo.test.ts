import { chmodSync, existsSync, lstatSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasGit, numbered, openDesk, type Desk } from './desk.ts';

const A = numbered(60);
const edited = (text: string, line: number, word: string): string => text.replace(`line ${line}\n`, `${word}\n`);

/** The user's own edit, the agent's turn, and what the user does then. */
const play = async (desk: Desk, line: number): Promise<void> => {
  for (const name of ['a.txt', 'b.txt', 'c.txt']) desk.put(name, A);
  desk.put('.gitignore', 'ignored\n');
  if (existsSync(join(desk.cwd, '.git'))) {
    desk.git('add', '.');
    desk.git('commit', '-qm', 'first');
    desk.put('a.txt', edited(A, 2, 'stashed'));
    desk.git('stash');
    desk.put('staged.txt', 'staged\n');
    desk.git('add', 'staged.txt');
  }
  desk.put('a.txt', edited(A, 1, 'user'));
  desk.put('own.txt', 'untracked\n');
  desk.put('ignored', 'ignored\n');
  await desk.turn(
    'change things',
    ['read', { path: 'a.txt' }],
    ['edit', { filePath: 'a.txt', oldString: 'line 50\n', newString: 'agent 50\n' }],
    ['edit', { filePath: 'b.txt', oldString: 'line 20\n', newString: 'agent 20\n' }],
    ['bash', { command: "sed -i 's/^line 30$/agent 30/' c.txt" }],
    ['write', { path: 'new/deep/d.txt', content: 'made\n' }],
  );
  desk.put('b.txt', (desk.text('b.txt') ?? '').replace(line === 20 ? 'agent 20\n' : `line ${line}\n`, 'user later\n'));
};

describe.skipIf(!hasGit)('in a repository', () => {
  test('B051: the agent’s changes go, the user’s stay, a conflict is named and left; .git is byte for byte what it was', async () => {
    await using desk = await openDesk({ git: true });
    await play(desk, 20);
    const before = desk.gitBytes();
    const said = await desk.command('undo');
    expect(desk.text('a.txt')).toBe(edited(A, 1, 'user'));
    expect(desk.text('b.txt')).toBe(edited(A, 20, 'user later'));
    expect(desk.text('c.txt')).toBe(A);
    expect(existsSync(join(desk.cwd, 'new'))).toBe(false);
    expect(said).toMatch(/Conflicts, left as they are:\n {2}b\.txt: it has been changed since, in the same lines/);
    expect([desk.text('own.txt'), desk.text('ignored'), desk.text('staged.txt')]).toEqual(['untracked\n', 'ignored\n', 'staged\n']);
    expect(desk.gitBytes()).toEqual(before);
    expect(desk.git('stash', 'list').split('\n')).toHaveLength(2);
    expect(desk.git('status', '--porcelain')).toBe(' M a.txt\n M b.txt\nA  staged.txt\n?? own.txt\n');
  });

  test('B051: a turn with calls leaves .git as it was, too', async () => {
    await using desk = await openDesk({ git: true });
    desk.put('a.txt', A);
    desk.git('add', '.');
    desk.git('commit', '-qm', 'first');
    desk.put('a.txt', edited(A, 1, 'user'));
    const before = desk.gitBytes();
    await desk.turn('go', ['bash', { command: 'echo new > made.txt; rm a.txt' }]);
    expect(desk.gitBytes()).toEqual(before);
    await desk.command('undo');
    expect(desk.text('a.txt')).toBe(edited(A, 1, 'user'));
    expect(desk.text('made.txt')).toBeUndefined();
  });

  test('a file that was ignored, or was moved here from elsewhere, is not removed', async () => {
    await using desk = await openDesk({ git: true });
    desk.put('.gitignore', 'draft.txt\n');
    desk.put('draft.txt', 'the only copy\n');
    desk.git('add', '.');
    desk.git('commit', '-qm', 'first');
    await new Promise((resolve) => setTimeout(resolve, 60));
    await desk.turn('go', ['bash', { command: 'mv draft.txt kept.txt; echo > .gitignore' }]);
    const said = await desk.command('undo');
    expect(desk.text('kept.txt')).toBe('the only copy\n');
    expect(said).toMatch(/kept\.txt: it is older than the command that brought it here/);
  });

  test('a rename by a command goes back', async () => {
    await using desk = await openDesk({ git: true });
    desk.put('one.txt', A);
    desk.git('add', '.');
    desk.git('commit', '-qm', 'first');
    await desk.turn('go', ['bash', { command: 'mkdir sub && git mv one.txt sub/two.txt' }]);
    await desk.command('undo');
    expect(desk.text('one.txt')).toBe(A);
    expect(existsSync(join(desk.cwd, 'sub'))).toBe(false);
  });

  test('what a task in the background changes is taken back after a second yes alone', async () => {
    for (const overwrite of ['keep', 'overwrite'] as const) {
      await using desk = await openDesk({ git: true, overwrite });
      desk.put('a.txt', A);
      desk.git('add', '.');
      desk.git('commit', '-qm', 'first');
      await desk.turn('go', ['bash', { command: 'sleep 0.3; echo late > a.txt', run_in_background: true }]);
      await expect.poll(() => desk.text('a.txt'), { timeout: 10_000 }).toBe('late\n');
      // The end of the task is told in a turn of its own, which is no prompt to go back to.
      await expect.poll(() => desk.session.events('turn.ended').length, { timeout: 10_000 }).toBe(2);
      await desk.command('undo');
      expect(desk.text('a.txt')).toBe(overwrite === 'keep' ? 'late\n' : A);
    }
  });
});

describe('without a repository', () => {
  test('B051: the same; what only a command changed is listed', async () => {
    await using desk = await openDesk();
    await play(desk, 20);
    const said = await desk.command('undo');
    expect(desk.text('a.txt')).toBe(edited(A, 1, 'user'));
    expect(desk.text('b.txt')).toBe(edited(A, 20, 'user later'));
    expect(desk.text('c.txt')).toBe(edited(A, 30, 'agent 30'));
    expect(existsSync(join(desk.cwd, 'new'))).toBe(false);
    expect(said).toMatch(/b\.txt: it has been changed since, in the same lines/);
    expect(said).toMatch(/Not tracked, so not taken back:\n {2}c\.txt: changed by a shell command/);
  });

  test('B051: without the git binary in a repository as well', async () => {
    await using desk = await openDesk({ environment: { PATH: '/nowhere', CAST_BASH: '/bin/bash' } });
    desk.put('c.txt', A);
    await desk.turn('go', ['bash', { command: 'echo more >> c.txt' }], ['write', { path: 'd.txt', content: 'x' }]);
    expect(await desk.command('undo')).toMatch(/c\.txt: changed by a shell command/);
    expect([desk.text('c.txt'), desk.text('d.txt')]).toEqual([`${A}more\n`, undefined]);
  });

  test('B051: an edit of other lines is merged; a conflict is overwritten once a person has said so', async () => {
    await using merging = await openDesk();
    await play(merging, 40);
    expect(await merging.command('undo')).toMatch(/b\.txt: merged/);
    expect(merging.text('b.txt')).toBe(edited(A, 40, 'user later'));

    await using forced = await openDesk({ overwrite: 'overwrite' });
    await play(forced, 20);
    await forced.command('undo');
    expect(forced.text('b.txt')).toBe(A);
    expect(forced.session.events('question.asked').at(-1)?.question.text).toContain('b.txt');
  });

  test('modes come back, and so does what a command did to a file that a call had written', async () => {
    await using desk = await openDesk();
    desk.put('run.sh', 'echo one\n');
    chmodSync(join(desk.cwd, 'run.sh'), 0o750);
    symlinkSync('run.sh', join(desk.cwd, 'link'));
    await desk.turn('go', ['edit', { filePath: 'run.sh', oldString: 'one', newString: 'two' }], ['bash', { command: 'rm run.sh' }]);
    await desk.command('undo');
    expect(desk.text('run.sh')).toBe('echo one\n');
    expect(statSync(join(desk.cwd, 'run.sh')).mode & 0o7777).toBe(0o750);
    expect(readlinkSync(join(desk.cwd, 'link'))).toBe('run.sh');
  });

  test('a file that the agent made and the user went on with stays', async () => {
    await using desk = await openDesk();
    await desk.turn('go', ['write', { path: 'd.txt', content: 'made\n' }]);
    desk.put('d.txt', 'made\nand more\n');
    expect(await desk.command('undo')).toMatch(/d\.txt: it has been changed since/);
    expect(desk.text('d.txt')).toBe('made\nand more\n');
  });

  test('a folder that leads elsewhere by now is not followed', async () => {
    await using desk = await openDesk();
    desk.put('sub/a.txt', 'one\n');
    desk.put('other/a.txt', 'two\n');
    await desk.turn('go', ['edit', { filePath: 'sub/a.txt', oldString: 'one', newString: 'two' }]);
    rmSync(join(desk.cwd, 'sub'), { recursive: true });
    symlinkSync('other', join(desk.cwd, 'sub'));
    expect(await desk.command('undo')).toMatch(/sub\/a\.txt: its folder leads to another place now/);
    expect(desk.text('other/a.txt')).toBe('two\n');
    expect(lstatSync(join(desk.cwd, 'sub')).isSymbolicLink()).toBe(true);
  });
});
