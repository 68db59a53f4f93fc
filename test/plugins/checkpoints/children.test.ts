/** What child sessions change is taken back with the turn that ordered it. */
import { describe, expect, test } from 'vitest';
import { answering, delegatePlugin } from '../../kernel/session/delegate.ts';
import { say, use } from '../../../kernel/testkit/index.ts';
import { hasGit, numbered, openDesk, type Desk } from './desk.ts';

const A = numbered(60);
const task = (effect: 'read' | 'exec') => ({ plugins: [delegatePlugin(undefined, effect) as never] });

/** The child edits one file, and changes one and makes another by a command. */
const play = async (desk: Desk): Promise<void> => {
  for (const name of ['a.txt', 'b.txt']) desk.put(name, A);
  if (desk.isRepository) {
    desk.git('add', '.');
    desk.git('commit', '-qm', 'first');
  }
  await desk.turn('first', ['read', { path: 'a.txt' }]);
  await desk.turn(
    'hand it over',
    ['task', { prompt: 'change things' }],
    ['edit', { filePath: 'a.txt', oldString: 'line 50\n', newString: 'child 50\n' }],
    ['edit', { filePath: 'a.txt', oldString: 'child 50\n', newString: 'child again\n' }],
    ['write', { path: 'made.txt', content: 'made\n' }],
    ['bash', { command: "sed -i 's/^line 30$/child 30/' b.txt; rm made.txt; echo new > by-command.txt" }],
  );
};

describe.skipIf(!hasGit).each(['read', 'exec'] as const)('in a repository, by a tool that says it %ss', (effect) => {
  test('/undo takes all of it back, and the next turn has a point of its own', async () => {
    await using desk = await openDesk({ git: true, ...task(effect) });
    await play(desk);
    expect(desk.text('a.txt')).toContain('child again');
    const said = await desk.command('undo');
    expect(said).not.toMatch(/Conflict/);
    expect([desk.text('a.txt'), desk.text('b.txt'), desk.text('made.txt'), desk.text('by-command.txt')]).toEqual([A, A, undefined, undefined]);
    await desk.turn('again', ['task', { prompt: 'change' }], ['write', { path: 'other.txt', content: 'x\n' }]);
    desk.put('a.txt', 'the user\n');
    await desk.command('undo');
    expect([desk.text('a.txt'), desk.text('other.txt')]).toEqual(['the user\n', undefined]);
  });
});

test('without git: what its tools declare comes back, what its command changed is listed', async () => {
  await using desk = await openDesk({ ...task('read') });
  await play(desk);
  const said = await desk.command('undo');
  expect([desk.text('a.txt'), desk.text('made.txt')]).toEqual([A, undefined]);
  expect(said).toMatch(/b\.txt/);
});

test('two children that write at a time: each change is kept', async () => {
  const beats = answering((prompt, results) => {
    if (prompt !== 'both') return results.length === 0 ? use('write', { path: `${prompt}.txt`, content: `${prompt}\n` }) : say('done');
    return results.length === 0 ? use(['task', { prompt: 'one' }, 'c1'], ['task', { prompt: 'two' }, 'c2']) : say('done');
  });
  await using desk = await openDesk({ ...task('read'), script: beats });
  await desk.session.run('both');
  expect([desk.text('one.txt'), desk.text('two.txt')]).toEqual(['one\n', 'two\n']);
  await desk.command('undo');
  expect([desk.text('one.txt'), desk.text('two.txt')]).toEqual([undefined, undefined]);
});
