/** `cast sessions show ID --format stream-json`: any stored session as its stream of records, and the same as its transcript. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, say } from '../provider.ts';
import { useCommand } from './command.ts';

const { provide, project, cast } = useCommand();
const lines = (text: string): readonly Record<string, unknown>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('a session is shown as its transcript has it, and nothing is changed', async () => {
  const place = project({ '~/settings.json': JSON.stringify({ plugins: { 'session-jsonl': true } }) });
  const provider = await provide(call('bash', { command: 'echo one' }, { text: 'Looking.', reasoning: 'hm' }), say('done\u2028so'));
  const run = await cast(['run', '--format', 'json', 'go'], { provider, place });
  const { sessionId } = JSON.parse(run.stdout) as { sessionId: string };
  const database = readFileSync(join(place.castHome, 'sessions', 'sessions.db'));
  const shown = await cast(['sessions', 'show', sessionId, '--format', 'stream-json'], { place });
  expect(shown.code).toBe(0);
  expect(shown.stdout).not.toContain('\u2028');
  const records = lines(shown.stdout);
  // Reminders come where they were put; how reasoning is parted is the provider's.
  const types = records.flatMap(({ type }, index) => (type === 'prompt_context' || type === records[index - 1]?.['type'] ? [] : [type]));
  expect(types).toEqual(['session_meta', 'task_start', 'message', 'reasoning', 'message', 'function_call', 'function_call_output', 'message', 'task_complete']);
  expect(records.at(-1)).toMatchObject({ subtype: 'success', result: 'done\u2028so', turn_count: 2, tool_call_count: 1 });
  const [file = ''] = readdirSync(join(place.castHome, 'transcripts'));
  const written = lines(readFileSync(join(place.castHome, 'transcripts', file), 'utf8')).filter(({ type }) => type !== 'turn_usage');
  expect(records.slice(1)).toEqual(written.slice(1));
  expect(readFileSync(join(place.castHome, 'sessions', 'sessions.db')).equals(database)).toBe(true);
});

test('what is not kept has no transcript', async () => {
  const place = project({ '~/settings.json': JSON.stringify({ plugins: { 'session-jsonl': true } }) });
  await cast(['run', '--no-session', 'go'], { provider: await provide(say('done')), place });
  expect(readdirSync(place.castHome)).not.toContain('transcripts');
});

test('failures are records with their exit code', async () => {
  const place = project();
  const unknown = await cast(['sessions', 'show', 'none', '--format', 'stream-json'], { place });
  expect(unknown.code).toBe(3);
  expect(lines(unknown.stdout)).toEqual([
    { type: 'replay_error', session_id: 'none', kind: 'session_not_found', error: expect.stringContaining('none'), exit_code: 3 },
  ]);
  expect(await cast(['sessions', 'show', 'none', '--format', 'xml'], { place })).toMatchObject({ code: 3, stdout: '' });
});
