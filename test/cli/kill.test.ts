/**
 * SIGKILL at random moments of a turn of thirty steps: no finished step is lost, nothing is run twice, and what is sent afterwards
 * is a history that a strict provider takes. `CAST_KILL_ROUNDS=200` runs as many rounds; the seed of a failure is in its message.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, say, startProvider, startResponder, type Reply, type Responder } from '../provider.ts';
import { bundleCommand, type Bundle } from './bundle.ts';
import { refusal, type SentMessage } from '../strict.ts';
import { createPlace, linesOf, start, type Outcome } from './program.ts';

const ROUNDS = Number(process.env['CAST_KILL_ROUNDS'] ?? 10);
const STEPS = 30;

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleCommand();
}, 60_000);
afterAll(() => bundle.remove());

/** Every third step reads, the others leave a line behind. */
const steps: readonly Reply[] = Array.from({ length: STEPS }, (_, n) =>
  n % 3 === 2
    ? call('read', { path: 'a.txt' }, { text: `Step ${n}.` })
    : call('bash', { command: `echo step-${n} >> log; echo did-${n}` }, { text: `Step ${n}.` }),
);

const finished = (outcome: Outcome): readonly string[] => {
  // The last line may be half written.
  const whole = { ...outcome, stdout: outcome.stdout.slice(0, outcome.stdout.lastIndexOf('\n') + 1) };
  return linesOf(whole).flatMap((line) => (line.type === 'tool_end' && line['name'] === 'bash' ? [String(line['result']).trim()] : []));
};

const round = async (killAfterMs: number): Promise<void> => {
  const place = createPlace({ 'a.txt': 'alpha\n' });
  const provider = await startProvider(...steps, say('the end'));
  try {
    const run = start(['run', '--format', 'stream-json', 'first prompt'], { program: bundle.file, place, provider });
    const timer = setTimeout(() => run.child.kill('SIGKILL'), killAfterMs);
    const outcome = await run.done;
    clearTimeout(timer);
    const next = await startProvider(say('back'));
    const resumed = await start(['run', '--format', 'json', '-c', 'second prompt'], { program: bundle.file, place, provider: next }).done;
    const hint = `killed after ${killAfterMs} ms; ${resumed.stderr}`;
    // Before the prompt was stored there is nothing to continue; then nothing had been sent either.
    if (resumed.code === 3) expect(provider.requests.length, hint).toBe(0);
    else {
      expect(resumed.code, hint).toBe(0);
      const sent = (next.requests[0]?.body.messages ?? []) as readonly SentMessage[];
      expect(refusal(sent), hint).toBeUndefined();
      const all = JSON.stringify(sent);
      expect(all, hint).toContain('first prompt');
      for (const result of finished(outcome)) expect(all, hint).toContain(result);
    }
    const log = join(place.cwd, 'log');
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
    expect(new Set(lines).size, `${hint}: something ran twice`).toBe(lines.length);
    await next.close();
  } finally {
    await provider.close();
    place.remove();
  }
};

/** In a window so small that the turn is compacted on its way; each summary comes slowly, for its request to be hit as well. */
const SMALL = { CAST_CONTEXT_WINDOW: '6000', CAST_MAX_OUTPUT: '1000' };
const summarised = (): Responder => {
  let next = 0;
  return ({ body }) =>
    body.tools?.length ? ([...steps, say('the end')][next++] ?? say('the end')) : say('## Goal\nWhat was done so far.', { piece: 4, pauseMs: 15 });
};

const compacting = async (killAfterMs: number | undefined): Promise<{ readonly ms: number; readonly compactions: number }> => {
  const place = createPlace({ 'a.txt': 'alpha '.repeat(120) });
  const provider = await startResponder(summarised());
  const next = await startProvider(say('back'));
  try {
    const run = start(['run', '--format', 'stream-json', 'first prompt'], { program: bundle.file, place, provider, env: SMALL });
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => run.child.kill('SIGKILL'), killAfterMs);
    const outcome = await run.done;
    clearTimeout(timer);
    const hint = `killed after ${killAfterMs} ms`;
    for (const { body } of provider.requests) expect(refusal(body.messages as readonly SentMessage[]), hint).toBeUndefined();
    const resumed = await start(['run', '--format', 'json', '-c', 'second prompt'], { program: bundle.file, place, provider: next, env: SMALL }).done;
    if (resumed.code !== 3) {
      expect(resumed.code, `${hint}; ${resumed.stderr}`).toBe(0);
      for (const { body } of next.requests) {
        expect(refusal(body.messages as readonly SentMessage[]), hint).toBeUndefined();
        // The running prompt is carried over every cut; and who asks for a summary asks about it.
        expect(JSON.stringify(body.messages), hint).toContain('first prompt');
      }
    }
    const log = join(place.cwd, 'log');
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
    expect(new Set(lines).size, `${hint}: something ran twice`).toBe(lines.length);
    return { ms: outcome.ms, compactions: outcome.stdout.split('"type":"compaction"').length - 1 };
  } finally {
    await provider.close();
    await next.close();
    place.remove();
  }
};

test(`a process killed at ${ROUNDS} random moments of a turn that is compacted goes on from a history that holds`, {
  timeout: 60_000 + ROUNDS * 15_000,
}, async () => {
  const whole = await compacting(undefined);
  expect(whole.compactions).toBeGreaterThan(0);
  for (let n = 0; n < ROUNDS; n++) await compacting(Math.round(Math.random() * whole.ms));
});

test(`a process killed at ${ROUNDS} random moments loses no finished step`, { timeout: 60_000 + ROUNDS * 15_000 }, async () => {
  // One whole run says how long a run takes here.
  const place = createPlace({ 'a.txt': 'alpha\n' });
  const provider = await startProvider(...steps, say('the end'));
  const whole = await start(['run', '--format', 'stream-json', 'first prompt'], { program: bundle.file, place, provider }).done;
  await provider.close();
  place.remove();
  expect([whole.code, finished(whole).length]).toEqual([0, 20]);
  for (let n = 0; n < ROUNDS; n++) await round(Math.round(Math.random() * whole.ms));
});
