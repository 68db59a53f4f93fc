/** The command in a context window that is too small, and with replies that are cut. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, type Received, say } from '../../provider.ts';
import { useCommand } from '../../cli/command.ts';
import { linesOf, streamFaults } from '../../cli/program.ts';

const { cast, project, provide, respond } = useCommand();
const BIG = Array.from({ length: 900 }, (_, line) => `line ${line}: ${'lorem ipsum dolor sit amet '.repeat(3)}`).join('\n');
const results = (request: Received | undefined): readonly string[] =>
  (request?.body.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => String(content));

test('a result that fills the window is left out, until the request is small enough', async () => {
  const place = project({ 'big.txt': BIG, 'small.txt': 'a little' });
  const provider = await respond((request, number) => {
    if (request.bytes > 60_000) return { status: 400, error: 'the input length exceeds the context length' };
    return number === 1 ? { calls: ['big.txt', 'small.txt'].map((path) => ({ tool: 'read', input: { path } })) } : say('done');
  });
  const outcome = await cast(['run', '--format', 'stream-json', 'read them'], { place, provider });
  expect([outcome.code, streamFaults(outcome)]).toEqual([0, []]);
  expect(provider.requests).toHaveLength(3);
  expect(results(provider.requests[1])[0]).toContain('lorem ipsum');
  expect(results(provider.requests[2])).toEqual([expect.stringMatching(/^\[This result of read .* was left out/), expect.stringContaining('a little')]);
  expect(provider.prompts()).toMatch(/call_1_0.*read/);
  expect(linesOf(outcome).filter(({ code }) => code === 'TOOL_RESULT_TRIMMED')).toHaveLength(1);

  const again = await provide(say('yes'));
  expect((await cast(['run', '-c', 'and?'], { place, provider: again })).code).toBe(0);
  expect(results(again.requests[0])).toEqual(results(provider.requests[2]));
});

test('a window that stays too small ends the turn after a bounded number of requests', async () => {
  const provider = await respond((_request, number) =>
    number === 1 ? call('read', { path: 'big.txt' }) : { status: 400, error: 'the input length exceeds the context length' },
  );
  const outcome = await cast(['run', '--format', 'stream-json', 'read it'], { place: project({ 'big.txt': BIG }), provider });
  expect(linesOf(outcome).at(-1)).toMatchObject({ type: 'end', reason: 'error', exitCode: 1 });
  expect(provider.requests).toHaveLength(3);
  expect(linesOf(outcome).filter(({ type }) => type === 'compaction_failed')).toMatchObject([
    { trigger: 'overflow', reason: expect.stringContaining('summar') },
  ]);
  expect(linesOf(outcome).find(({ type }) => type === 'error')).toMatchObject({ code: 'MODEL_OVERFLOW', message: expect.stringContaining('context length') });
});

test('a reply that reaches the end of the window is no reply that is too long', async () => {
  const provider = await provide(call('read', { path: 'big.txt' }), say('half of', { finish: 'model_context_window_exceeded' }), say('whole'));
  const outcome = await cast(['run', '--format', 'stream-json', 'read it'], { place: project({ 'big.txt': BIG }), provider });
  expect(outcome.code).toBe(0);
  expect(linesOf(outcome).map(({ code }) => code)).toContain('TOOL_RESULT_TRIMMED');
});

describe('a reply that is cut inside of a call, again and again', () => {
  test.each([['length'], ['tool_calls']])('ends the turn, with nothing written (finish reason %s)', async (finish) => {
    const place = project();
    const provider = await provide({ calls: [{ tool: 'write', input: '{"path":"out.txt","content":"one two thr' }], finish });
    const outcome = await cast(['run', '--format', 'stream-json', '--permission-mode', 'bypass', 'write it'], { place, provider });
    expect([outcome.code, streamFaults(outcome)]).toEqual([1, []]);
    expect(linesOf(outcome).at(-1)).toMatchObject({ type: 'end', reason: 'cut_off' });
    expect(existsSync(join(place.cwd, 'out.txt'))).toBe(false);
    expect(provider.requests).toHaveLength(3);
    for (const request of provider.requests.slice(1)) expect(results(request).at(-1)).toMatch(/cut off.*not run.*Send less/);
    const text = await cast(['run', '--permission-mode', 'bypass', 'write it'], { place: project(), provider });
    expect([text.code, text.stderr]).toEqual([1, expect.stringContaining('cut off')]);
  });
});
