import { join } from 'node:path';
import { appendFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema } from '../../../kernel/index.ts';
import { hang } from '../../../kernel/testkit/index.ts';
import { hasGit, openDesk } from './desk.ts';

const write = (path: string, content: string) => ['write', { path, content }] as const;

test('nothing to undo is said, and changes nothing', async () => {
  await using desk = await openDesk();
  expect(await desk.command('undo')).toBe('There is nothing to undo.');
  expect(await desk.command('rewind')).toBe('There is nothing to undo.');
  expect(await desk.session.entries()).toEqual([]);
});

test('a running turn is not taken back', async () => {
  await using desk = await openDesk({ script: [hang()] });
  void desk.session.run('go');
  await desk.session.until('turn.started');
  expect(await desk.session.client.command('undo', '')).toMatchObject({ ok: false, code: 'SESSION_BUSY' });
  expect(await desk.session.client.command('rewind', '1')).toMatchObject({ ok: false, code: 'SESSION_BUSY' });
  await desk.session.client.abort();
});

test('all later turns go back together, in storage too; the list names prompts, changes and what can be done', async () => {
  await using desk = await openDesk();
  desk.put('a.txt', 'zero\n');
  await desk.turn('first prompt', ['read', { path: 'a.txt' }], write('a.txt', 'one\n'));
  await desk.turn('second prompt', write('a.txt', 'two\n'), write('b.txt', 'b\n'));
  await desk.turn('third prompt');
  await desk.turn('fourth prompt', write('a.txt', 'four\n'));
  const list = JSON.parse(await desk.command('rewind')) as { head: string[]; rows: { cells: string[]; actions: { command: string }[] }[] };
  expect(list.rows.map(({ cells }) => cells)).toEqual([
    ['1', 'first prompt', '1 file'],
    ['2', 'second prompt', '2 files'],
    ['3', 'third prompt', ''],
    ['4', 'fourth prompt', '1 file'],
  ]);
  expect(list.rows[1]?.actions.map(({ command }) => command)).toEqual(['/rewind 2 preview', '/rewind 2', '/rewind 2 conversation', '/rewind 2 files']);

  const before = await desk.session.entries();
  expect(await desk.command('rewind', '2 preview')).toBe(
    'The conversation would go back to before turn 2.\nFiles that would change:\n  a.txt: put back\n  b.txt: removed',
  );
  expect([desk.text('a.txt'), desk.text('b.txt')]).toEqual(['four\n', 'b\n']);
  expect(await desk.session.entries()).toEqual(before);

  expect(await desk.command('rewind', '2')).toBe('The conversation is back before turn 2.\nFiles:\n  a.txt: put back\n  b.txt: removed');
  expect([desk.text('a.txt'), desk.text('b.txt')]).toEqual(['one\n', undefined]);
  expect(JSON.stringify(await desk.session.entries())).not.toContain('second prompt');
  // A turn of the same number on the new branch has a point of its own.
  await desk.turn('another second', write('c.txt', 'c\n'));
  await desk.command('undo');
  expect([desk.text('a.txt'), desk.text('c.txt')]).toEqual(['one\n', undefined]);
  await desk.command('undo');
  expect(desk.text('a.txt')).toBe('zero\n');
  expect(await desk.command('undo')).toBe('There is nothing to undo.');
});

test('files alone, the conversation alone', async () => {
  await using desk = await openDesk();
  await desk.turn('make it', write('a.txt', 'one\n'));
  expect(await desk.command('rewind', '1 files')).toBe('The conversation stays as it is.\nFiles:\n  a.txt: removed');
  expect(desk.text('a.txt')).toBeUndefined();
  expect(JSON.stringify(await desk.session.entries())).toContain('make it');
  await desk.turn('again', write('b.txt', 'two\n'));
  expect(await desk.command('rewind', '2 conversation')).toBe('The conversation is back before turn 2.');
  expect(desk.text('b.txt')).toBe('two\n');
});

test('what is no prompt of the branch, or no form of the command, is refused', async () => {
  await using desk = await openDesk();
  await desk.turn('one');
  for (const args of ['7', '0', 'x', '1 nothing', '1 files both', '1 preview files'])
    expect(await desk.session.client.command('rewind', args)).toMatchObject({ ok: false, code: 'CLI_USAGE' });
});

test.skipIf(!hasGit)('a call that changes more than it had said is covered in a repository, and listed elsewhere', async () => {
  for (const git of [true, false]) {
    const append = defineTool({
      name: 'append',
      description: 'Appends.',
      input: jsonSchema<{ path: string }>({ type: 'object', properties: { path: { type: 'string' } } }),
      effect: 'write',
      run: ({ path }, { cwd }) => {
        appendFileSync(join(cwd, path), 'more\n');
        return Promise.resolve({ content: 'done', changed: [join(cwd, path)] });
      },
    });
    const other = definePlugin({ name: 'other', apply: ({ registries }) => void registries.tools.add(append) });
    await using desk = await openDesk({ git, plugins: [other] });
    desk.put('a.txt', 'one\n');
    await desk.turn('go', ['append', { path: 'a.txt' }]);
    const said = await desk.command('undo');
    if (git) expect(desk.text('a.txt')).toBe('one\n');
    else expect(said).toMatch(/Not tracked, so not taken back:\n {2}a\.txt: changed by/);
  }
});

test('what a person changes while a question about the call is open is theirs', async () => {
  const asking = definePlugin({
    name: 'asking',
    taps: ['gate'],
    apply: ({ hooks }) => hooks.gate.tap('ask', ({ tool }) => (tool === 'write' || tool === 'bash' ? { ask: 'May it?' } : undefined)),
  });
  await using desk = await openDesk({
    plugins: [asking],
    interactive: true,
    answer: () => {
      appendFileSync(join(desk.cwd, 'a.txt'), 'user\n');
      return 'once';
    },
  });
  desk.put('a.txt', 'one\n');
  await desk.turn('go', ['bash', { command: 'true' }], ['write', { path: 'b.txt', content: 'x' }]);
  const said = await desk.command('undo');
  expect(desk.text('a.txt')).toBe('one\nuser\nuser\n');
  expect(said).not.toContain('a.txt');
});

test('undo goes past a compaction', async () => {
  const compactor = definePlugin({
    name: 'compactor',
    taps: ['compact'],
    apply: ({ hooks, registries }) => {
      hooks.compact.tap('short', ({ cuts }) => ({ summary: 'what was', keepFrom: cuts.at(-1) ?? '' }));
      registries.commands.add({ name: 'short', summary: 'short', run: async (_, at) => void (await at.session.compact('command', at.signal)) });
    },
  });
  await using desk = await openDesk({ plugins: [compactor] });
  await desk.turn('first', write('a.txt', 'one\n'));
  await desk.turn('second');
  await desk.turn('third');
  await desk.command('short');
  await expect.poll(() => desk.session.events('compacted').length).toBe(1);
  await desk.command('rewind', '1');
  expect(desk.text('a.txt')).toBeUndefined();
  expect(await desk.session.entries()).toEqual([]);
});
