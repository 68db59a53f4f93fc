/** What a compaction takes from the model it takes from nobody else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, say, type Responder } from '../../provider.ts';
import { useCommand } from '../command.ts';
import { linesOf } from '../program.ts';

const { cast, project, respond } = useCommand();
const SMALL = { CAST_CONTEXT_WINDOW: '6000', CAST_MAX_OUTPUT: '1000' };

/** Forty-four reads for a prompt that begins with "work", an answer at once for any other; summaries say nothing of what was said. */
const working = (): Responder => {
  let steps = 0;
  return ({ body }) => {
    if (!body.tools?.length) return say('## Goal\nA summary that tells nothing.');
    const prompts = body.messages.flatMap(({ role, content }) => (role === 'user' && typeof content === 'string' && !content.startsWith('<') ? [content] : []));
    if (!prompts.at(-1)?.startsWith('work')) return say('The zebra is striped.');
    steps += 1;
    return steps % 45 === 0 ? say('The work is done.') : call('read', { path: 'a.txt' }, { text: `Step ${steps}.` });
  };
};

test('B058: two compactions later all of it is shown, exported, found, and can be gone back to', { timeout: 120_000 }, async () => {
  const place = project({ 'a.txt': 'alpha '.repeat(120) });
  const provider = await respond(working());
  const run = (...args: readonly string[]) => cast(['run', '--format', 'stream-json', ...args], { place, provider, env: SMALL });
  const first = await run('Tell me of the early zebra');
  const id = String(linesOf(first)[0]?.['sessionId']);
  let compactions = 0;
  for (const prompt of ['work once', 'work twice']) {
    const outcome = await run('-s', id, prompt);
    expect(outcome.code, outcome.stderr).toBe(0);
    compactions += linesOf(outcome).filter(({ type }) => type === 'compaction').length;
  }
  expect(compactions).toBeGreaterThanOrEqual(2);
  expect(JSON.stringify(provider.requests.at(-1)?.body.messages)).not.toContain('zebra');

  const texts = ['early zebra', 'The zebra is striped.', 'work once', 'Step 1.', 'work twice', 'The work is done.'];
  const shown = (await cast(['sessions', 'show', id], { place })).stdout;
  const exports = await Promise.all(
    ['markdown', 'html', 'jsonl'].map(async (format) => (await cast(['sessions', 'export', id, '--format', format], { place })).stdout),
  );
  for (const written of [shown, ...exports]) for (const text of texts) expect(written).toContain(text);
  const records = (await cast(['sessions', 'show', id, '--format', 'stream-json'], { place })).stdout;
  for (const text of texts) expect(records).toContain(text);

  const { hits } = JSON.parse((await cast(['sessions', 'search', '--json', 'early zebra'], { place })).stdout) as {
    hits: { session: { id: string }; places: { entry: string; seq: number; snippet: { text: string; isHit: boolean }[] }[] }[];
  };
  expect(hits.map(({ session }) => session.id)).toEqual([id]);
  const [spot] = hits[0]?.places ?? [];
  expect(spot?.snippet.filter(({ isHit }) => isHit).map(({ text }) => text)).toEqual(['early', 'zebra']);
  // The place that is told is that of the message, however much was compacted since.
  const entries =
    exports[2]
      ?.trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line) as { id: string; seq: number }) ?? [];
  const found = entries.find((entry) => entry.id === spot?.entry);
  expect([found?.seq, JSON.stringify(found)]).toEqual([spot?.seq, expect.stringContaining('early zebra')]);

  const back = await cast(['run', '-s', id, '/rewind 2 conversation'], { place, provider, env: SMALL });
  expect(back.code, back.stderr).toBe(0);
  await run('-s', id, 'And its colour?');
  const sent = JSON.stringify(provider.requests.at(-1)?.body.messages);
  expect(sent).toMatch(/early zebra[\s\S]*The zebra is striped\.[\s\S]*And its colour\?/);
  expect(sent).not.toMatch(/work once|A summary that tells nothing/);
  expect((await cast(['sessions', 'export', id, '--format', 'jsonl'], { place })).stdout).toContain('work twice');
  expect(readFileSync(join(place.cwd, 'a.txt'), 'utf8')).toBe('alpha '.repeat(120));
});
