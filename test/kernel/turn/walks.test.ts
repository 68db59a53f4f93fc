/** The six walks through the hooks that shaped the catalogue, and the sharp edges found on the way. */
import { expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, z, type Effect, type ToolCall } from 'cast';
import { createTestSession, fail, say, use } from 'cast/testkit';

const tool = (name: string, effect: Effect, run: (input: Record<string, unknown>, call: ToolCall) => Promise<string>) =>
  defineTool({ name, description: name, input: jsonSchema<Record<string, unknown>>({ type: 'object' }), effect, run });

const files = definePlugin({
  name: 'files',
  apply: ({ registries }) => {
    registries.tools.add(tool('read', 'read', async () => 'text'));
    registries.tools.add(tool('write', 'write', async () => 'written'));
  },
});

const planMode = definePlugin({
  name: 'plan-mode',
  apply: ({ hooks, registries, state }) => {
    const mode = state({ name: 'mode', data: z.object({ on: z.boolean() }), initial: { on: false }, fold: (_, data) => data });
    hooks.offer.tap('only readers', { stage: 'mode' }, (offer) => {
      if (mode.value.on) offer.keep((each) => each.effect === 'read', 'plan mode only reads');
    });
    registries.commands.add({ name: 'plan', summary: 'on or off', run: (args) => mode.record({ on: args === 'on' }) });
    registries.commands.add({ name: 'build', summary: 'off', run: async (_, at) => (await mode.record({ on: false }), at.renew()) });
  },
});

test('A: plan mode narrows the tools', async () => {
  await using session = await createTestSession({
    plugins: [files, planMode],
    script: [use(['write', {}], ['read', {}]), say('done'), use('write'), say('ok'), use('write'), say('no')],
  });
  await session.client.command('plan', 'on');
  await session.run('look');
  expect(session.requests[0]?.tools.map((each) => each.name)).toEqual(['read']);
  expect(session.results()).toMatchObject([{ status: 'denied', content: 'write is not available: plan mode only reads (plan-mode)' }, { status: 'ok' }]);
  await session.client.command('build', '');
  await session.run('build');
  expect(session.requests[2]?.tools.map((each) => each.name)).toEqual(['read', 'write']);
  expect(session.results().at(-1)).toMatchObject({ tool: 'write', status: 'ok' });
  // Without a renewal the list stays as it was, so that the provider's cache holds, and the call is refused with the reason.
  await session.client.command('plan', 'on');
  await session.run('look again');
  expect(session.requests.at(-1)?.tools).toEqual(session.requests[2]?.tools);
  expect(session.results().at(-1)).toMatchObject({ status: 'denied', content: expect.stringMatching(/plan mode only reads/) });
});

test('A: the mode survives a resume', async () => {
  const first = await createTestSession({ plugins: [files, planMode], script: [say('hi')] });
  await first.client.command('plan', 'on');
  await first.run('x');
  await using next = await createTestSession({ plugins: [files, planMode], script: [use('write'), say('ok')], store: first.store, session: first.id });
  await next.run('y');
  expect(next.results()).toMatchObject([{ status: 'denied' }]);
  await first.close();
});

const wire = definePlugin({
  name: 'wire',
  apply: ({ hooks }) => {
    const strip = (text: string) => text.replace(/<x:(\w+)[^>]*>[\s\S]*?<\/x:\1>/g, '');
    hooks.stream.tap('hide tags', (pipe) => {
      let held = '';
      pipe.add({
        push: (text) => {
          held = strip(held + text);
          const cut = held.search(/<(x(:[\s\S]*)?)?$/);
          const out = cut < 0 ? held : held.slice(0, cut);
          held = cut < 0 ? '' : held.slice(cut);
          return out;
        },
        end: () => (held.startsWith('<x:') ? '' : held),
      });
    });
    hooks.reply.tap('structure and meaning', (review) => {
      const how = { final: review.before >= 2 };
      if ([...review.raw.matchAll(/<x:/g)].length !== [...review.raw.matchAll(/<\/x:/g)].length) review.reject('unclosed <x:…>', how);
      if (/<x:query(?![^>]*target)/.test(review.raw)) review.reject('query without target', how);
      review.show(strip(review.raw).trim());
    });
  },
});

test('B: a plugin validates a reply, hides what is internal and retries', async () => {
  await using session = await createTestSession({
    plugins: [wire],
    script: [say('Hi <x', ':internal>secret', ' no end <x:query>q'), say('Hi <x:inter', 'nal>sec', 'ret</x:inte', 'rnal>there, 1 <', ' 2')],
  });
  const end = await session.run('hello');
  expect(end.reason).toBe('stop');
  const second = JSON.stringify(session.requests[1]?.messages);
  expect(second).toContain('unclosed');
  expect(second).toContain('query without target');
  const shown = session
    .events('text.delta')
    .map((event) => event.text)
    .join('');
  expect(shown).not.toMatch(/secret|<x/);
  const [retracted] = session.events('text.retracted');
  expect(shown.slice(retracted?.chars)).toBe('Hi there, 1 < 2');
  expect(session.text()).toBe('Hi there, 1 < 2');
  // What the model wrote goes back to the model and to nobody else.
  expect(JSON.stringify(session.all())).not.toContain('secret');
  expect((await session.entries()).findLast((entry) => entry.kind === 'message')).toMatchObject({ data: { raw: expect.stringContaining('<x:internal>') } });
});

test('B: it gives up with its reasons, and the reply turned back has left the view once a retry is accepted', async () => {
  await using session = await createTestSession({
    plugins: [wire],
    script: [say('<x:internal>'), say('<x:internal>'), say('<x:internal>'), say('fine'), say('fine')],
  });
  const end = await session.run('x');
  expect(end).toMatchObject({ reason: 'error', exitCode: 1 });
  expect(session.events('error')).toMatchObject([{ code: 'REPLY_REJECTED', message: 'unclosed <x:…> (wire)' }]);
  expect(session.requests).toHaveLength(3);
  await session.run('y');
  await session.run('z');
  expect(JSON.stringify(session.requests.at(-1)?.messages)).not.toContain('unclosed');
});

const compaction = (keepFrom: (cuts: readonly string[], ids: readonly string[]) => string | undefined) =>
  definePlugin({
    name: 'compaction',
    apply: ({ hooks }) => {
      hooks.failure.tap('make room', async (failure, at) =>
        failure.kind === 'overflow' && failure.seen === 1 && (await at.session.compact('overflow', at.signal)) ? { retry: { reason: 'compacted' } } : undefined,
      );
      hooks.compact.tap('summarise', (job) => {
        const cut = keepFrom(
          job.cuts,
          job.messages.map((message) => message.id),
        );
        return cut === undefined ? { cancel: 'nothing to cut' } : { summary: 'SUMMARY', keepFrom: cut };
      });
    },
  });

test('C: an overflow in the middle of a turn is compacted and the turn goes on', async () => {
  await using session = await createTestSession({
    plugins: [files, compaction((cuts) => cuts[0])],
    script: [say('old answer'), use('read'), fail('overflow'), say('fine')],
  });
  await session.run('old');
  expect(await session.run('new')).toMatchObject({ reason: 'stop' });
  const sent = session.requests.at(-1)?.messages ?? [];
  expect(sent.map((message) => message.role)).toEqual(['user', 'user', 'assistant', 'tool']);
  expect(JSON.stringify(sent[0])).toContain('SUMMARY');
  expect(JSON.stringify(sent[1])).toContain('new');
  expect(session.events('compacted')).toHaveLength(1);
  // The history itself is whole.
  expect(JSON.stringify(await session.entries())).toContain('old answer');
});

test('C: a cut at a step of the running turn carries its prompt along', async () => {
  await using session = await createTestSession({
    plugins: [files, compaction((cuts) => cuts.at(-1))],
    script: [use('read'), use('read'), fail('overflow'), say('fine')],
  });
  await session.run('the one prompt');
  const sent = session.requests.at(-1)?.messages ?? [];
  expect(sent.map((message) => message.role)).toEqual(['user', 'user', 'assistant', 'tool']);
  expect(JSON.stringify(sent[1])).toContain('the one prompt');
});

test('C: a second overflow ends the turn with the provider’s error', async () => {
  await using session = await createTestSession({
    plugins: [compaction((cuts) => cuts[0])],
    script: [say('a'), fail('overflow'), fail('overflow', 'too long')],
  });
  await session.run('x');
  expect(await session.run('y')).toMatchObject({ reason: 'error', exitCode: 1 });
  expect(session.events('error')).toMatchObject([{ code: 'MODEL_OVERFLOW', message: 'too long' }]);
});

test('C: a cut between a call and its result is refused, counted against the plugin, and the history stays whole', async () => {
  await using session = await createTestSession({ plugins: [files, compaction((_, ids) => ids.at(-1))], script: [use('read'), fail('overflow', 'too long')] });
  expect(await session.run('x')).toMatchObject({ reason: 'error' });
  expect(session.events('tap.fault')).toMatchObject([{ plugin: 'compaction', hook: 'failure', message: expect.stringMatching(/part a call from its result/) }]);
  expect((await session.entries()).some((entry) => entry.kind === 'compaction')).toBe(false);
});

test('D: a worktree changes the directory after its batch', async () => {
  const seen: string[] = [];
  const moves: string[] = [];
  const shell = definePlugin({
    name: 'shell-like',
    apply: ({ registries, session, hooks }) => {
      registries.tools.add(tool('bash', 'exec', async (_, call) => (seen.push(call.cwd), 'ok')));
      registries.tools.add(tool('worktree', 'exec', async (input) => (session.moveTo(String(input['path'])), 'moved')));
      hooks.moved.tap('rescan', (move) => void moves.push(`${move.from}>${move.to}`));
    },
  });
  await using session = await createTestSession({ plugins: [shell], script: [use(['bash'], ['worktree', { path: '/wt' }], ['bash']), use('bash'), say('ok')] });
  await session.run('go');
  expect(seen).toEqual([session.cwd, session.cwd, '/wt']);
  expect(moves).toEqual([`${session.cwd}>/wt`]);
  expect((await session.entries()).some((entry) => entry.kind === 'workspace')).toBe(true);
});

test('E: tools that appear in the middle of a turn are shown after a renewal, and early calls are answered', async () => {
  let connect: (() => void) | undefined;
  const mcp = definePlugin({
    name: 'mcp-like',
    apply: ({ registries }) => {
      connect ??= () => void registries.tools.add(tool('db__query', 'read', async () => 'rows'));
    },
  });
  await using session = await createTestSession({
    plugins: [mcp],
    script: [
      function* () {
        connect?.();
        yield { type: 'call', id: 'x', tool: 'db__query', arguments: '{}' };
        yield { type: 'end', reason: 'calls' };
      },
      say('no'),
      use('db__query'),
      say('yes'),
    ],
  });
  await session.run('one');
  expect(session.requests.slice(0, 2).map((request) => request.tools.length)).toEqual([0, 0]);
  expect(session.results()).toMatchObject([{ status: 'error', content: expect.stringMatching(/no tool named "db__query"/) }]);
  await session.run('two');
  expect(session.results().at(-1)).toMatchObject({ content: 'rows' });
});

test('F: an abort during tools gives each call one result, in order', async () => {
  const ended: unknown[] = [];
  const slow = definePlugin({
    name: 'slow',
    apply: ({ registries, hooks }) => {
      registries.tools.add(
        tool('polite', 'read', (_, call) => new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(new Error('killed'))))),
      );
      registries.tools.add(tool('deaf', 'read', () => new Promise((resolve) => setTimeout(() => resolve('late'), 4000).unref())));
      registries.tools.add(tool('quick', 'read', async () => 'kept'));
      hooks.ended.tap('note', (end, turn) => void ended.push([end.reason, turn.signal.aborted]));
    },
  });
  await using session = await createTestSession({ plugins: [slow], script: [use(['polite'], ['deaf'], ['quick']), say('next turn')] });
  void session.until('tool.ended').then(() => session.client.abort());
  const startedAt = performance.now();
  const end = await session.run('go');
  expect(end).toMatchObject({ reason: 'aborted', exitCode: 130 });
  expect(performance.now() - startedAt).toBeLessThan(3500);
  expect(ended).toEqual([['aborted', false]]);
  expect(await session.run('again')).toMatchObject({ reason: 'stop' });
  expect(session.results().map((result) => result.status)).toEqual(['aborted', 'aborted', 'ok']);
});
