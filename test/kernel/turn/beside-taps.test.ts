/** Code of a plugin that is no tap, and calls that no sane model would make. */
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema } from 'cast';
import { createTestSession, say, use, type Beat } from 'cast/testkit';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const toolbox = (name: string, run: (input: Record<string, unknown>) => Promise<string>) =>
  definePlugin({
    name: 'toolbox',
    apply: ({ registries }) =>
      void registries.tools.add(defineTool({ name, description: name, input: jsonSchema<Record<string, unknown>>({ type: 'object' }), effect: 'write', run })),
  });

describe('absurd calls', () => {
  test('deeply nested arguments are refused, odd details left out, a name in another case understood', async () => {
    const odd = definePlugin({
      name: 'odd',
      apply: ({ registries }) => {
        const cyclic: Record<string, unknown> = { big: 7n };
        cyclic['self'] = cyclic;
        registries.tools.add(
          defineTool({
            name: 'odd',
            description: 'x',
            effect: 'read',
            input: jsonSchema<object>({ type: 'object' }),
            run: async () => ({ content: 'fine', details: cyclic }),
          }),
        );
        registries.tools.add(
          defineTool({
            name: 'bare',
            description: 'x',
            effect: 'read',
            input: jsonSchema<object>({ type: 'object' }),
            run: async () => Promise.reject(Object.create(null)),
          }),
        );
      },
    });
    const deep = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    await using session = await createTestSession({ plugins: [odd], script: [use(['odd', deep], ['ODD'], ['bare'], ['x'.repeat(50_000)]), say('done')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.results()).toMatchObject([
      { status: 'error', error: { code: 'INVALID_ARGUMENT' } },
      { status: 'ok', content: 'fine' },
      { status: 'error' },
      { status: 'error' },
    ]);
    expect(session.results().at(-1)?.content.length).toBeLessThan(500);
  });
});

describe('code of a plugin that is no tap', () => {
  test('a filter that throws ends the turn in its name, and is not retried', async () => {
    const filtering = definePlugin({
      name: 'filtering',
      apply: ({ hooks }) =>
        hooks.stream.tap('f', (pipe) =>
          pipe.add({
            push: () => {
              throw new Error('filter broke');
            },
            end: () => '',
          }),
        ),
    });
    await using session = await createTestSession({ plugins: [filtering], script: [say('secret')] });
    expect(await session.run('go')).toMatchObject({ reason: 'error' });
    expect(session.events('tap.fault')).toMatchObject([{ plugin: 'filtering', hook: 'stream', message: 'filter broke' }]);
    expect(session.events('error')).toMatchObject([{ code: 'HOOK_FAULT' }]);
    expect(session.events('text.delta')).toEqual([]);
  });

  test('a section and a panel that throw are left out, and named', async () => {
    const boom = (): never => {
      throw new Error('drawn badly');
    };
    const drawing = definePlugin({
      name: 'drawing',
      apply: ({ registries }) => {
        registries.sections.add({ name: 's', slot: 'conduct', text: boom });
        registries.panels.add({ name: 'p', place: 'side', draw: boom });
      },
    });
    await using session = await createTestSession({ plugins: [drawing], script: [say('x')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect((await session.client.snapshot()).panels).toEqual([]);
    // The snapshot and what its drawing said are read on their own ways.
    await pause(20);
    expect(session.events('tap.fault').map((fault) => [fault.plugin, fault.hook])).toEqual([
      ['drawing', 'section'],
      ['drawing', 'panel'],
    ]);
  });

  test('what a filter hid stays hidden in a reply that was stopped', async () => {
    const hiding = definePlugin({
      name: 'hiding',
      apply: ({ hooks }) => hooks.stream.tap('h', (pipe) => pipe.add({ push: (text) => text.replace('INTERNAL', ''), end: () => '' })),
    });
    const half: Beat = async function* (_, signal) {
      yield { type: 'text', text: 'hi INTERNAL there' };
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    await using session = await createTestSession({ plugins: [hiding], script: [half, say('x')] });
    void session.until('text.delta').then(() => session.client.abort());
    await session.run('go');
    expect(JSON.stringify([await session.client.page(), session.all()])).not.toContain('INTERNAL');
    await session.run('on');
    // The model reads what it wrote.
    expect(session.requests.at(-1)?.messages.find((message) => message.role === 'assistant')?.raw).toBe('hi INTERNAL there');
  });

  test('a gate cannot change an input that others have approved', async () => {
    const meddling = definePlugin({
      name: 'meddling',
      apply: ({ hooks }) => hooks.gate.tap('change', { stage: 'late' }, (call) => void Object.assign(call.input, { path: 'elsewhere' })),
    });
    await using session = await createTestSession({
      plugins: [toolbox('write', async (input) => String(input['path'])), meddling],
      script: [use('write', { path: 'here' }), say('x')],
    });
    await session.run('go');
    expect(session.results()[0]?.status).toBe('denied');
  });
});

test('a tool that stands for another is judged, shown and run as the other', async () => {
  const seen: unknown[] = [];
  const inner = defineTool({
    name: 'db__drop',
    description: 'x',
    effect: 'write',
    input: jsonSchema<{ table: string }>({ type: 'object', properties: { table: { type: 'string' } }, required: ['table'] }),
    run: async ({ table }) => `dropped ${table}`,
  });
  const calling = definePlugin({
    name: 'calling',
    apply: ({ registries, hooks }) => {
      registries.tools.add(
        defineTool({
          name: 'call',
          description: 'x',
          effect: 'read',
          input: jsonSchema<{ name: string; input: unknown }>({ type: 'object', required: ['name'] }),
          resolve: ({ name, input }) => (name === 'db__drop' ? { tool: inner, input } : undefined),
          run: async ({ name }) => `there is no ${name}`,
        }),
      );
      hooks.gate.tap('look', (call) => void seen.push([call.tool, call.effect, call.input]));
    },
  });
  const calls = [
    ['call', { name: 'db__drop', input: { table: 't' } }],
    ['call', { name: 'db__drop', input: {} }],
    ['call', { name: 'nope' }],
  ] as const;
  await using session = await createTestSession({ plugins: [calling], script: [use(...calls), say('done')] });
  await session.run('go');
  expect(seen).toEqual([
    ['db__drop', 'write', { table: 't' }],
    ['call', 'read', { name: 'nope' }],
  ]);
  expect(session.results()).toMatchObject([
    { content: 'dropped t' },
    { status: 'error', content: expect.stringMatching(/table/) },
    { content: 'there is no nope' },
  ]);
  expect(session.events('tool.started')[0]).toMatchObject({ tool: 'db__drop', input: { table: 't' } });
});
