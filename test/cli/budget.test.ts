/** Budgets as a script sees them: exit code, event, message, and what is kept. */
import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, say } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf, streamFaults } from './program.ts';

const { provide, project, cast } = useCommand();
// One turn with a call costs two requests of 110 tokens, as the provider of these tests says.
const PROMPT_ROOM = 60_000;

describe('--max-tokens', () => {
  test('ends with reason limit and exit code 1 in every format, before a request is made', async () => {
    const provider = await provide(say('never'));
    const stream = await cast(['run', '--format', 'stream-json', '--max-tokens', '50', 'go'], { provider });
    expect(streamFaults(stream)).toEqual([]);
    expect(stream.code).toBe(1);
    expect(linesOf(stream).slice(-2)).toMatchObject([
      {
        type: 'error',
        code: 'BUDGET_EXCEEDED',
        message: expect.stringContaining('0 tokens of 50 tokens are used'),
        suggestedFix: expect.stringContaining('--max-tokens'),
      },
      { type: 'end', reason: 'limit', exitCode: 1 },
    ]);
    const json = await cast(['run', '--format', 'json', '--max-tokens', '50', 'go'], { provider });
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, { reason: 'limit', error: { code: 'BUDGET_EXCEEDED' } }]);
    expect(provider.requests).toHaveLength(0);
  });

  test('work is kept, and -c goes on', async () => {
    const place = project();
    const provider = await provide(call('bash', { command: 'echo kept > kept.txt' }), say('never'));
    // One request fits: its estimated prompt and the shortest reply; the second does not.
    const estimate = await promptOf();
    const first = await cast(['run', '--max-tokens', `${estimate + 1_100}`, 'go'], { provider, place });
    expect([first.code, provider.requests.length]).toEqual([1, 1]);
    const on = await provide(say('went on'));
    const again = await cast(['run', '-c', '--max-tokens', `${PROMPT_ROOM}`, 'go on'], { provider: on, place });
    expect(again).toMatchObject({ code: 0, stdout: 'went on\n' });
    expect(JSON.stringify(on.requests[0]?.body.messages)).toContain('echo kept > kept.txt');
  });

  /** The message of a refused first request says how much it could take. */
  const promptOf = async (): Promise<number> => {
    const { stderr } = await cast(['run', '--max-tokens', '1', 'go'], { provider: await provide(say('never')) });
    return Number(/could take ([\d,]+) tokens/.exec(stderr)?.[1]?.replaceAll(',', '')) - 1_024;
  };

  test.each(['0', '-1', 'x', '1.5'])('%s is refused', async (value) => {
    expect(await cast(['run', `--max-tokens=${value}`, 'go'], {})).toMatchObject({ code: 3, stderr: expect.stringContaining('no whole number') });
  });
});

describe('--max-cost', () => {
  test('without a price: exit 3 before the first request; with the setting that is named it goes', async () => {
    const place = project();
    const provider = await provide(say('done'));
    const refused = await cast(['run', '--max-cost', '5', 'go'], { provider, place });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/the price of \S+ is not known, so --max-cost cannot be kept/);
    expect(refused.stderr).toContain('--max-tokens');
    expect(provider.requests).toHaveLength(0);
    const [, name = ''] = /Set providers\.(.+)\.models\.test-model\.price/.exec(refused.stderr) ?? [];
    mkdirSync(place.castHome, { recursive: true });
    writeFileSync(join(place.castHome, 'settings.json'), JSON.stringify({ providers: { [name]: { models: { 'test-model': { price: { in: 1, out: 2 } } } } } }));
    expect(await cast(['run', '--max-cost', '5', 'go'], { provider, place })).toMatchObject({ code: 0, stdout: 'done\n' });
    const dear = await cast(['run', '--max-cost', '0.0001', 'go'], { provider, place });
    expect([dear.code, dear.stderr]).toEqual([1, expect.stringMatching(/\$0\.0000 of \$0\.0001 are spent/)]);
  });

  test.each(['-1', 'x', ''])('"%s" is refused', async (value) => {
    expect(await cast(['run', `--max-cost=${value}`, 'go'], {})).toMatchObject({ code: 3, stderr: expect.stringContaining('no amount of US dollars') });
  });
});

test('ten processes at once lose no count of the day', async () => {
  const place = project({ '~/settings.json': JSON.stringify({ plugins: { budget: { day: { maxTokens: 100_000 } } } }) });
  const provider = await provide(say('done'));
  const runs = await Promise.all(Array.from({ length: 10 }, () => cast(['run', '--no-session', 'go'], { provider, place, limitMs: 90_000 })));
  expect(runs.map(({ code }) => code)).toEqual(Array(10).fill(0));
  writeFileSync(join(place.castHome, 'settings.json'), JSON.stringify({ plugins: { budget: { day: { maxTokens: 1_101 } } } }));
  const next = await cast(['run', 'go'], { provider, place });
  expect([next.code, next.stderr]).toEqual([
    1,
    expect.stringContaining('the budget of today does not cover the next request: 1,100 tokens of 1,101 tokens are used'),
  ]);
}, 110_000);
