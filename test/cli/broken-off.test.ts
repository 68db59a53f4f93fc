/** Turns that are broken off: by their user, or with their process. What was said and done is there, and the session goes on. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, say, type Received, type Reply } from '../provider.ts';
import { refusal, type SentMessage } from '../strict.ts';
import { useCommand } from './command.ts';
import { linesOf, start, type Place } from './program.ts';

const { program, provide, project } = useCommand();
const stream = ['run', '--format', 'stream-json'];

const sentIn = (request: Received | undefined): readonly SentMessage[] => (request?.body.messages ?? []) as readonly SentMessage[];
const resultsIn = (request: Received | undefined): readonly (readonly [string, string])[] =>
  sentIn(request).flatMap(({ role, tool_call_id: id = '', content }) => (role === 'tool' ? [[id, String(content)] as const] : []));
const until = async (fits: () => boolean, ms = 15_000): Promise<void> => {
  for (const end = performance.now() + ms; performance.now() < end; ) {
    if (fits()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it did not come about');
};
/** What the next run sends, by a provider that takes only a lawful history. */
const goOn = async (place: Place): Promise<Received> => {
  const provider = await provide(say('back'));
  const outcome = await start(['run', '--format', 'json', '-c', 'go on'], { program: program(), place, provider }).done;
  expect(outcome.code, outcome.stderr).toBe(0);
  const [request] = provider.requests;
  expect(refusal(sentIn(request))).toBeUndefined();
  return request as Received;
};

describe('B013: interrupted while a tool runs', () => {
  const TWO: Reply = {
    calls: [
      { tool: 'read', input: { path: 'a.txt' }, id: 'c1' },
      { tool: 'bash', input: { command: 'echo begun > begun; sleep 30' }, id: 'c2' },
    ],
  };
  test.each(['SIGINT', 'SIGTERM'] as const)('B013: %s: each call has a result, the one that was cut says so, and the session goes on', async (signal) => {
    const place = project({ 'a.txt': 'alpha\n' });
    const running = start([...stream, 'first prompt'], { program: program(), place, provider: await provide(TWO) });
    await until(() => existsSync(join(place.cwd, 'begun')));
    running.child.kill(signal);
    expect((await running.done).code).toBe(130);
    const request = await goOn(place);
    expect(resultsIn(request)).toEqual([
      ['c1', expect.stringContaining('alpha')],
      ['c2', expect.stringMatching(/abort|interrupt/i)],
    ]);
    const prompts = sentIn(request).flatMap(({ role, content }) => (role === 'user' ? [String(content)] : []));
    expect(prompts.filter((text) => !text.startsWith('<'))).toEqual(['first prompt', 'go on']);
  });
});

describe('B014: the process dies between a call and its result', () => {
  test('B014: the call is shown as lost, nothing runs a second time, and the session goes on', async () => {
    const place = project();
    const provider = await provide({ calls: [{ tool: 'bash', input: { command: 'echo ran >> log; sleep 30' }, id: 'c1' }] });
    const running = start([...stream, 'first prompt'], { program: program(), place, provider });
    await until(() => existsSync(join(place.cwd, 'log')));
    running.child.kill('SIGKILL');
    await running.done;
    const request = await goOn(place);
    expect(resultsIn(request)).toEqual([['c1', expect.stringMatching(/outcome is unknown/)]]);
    expect(readFileSync(join(place.cwd, 'log'), 'utf8')).toBe('ran\n');
  });
});

describe('B048: the process dies while the model is asked', () => {
  test('B048: prompt, reply and result are there; the turn is listed, shown and gone on with', async () => {
    const place = project({ 'a.txt': 'alpha\n' });
    const provider = await provide(call('read', { path: 'a.txt' }, { text: 'I look first.' }), { hangs: true });
    const running = start([...stream, 'first prompt'], { program: program(), place, provider });
    await until(() => provider.requests.length === 2);
    running.child.kill('SIGKILL');
    const cut = await running.done;
    const [line] = linesOf({ ...cut, stdout: cut.stdout.slice(0, cut.stdout.indexOf('\n') + 1) });
    const id = String(line?.['sessionId']);
    const cast = (...args: readonly string[]) => start(args, { program: program(), place }).done;
    expect(JSON.parse((await cast('sessions', 'list', '--json')).stdout)).toMatchObject([{ id, title: 'first prompt', messages: 1 }]);
    const shown = (await cast('sessions', 'show', id)).stdout;
    for (const text of ['first prompt', 'I look first.', 'alpha']) expect(shown).toContain(text);
    expect(shown).toMatch(/alpha[\s\S]*this turn has no end/);
    const request = await goOn(place);
    expect(JSON.stringify(sentIn(request))).toMatch(/first prompt[\s\S]*I look first\.[\s\S]*alpha[\s\S]*go on/);
    expect((await cast('sessions', 'show', id)).stdout).toMatch(/alpha[\s\S]*the turn had no end[\s\S]*go on[\s\S]*back\s*$/);
  });
});

describe('B016: two processes want one session', () => {
  test('B016: one turn at a time: the other is refused with a clear word, or waits; what is stored alternates', async () => {
    const place = project();
    const first = await start([...stream, 'first prompt'], { program: program(), place, provider: await provide(say('first answer')) }).done;
    const id = String(linesOf(first)[0]?.['sessionId']);
    const provider = await provide(say('an answer '.repeat(40), { piece: 20, pauseMs: 20 }));
    const both = await Promise.all(
      ['prompt A', 'prompt B'].map((prompt) => start(['run', '-s', id, '--format', 'json', prompt], { program: program(), place, provider }).done),
    );
    const codes = both.map(({ code }) => code);
    expect(codes).toContain(0);
    for (const { code, stdout } of both) if (code !== 0) expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'SESSION_BUSY' } });
    const request = await goOn(place);
    const roles = sentIn(request).flatMap(({ role, content }) => (role === 'system' || String(content).startsWith('<') ? [] : [role]));
    expect(roles).toEqual(Array.from({ length: roles.length }, (_, index) => (index % 2 === 0 ? 'user' : 'assistant')));
    expect(roles).toHaveLength(2 * codes.filter((code) => code === 0).length + 3);
  });
});
