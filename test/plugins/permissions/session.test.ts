import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type CastConfig, type Grant, type QuestionDraft } from '../../../kernel/index.ts';
import { createMemoryStore, createTestSession, say, use, type Beat, type TestSessionOptions } from '../../../kernel/testkit/index.ts';
import permissions from '../../../plugins/permissions/index.ts';
import shell from '../../../plugins/shell/index.ts';

/** A `bash` that only notes what it was told. */
const recorder = (ran: string[]) =>
  definePlugin({
    name: 'recorder',
    apply({ registries }) {
      registries.tools.add(
        defineTool({
          name: 'bash',
          description: 'Notes a command.',
          input: jsonSchema<{ command: string }>({ type: 'object', required: ['command'], properties: { command: { type: 'string' } } }),
          effect: 'exec',
          run: async ({ command }) => {
            ran.push(command);
            return 'ok';
          },
        }),
      );
    },
  });

const run = async (commands: readonly string[], options: TestSessionOptions = {}) => {
  const ran: string[] = [];
  const script: Beat[] = [...commands.map((command) => use('bash', { command })), say('done')];
  await using session = await createTestSession({ plugins: [shell as never, permissions as never, recorder(ran) as never], script, ...options });
  const ended = await session.run('go');
  return { ran, ended, results: session.events('tool.ended'), answered: session.events('question.answered'), asked: session.events('question.asked') };
};

describe('permissions in a session', () => {
  test('a dangerous command without anybody to ask is denied, and the model is told what to do', async () => {
    const { ran, results, ended } = await run(['rm -rf keep', 'touch a']);
    expect(ran).toEqual(['touch a']);
    expect(results[0]).toMatchObject({ status: 'denied', error: { code: 'PERMISSION_DENIED' } });
    expect(results[0]?.content).toMatch(/dangerous pattern \(rm with -r or -f\)[\s\S]*--allow 'bash\(rm -rf keep\)'/);
    expect(ended.exitCode).toBe(0);
  });
  test('an allow rule lets it run', async () => {
    expect((await run(['rm -rf keep'], { config: { permissions: { allow: ['bash(rm -rf keep)'] } } })).ran).toEqual(['rm -rf keep']);
  });
  test('bypass answers once; deny rules stay', async () => {
    const { ran, results, answered } = await run(['rm -rf keep', 'git push'], { config: { permissions: { mode: 'bypass', deny: ['bash(git push:*)'] } } });
    expect(ran).toEqual(['rm -rf keep']);
    expect(answered).toMatchObject([{ choice: 'once', by: 'permissions' }]);
    expect(results[1]).toMatchObject({ status: 'denied' });
    expect(results[1]?.content).toContain('the rule bash(git push:*) (flags) denies it');
  });
  test.each<[string, CastConfig]>([
    ['bypass', { permissions: { mode: 'bypass' } }],
    ['a rule that covers what it names', { permissions: { allow: ['bash(ls)'] } }],
  ])('a question that is not about a call is not answered by %s', async (_, config) => {
    const seen: unknown[] = [];
    const choices = [{ value: 'once', label: 'Yes' }];
    const fields = [{ question: 'Which?', options: [...choices, { value: 'no', label: 'No' }], recommended: 'once' }];
    const drafts: readonly QuestionDraft[] = [
      { kind: 'judge', text: 'sure?', choices, rules: ['bash(ls)'] },
      { kind: 'command', text: 'sure?', choices, rules: ['bash(ls)'] },
      { kind: 'question', text: 'Which?', choices: [], fields, standing: true, rules: ['bash(ls)'] },
      { kind: 'tool', text: 'sure?', choices, rules: ['bash(ls)'] },
    ];
    const asker = definePlugin({
      name: 'asker',
      apply: ({ hooks, session }) =>
        hooks.prepare.tap('ask', async ({ signal }) => {
          for (const draft of drafts) seen.push(await session.ask(draft, signal));
        }),
    });
    await using session = await createTestSession({ plugins: [shell as never, permissions as never, asker as never], script: [say('done')], config });
    await session.run('go');
    const unanswered = { choice: 'reject', by: 'nobody' };
    expect(seen).toEqual([unanswered, unanswered, unanswered, { choice: 'once', by: 'permissions' }]);
  });
  test('a malformed rule stops the session from opening', async () => {
    await expect(run([], { config: { permissions: { allow: ['bash('] } } })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test('a yes for this session covers the very command and no other (B072)', async () => {
    const { ran, asked } = await run(['touch 1.txt', 'touch 1.txt', 'rm 1.txt', 'touch ~/x'], {
      config: { permissions: { mode: 'ask' } },
      interactive: true,
      answer: ({ rules }) => (rules[0] === 'bash(touch 1.txt)' ? 'session' : 'reject'),
    });
    expect(ran).toEqual(['touch 1.txt', 'touch 1.txt']);
    expect(asked.map(({ question }) => question.rules)).toEqual([['bash(touch 1.txt)'], ['bash(rm 1.txt)'], ['bash(touch ~/x)']]);
  });
  test('it is kept when the session goes on, and unknown to a new one', async () => {
    const store = createMemoryStore({ now: () => 0, sleep: async () => undefined });
    const options: TestSessionOptions = { config: { permissions: { mode: 'ask' } }, interactive: true, store, cwd: '/tmp' };
    const ran: string[] = [];
    const plugins = [shell as never, permissions as never, recorder(ran) as never];
    const script = (): Beat[] => [use('bash', { command: 'touch 1.txt' }), say('done')];
    let asked = 0;
    const open = (more: Partial<TestSessionOptions>) =>
      createTestSession({ ...options, plugins, script: script(), answer: () => (++asked === 1 ? 'session' : 'reject'), ...more });
    const first = await open({});
    await first.run('go');
    await first.close();
    const again = await open({ session: first.id });
    await again.run('go');
    await again.close();
    expect([ran.length, asked]).toEqual([2, 1]);
    const fresh = await open({});
    await fresh.run('go');
    await fresh.close();
    expect([ran.length, asked]).toEqual([2, 2]);
  });
  test('a remembered answer never speaks for a call about which there is no rule to remember', async () => {
    const guard = definePlugin({ name: 'guard', apply: ({ hooks }) => hooks.gate.tap('ask', () => ({ ask: 'sure?', rule: 'bash(ls)' })) });
    const ran: string[] = [];
    await using session = await createTestSession({
      plugins: [shell as never, permissions as never, guard as never, recorder(ran) as never],
      script: [use('bash', { command: 'rm -rf x:*' }), use('bash', { command: 'ls' }), say('done')],
      config: { permissions: { allow: ['bash(ls)'] } },
    });
    await session.run('go');
    expect(ran).toEqual(['ls']);
  });

  test('/permissions shows rules, changes them and the mode', async () => {
    const ran: string[] = [];
    const grants: (readonly Grant[])[] = [];
    const reader = definePlugin({
      name: 'reader',
      uses: ['grants'],
      apply: ({ hooks, services }) => hooks.prepare.tap('read', () => void grants.push(services.get('grants').list())),
    });
    await using session = await createTestSession({
      plugins: [shell as never, permissions as never, recorder(ran) as never, reader as never],
      script: [use('bash', { command: 'touch a' }), say('one'), use('bash', { command: 'touch a' }), say('two')],
    });
    const command = (args: string) => session.client.command('permissions', args);
    expect(await command('ask')).toMatchObject({ ok: true });
    await session.run('go');
    expect(ran).toEqual([]);
    expect(await command('allow --project bash(touch:*)')).toMatchObject({ ok: true });
    expect(await command('deny bash(sudo:*)')).toMatchObject({ ok: true });
    await session.run('go');
    expect(ran).toEqual(['touch a']);
    expect(grants.at(-1)).toEqual([
      { rule: 'bash(sudo:*)', decision: 'deny', from: 'session' },
      { rule: 'bash(touch:*)', decision: 'allow', from: 'project' },
    ]);
    expect(JSON.stringify(await command(''))).toMatch(/Mode: ask.*bash\(touch:\*\)/);
    expect(await command('revoke bash(touch:*)')).toMatchObject({ ok: true });
    expect(await command('revoke bash(touch:*)')).toMatchObject({ ok: false, code: 'CLI_USAGE' });
    expect(await command('allow bash(')).toMatchObject({ ok: false, code: 'CLI_USAGE' });
    expect(await command('nonsense')).toMatchObject({ ok: false, code: 'CLI_USAGE' });
  });
});
