/** B058: what a compaction leaves of the stored conversation, through the command: all of it. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { say } from '../../provider.ts';
import { useCommand } from '../../cli/command.ts';
import { linesOf, streamFaults } from '../../cli/program.ts';

const { cast, project, respond } = useCommand();

interface Row {
  readonly role: string;
  readonly content_json: string;
  readonly in_context: number;
}

test('B058: after two compactions every message is stored, shown and exported; only what is sent shrank', async () => {
  const place = project();
  const provider = await respond((request, number) => {
    const isSummary = String(request.body.messages[0]?.content).startsWith('You write the notes');
    return say(isSummary ? `summary made by request ${number}` : `answer to request ${number}`);
  });
  const run = async (...args: readonly string[]): Promise<string> => {
    const outcome = await cast(['run', ...args], { place, provider });
    expect([outcome.code, outcome.stderr.includes('warning')], outcome.stderr).toEqual([0, false]);
    return outcome.stdout;
  };
  await run('EARLY PHRASE one');
  for (const text of ['two', 'three']) await run('-c', text);
  expect(await run('-c', '/compact')).toMatch(/\d messages became a summary/);
  for (const text of ['four', 'five']) await run('-c', text);
  const stream = await cast(['run', '-c', '--format', 'stream-json', '/compact', 'keep', 'numbers'], { place, provider });
  expect([stream.code, streamFaults(stream)]).toEqual([0, []]);
  expect(linesOf(stream).find(({ type }) => type === 'compaction')).toMatchObject({
    trigger: 'command',
    messagesCompacted: expect.any(Number),
    tokensBefore: expect.any(Number),
    tokensAfter: expect.any(Number),
  });
  await run('-c', 'six');
  const sent = JSON.stringify(provider.requests.at(-1)?.body.messages);
  expect(sent).not.toContain('EARLY PHRASE');
  expect(sent.match(/Summary of the conversation so far/g)).toHaveLength(1);

  const database = new Database(join(place.castHome, 'sessions', 'sessions.db'), { readonly: true });
  const rows = database.prepare("SELECT role, content_json, in_context FROM messages WHERE role IN ('user', 'assistant') ORDER BY seq").all() as readonly Row[];
  database.close();
  const said = rows.map(({ content_json: content }) => content).join('\n');
  for (const text of ['EARLY PHRASE one', 'two', 'three', 'four', 'five', 'six']) expect(said).toContain(`"${text}"`);
  expect(rows.find(({ content_json: content }) => content.includes('EARLY PHRASE'))?.in_context).toBe(0);
  expect(rows.findLast(({ content_json: content }) => content.includes('"six"'))?.in_context).toBe(1);

  const [{ id }] = JSON.parse((await cast(['sessions', 'list', '--json'], { place })).stdout) as [{ id: string }];
  const shown = await cast(['sessions', 'show', id], { place });
  for (const text of ['EARLY PHRASE one', 'three', 'six', 'answer to request 1', 'what came before was summarised']) expect(shown.stdout).toContain(text);
}, 60_000);

test('a compaction that does not come about ends the command with 1, and each format says why', async () => {
  const place = project();
  const provider = await respond((request) => say(String(request.body.messages[0]?.content).startsWith('You write the notes') ? '' : 'ok'));
  for (const args of [['one'], ['-c', 'two']]) await cast(['run', ...args], { place, provider });
  const text = await cast(['run', '-c', '/compact'], { place, provider });
  expect([text.code, text.stderr]).toEqual([1, expect.stringMatching(/not compacted: no summary could be made: the model returned an empty summary/)]);
  const stream = await cast(['run', '-c', '--format', 'stream-json', '/compact'], { place, provider });
  expect([stream.code, streamFaults(stream)]).toEqual([1, []]);
  expect(linesOf(stream).find(({ type }) => type === 'compaction_failed')).toMatchObject({
    trigger: 'command',
    reason: expect.stringContaining('empty summary'),
  });
  expect(linesOf(stream).find(({ type }) => type === 'error')).toMatchObject({ code: 'COMPACTION_FAILED' });
});

test('cast context says what a compaction would drop', async () => {
  const place = project();
  const provider = await respond(() => say('an answer'));
  for (const args of [['one'], ['-c', 'two'], ['-c', 'three']]) await cast(['run', ...args], { place, provider });
  const before = provider.requests.length;
  const data = JSON.parse((await cast(['context', '--json'], { place, provider })).stdout) as {
    compaction: { drops: readonly string[]; limit: number; auto: boolean };
  };
  expect(data.compaction).toMatchObject({ auto: true, limit: 89_856 });
  expect(data.compaction.drops.length).toBeGreaterThan(1);
  expect((await cast(['context'], { place, provider })).stdout).toMatch(/a compaction drops[\s\S]*A compaction comes by itself above 89,856 tokens/);
  expect(provider.requests).toHaveLength(before);
});
