/** B050: what a session is made of besides its text is as it was after a resume. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, say } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf } from './program.ts';

const { cast, provide, project, respond } = useCommand();
const SMALL = { CAST_CONTEXT_WINDOW: '6000', CAST_MAX_OUTPUT: '1000' };

test('B050: model, level, open todos, a failed tool and the folder are as before; looking at it writes nothing', async () => {
  const place = project();
  mkdirSync(join(place.cwd, 'sub'));
  const todos = [
    { content: 'paint the fence', status: 'pending' },
    { content: 'buy paint', status: 'completed' },
  ];
  // The model is that of the flag, then that of the session: the environment names none.
  const env = { CAST_MODEL: '' };
  const provider = await provide(
    call('todo_write', { todos }),
    call('read', { path: 'missing.txt' }),
    say('I stop here.'),
    say('I stop here.'),
    say('I stop here.'),
  );
  const began = await cast(['run', '--format', 'stream-json', '-m', 'other-model', '-r', 'high', 'first prompt'], { place, provider, env });
  expect(began.code, began.stderr).toBe(0);
  const id = String(linesOf(began)[0]?.['sessionId']);
  expect(linesOf(began)[0]?.['model']).toBe('other-model');
  const exported = async (): Promise<readonly string[]> =>
    (await cast(['sessions', 'export', id, '--format', 'jsonl'], { place })).stdout.trim().split('\n').slice(1);
  const before = await exported();
  await cast(['sessions', 'show', id], { place });
  const used = await cast(['run', '-c', '/usage'], { place, provider, env });
  expect([used.code, used.stdout]).toEqual([0, expect.stringContaining('other-model')]);
  expect(await exported()).toEqual(before);

  const sent = provider.requests.length;
  const resumed = await cast(['run', '-c', '--format', 'stream-json', '--cwd', place.cwd, 'second prompt'], { place, provider, env });
  expect(resumed.code, resumed.stderr).toBe(0);
  const body = provider.requests[sent]?.body as { model: string; reasoning_effort?: string; messages: { role: string; content?: unknown }[] } | undefined;
  expect([body?.model, body?.reasoning_effort]).toEqual(['other-model', 'high']);
  expect(JSON.stringify(body?.messages)).toContain('paint the fence');
  const results = body?.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content)) ?? [];
  expect(results[1]).toMatch(/missing\.txt/);
  const shown = (await cast(['sessions', 'show', id], { place })).stdout;
  expect(shown).toMatch(/error[\s\S]*missing\.txt/);
  expect(linesOf(resumed)[0]).toMatchObject({ cwd: place.cwd, model: 'other-model' });
});

test('B050: totals count the turns before a compaction as well', async () => {
  const place = project({ 'a.txt': 'alpha '.repeat(120) });
  let steps = 0;
  const provider = await respond(({ body }) => {
    if (!body.tools?.length) return say('## Goal\nA summary.');
    steps += 1;
    return steps >= 30 ? say('done') : call('read', { path: 'a.txt' }, { text: `Step ${steps}.` });
  });
  const run = await cast(['run', '--format', 'stream-json', 'work'], { place, provider, env: SMALL });
  expect(linesOf(run).filter(({ type }) => type === 'compaction').length).toBeGreaterThan(0);
  const spent = linesOf(run).reduce((sum, { type, usage }) => sum + (type === 'usage' ? (usage as { totalTokens: number }).totalTokens : 0), 0);
  const told = (await cast(['usage', '--json'], { place })).stdout;
  expect((JSON.parse(told) as { total: { totalTokens: number } }).total.totalTokens).toBe(spent);
  const again = await cast(['run', '-c', '--format', 'stream-json', 'more'], { place, provider, env: SMALL });
  const more = linesOf(again).reduce((sum, { type, usage }) => sum + (type === 'usage' ? (usage as { totalTokens: number }).totalTokens : 0), 0);
  const total = JSON.parse((await cast(['usage', '--json'], { place })).stdout) as { total: { totalTokens: number } };
  expect(total.total.totalTokens).toBe(spent + more);
});
