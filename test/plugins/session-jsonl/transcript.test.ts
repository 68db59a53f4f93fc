/** Transcripts on a real disk: what stands in them, in which order, and what becomes of them after a crash. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type Plugin, type SessionRecordLine, type Store } from '../../../kernel/index.ts';
import { systemClock } from '../../../kernel/host/clock.ts';
import {
  createMemoryStore,
  createTestSession,
  fail,
  say,
  think,
  use,
  type Beat,
  type TestSession,
  type TestSessionOptions,
} from '../../../kernel/testkit/index.ts';
import plugin from '../../../plugins/session-jsonl/index.ts';
import { loadTranscript } from '../../../plugins/session-jsonl/load.ts';
import usage from '../../../plugins/usage/index.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cast-transcript-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const input = jsonSchema<{ ms?: number }>({ type: 'object', properties: { ms: { type: 'number' } } });
const tools = definePlugin({
  name: 'tools',
  apply: ({ registries, hooks }) => {
    registries.tools.add(
      defineTool({
        name: 'wait',
        description: 'waits',
        input,
        effect: 'read',
        run: async ({ ms = 0 }) => {
          await new Promise((resolve) => setTimeout(resolve, ms));
          return `waited ${ms}`;
        },
      }),
    );
    hooks.gate.tap('no', (call) => ((call.input as { ms?: number }).ms === 13 ? { deny: 'unlucky' } : undefined));
    hooks.reply.tap('no', (review) => {
      if (review.raw.includes('bad')) review.reject('not good');
    });
  },
}) as Plugin;

const open = (script: readonly Beat[], more: Partial<TestSessionOptions> = {}): Promise<TestSession> =>
  createTestSession({ plugins: [plugin as never, usage as never, tools], script, config: { plugins: { 'session-jsonl': { folder } } }, ...more });
const fileOf = (id: string): string => join(folder, `${id}.jsonl`);
const recordsIn = (id: string): readonly SessionRecordLine[] =>
  readFileSync(fileOf(id), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SessionRecordLine);
const typesIn = (id: string): readonly string[] => recordsIn(id).map(({ type }) => type);

describe('records', () => {
  test('stand in the order of the turn, outputs in the order of their calls', async () => {
    const session = await open([
      use(['wait', { ms: 30 }, 'slow'], ['wait', { ms: 0 }, 'fast'], ['wait', { ms: 13 }, 'no'], ['wait', '{"ms":', 'torn']),
      think('hm', 'done'),
    ]);
    await session.run('go');
    await session.close();
    const records = recordsIn(session.id);
    expect(records.map(({ type, call_id: call }) => (call === undefined ? type : `${type} ${String(call)}`))).toEqual([
      'session_meta',
      'task_start',
      'message',
      'turn_usage',
      ...['slow', 'fast', 'no', 'torn'].map((id) => `function_call ${id}`),
      ...['slow', 'fast', 'no', 'torn'].map((id) => `function_call_output ${id}`),
      'turn_usage',
      'reasoning',
      'message',
      'task_complete',
    ]);
    expect(records[0]).toMatchObject({ format_version: 1, session_id: session.id, working_directory: session.cwd, model: 'script-model', tools: ['wait'] });
    expect(records.find(({ call_id: call }) => call === 'torn')).toMatchObject({ arguments: '{"ms":', arguments_parse_error: expect.any(String) });
    expect(records.at(-1)).toMatchObject({
      subtype: 'success',
      is_error: false,
      result: 'done',
      turn_count: 2,
      tool_call_count: 4,
      usage: { input_tokens: 200, output_tokens: 20, total_tokens: 220 },
      permission_denials: [{ call_id: 'no', tool_name: 'wait', reason: 'unlucky' }],
    });
    expect(statSync(fileOf(session.id)).mode & 0o777).toBe(0o600);
    expect(existsSync(`${fileOf(session.id)}.lock`)).toBe(false);
    expect(await loadTranscript(fileOf(session.id))).toMatchObject({ open: [], tornLine: undefined });
  });

  test.each<readonly [string, readonly Beat[], object]>([
    [
      'a limit',
      [use('wait', {}), use('wait', {})],
      { subtype: 'limit_exceeded', is_error: true, limit: 'max_turns', error: expect.stringContaining('TURN_LIMIT') },
    ],
    ['a broken reply', [fail('network', 'gone', { after: 'half' })], { subtype: 'cut_off', is_error: true, error: expect.stringContaining('DISCONNECTED') }],
    ['a refused key', [fail('auth', 'no')], { subtype: 'error_during_execution', is_error: true, error: expect.stringContaining('MODEL_AUTH') }],
    ['a reply that is turned back', [say('bad'), say('good')], { subtype: 'success', result: 'good', turn_count: 2 }],
  ])('%s ends with exactly one outcome', async (_, script, outcome) => {
    const session = await open(script, { config: { limits: { maxSteps: 2 }, plugins: { 'session-jsonl': { folder } } } });
    await session.run('go');
    await session.close();
    expect(recordsIn(session.id).filter(({ type }) => type === 'task_complete')).toEqual([expect.objectContaining(outcome)]);
    await loadTranscript(fileOf(session.id));
  });

  test('an abort closes its calls and its task', async () => {
    const session = await open([use('wait', { ms: 60_000 })]);
    const end = session.run('go');
    await session.until('tool.started');
    await session.client.abort();
    expect(await end).toMatchObject({ reason: 'aborted' });
    await session.close();
    expect(typesIn(session.id).slice(-2)).toEqual(['function_call_output', 'task_complete']);
    expect(recordsIn(session.id).at(-1)).toMatchObject({ subtype: 'interrupted', is_error: true });
  });

  test('a session that is gone on with continues its file; a rewind is told', async () => {
    const store = createMemoryStore(systemClock);
    const first = await open([say('one')], { store });
    await first.run('a');
    await first.close();
    const again = await open([say('two'), say('three')], { store, session: first.id });
    await again.run('b');
    await again.client.rewind({ turn: 2 });
    await again.run('c');
    await again.close();
    const turn = ['task_start', 'message', 'turn_usage', 'message', 'task_complete'];
    expect(typesIn(first.id)).toEqual(['session_meta', ...turn, ...turn, 'branch_changed', ...turn]);
  });

  test('off it writes nothing', async () => {
    await using session = await open([say('one')], { config: {} });
    await session.run('a');
    expect(existsSync(fileOf(session.id))).toBe(false);
    expect((await session.report()).plugins.find(({ name }) => name === 'session-jsonl')?.state).toBe('waiting');
  });
});

describe('after a crash', () => {
  /** A session of two turns, and its transcript. */
  const whole = async (store: Store): Promise<string> => {
    const session = await open([use(['wait', { ms: 3 }, 'a'], ['wait', {}, 'b']), say('one, 日本'), use('wait', {}), say('two')], { store });
    await session.run('first');
    await session.run('second');
    await session.close();
    return session.id;
  };
  const content = (records: readonly SessionRecordLine[]): readonly unknown[] =>
    records.filter(({ type }) => type !== 'torn_line').map(({ type, seq, call_id: call }) => [type, seq, call]);

  test('wherever the file was cut: what is missing is written, nothing twice, and it can be read', async () => {
    const store = createMemoryStore(systemClock);
    const id = await whole(store);
    const bytes = readFileSync(fileOf(id));
    const records = recordsIn(id);
    const header = bytes.indexOf(0x0a) + 1;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: header, max: bytes.length }), async (cut) => {
        writeFileSync(fileOf(id), bytes);
        truncateSync(fileOf(id), cut);
        const session = await open([say('three')], { store, session: id });
        await session.run('third');
        await session.close();
        await loadTranscript(fileOf(id));
        const text = readFileSync(fileOf(id), 'utf8').split('\n');
        expect(text.at(-1)).toBe('');
        const read: SessionRecordLine[] = [];
        await loadTranscript(fileOf(id), (record) => read.push(record));
        expect(content(read).slice(0, records.length)).toEqual(content(records));
        await session.close();
        // The next run begins from the same place.
        await rewound(store, id);
      }),
      { numRuns: 30 },
    );
  }, 60_000);
  /** Takes the third turn off the branch again. */
  const rewound = async (store: Store, id: string): Promise<void> => {
    const branch = await store.branch(id);
    const at = branch.findIndex((entry) => entry.kind === 'turn' && entry.data.phase === 'start' && entry.data.turn > 2);
    const { epoch, release } = await store.claim(id);
    await store.append(id, [], { epoch, head: branch[at - 1]?.id ?? null });
    await release();
  };

  test('a torn line stays, is named, and merges with nothing', async () => {
    const store = createMemoryStore(systemClock);
    const id = await whole(store);
    const bytes = readFileSync(fileOf(id));
    truncateSync(fileOf(id), bytes.length - 20);
    expect(await loadTranscript(fileOf(id))).toMatchObject({ tornLine: bytes.toString().trimEnd().split('\n').length });
    const session = await open([say('three')], { store, session: id });
    await session.run('third');
    expect(session.events('warning').filter(({ code }) => code === 'TRANSCRIPT')).toEqual([
      { text: expect.stringMatching(/^Line \d+ of .* is unfinished/), code: 'TRANSCRIPT' },
    ]);
    await session.close();
    const lines = readFileSync(fileOf(id), 'utf8').split('\n');
    const torn = lines.findIndex((line) => line.includes('torn_line'));
    expect(JSON.parse(lines[torn] ?? '')).toEqual({ type: 'torn_line', line: torn });
    expect(lines[torn - 1]).toBe(bytes.toString().trimEnd().split('\n').at(-1)?.slice(0, -19));
  });
});

describe('a transcript that cannot be written costs the transcript alone', () => {
  const runWith = async (prepare: (id: string) => void): Promise<{ readonly warnings: readonly string[]; readonly id: string }> => {
    const store = createMemoryStore(systemClock);
    const plain = await open([say('one')], { store, config: {} });
    await plain.run('a');
    await plain.close();
    prepare(plain.id);
    const session = await open([say('two')], { store, session: plain.id });
    expect(await session.run('b')).toMatchObject({ reason: 'stop' });
    await session.close();
    return { warnings: session.events('warning').flatMap(({ text, code }) => (code === 'TRANSCRIPT' ? [text] : [])), id: plain.id };
  };

  test('another version is left as it is', async () => {
    const text = '{"type":"session_meta","format_version":4}\n';
    const { warnings, id } = await runWith((each) => writeFileSync(fileOf(each), text));
    expect(warnings).toEqual([expect.stringMatching(/line 1: its format_version is 4, and only 1 is read/)]);
    expect(readFileSync(fileOf(id), 'utf8')).toBe(text);
    expect(existsSync(`${fileOf(id)}.lock`)).toBe(false);
  });

  test('another process that writes it is named; a dead one is not waited for', async () => {
    const living = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
    try {
      const { warnings, id } = await runWith((each) => writeFileSync(`${fileOf(each)}.lock`, `${living.pid}\n`));
      expect(warnings).toEqual([expect.stringContaining(`the transcript of session ${id} is being written by another process (${living.pid})`)]);
      expect(existsSync(fileOf(id))).toBe(false);
    } finally {
      living.kill('SIGKILL');
      await new Promise((resolve) => living.once('exit', resolve));
    }
    const dead = await runWith((each) => writeFileSync(`${fileOf(each)}.lock`, `${living.pid}\n`));
    expect(dead.warnings).toEqual([]);
    // Begun late, it holds the session from its beginning.
    expect(typesIn(dead.id).filter((type) => type === 'task_start')).toHaveLength(2);
  });

  test('a folder that cannot be made', async () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'in the way');
    const { warnings } = await runWith(() => undefined);
    expect(warnings).toHaveLength(1);
    rmSync(folder);
    mkdirSync(folder);
  });
});

describe('what is wrong is named with its line', () => {
  const META = '{"type":"session_meta","format_version":1}';
  test.each<readonly [string, string, RegExp]>([
    ['nothing', '', /does not begin with a record session_meta/],
    ['no head', '{"type":"message","role":"user"}\n', /line 1: it does not begin/],
    ['a bad line in the middle', `${META}\nnonsense\n{"type":"message","role":"user"}\n`, /line 2: the line is no JSON/],
    ['a bad last line that is whole', `${META}\n\n  \nnonsense\n`, /line 4: the line is no JSON/],
    ['an output without a call', `${META}\n{"type":"function_call_output","call_id":"x"}\n`, /line 2: there is no open call x/],
    [
      'two open calls of one id',
      `${META}\n${'{"type":"function_call","call_id":"x","name":"a","arguments":"{}"}\n'.repeat(2)}`,
      /line 3: two open calls have the call_id x/,
    ],
    ['a contradiction', `${META}\n{"type":"task_complete","task_id":"t","subtype":"success","is_error":true}\n`, /line 2: is_error true contradicts/],
    [
      'a missing field',
      `${META}\n{"type":"task_complete","task_id":"t","subtype":"limit_exceeded","is_error":true,"error":"e"}\n`,
      /line 2: the subtype limit_exceeded needs a string `limit`/,
    ],
  ])('%s', async (_, text, says) => {
    const file = join(folder, 'x.jsonl');
    writeFileSync(file, text);
    await expect(loadTranscript(file)).rejects.toMatchObject({ code: 'STORE_CORRUPT', message: expect.stringMatching(says) });
  });

  test('unknown records and fields are passed over, and an unfinished last line', async () => {
    const file = join(folder, 'x.jsonl');
    writeFileSync(file, `\n${META}\n{"type":"new_thing","a":1}\n{"type":"mess`);
    expect(await loadTranscript(file)).toMatchObject({ tornLine: 4 });
  });
});
