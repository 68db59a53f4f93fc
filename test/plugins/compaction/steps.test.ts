/** Long turns, small windows: what is sent stays valid, and the running prompt stays in it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { definePlugin, type Plugin } from '../../../kernel/index.ts';
import { openStage, type Stage, tokensOf, textsOf } from './stage.ts';

const TASK = 'THE TASK: look at everything, then say what you saw.';
/** What a strict server said about requests that are no overflow. */
const refusals = ({ session }: Stage): readonly string[] => session.events('error').map(({ message }) => message);

describe('B056: twenty steps of three calls each, compacted wherever the window wants it', () => {
  test.each(Array.from({ length: 18 }, (_, index) => (index + 3) * 1_000))('a window of %i tokens', async (window) => {
    for (const counts of [true, false]) {
      await using stage = await openStage({
        window,
        counts,
        script: (number) => (number > 20 ? 'done' : [0, 1, 2].map((place) => ['dump', { size: 1_200, mark: `s${number}.${place}` }])),
      });
      expect(await stage.session.run(TASK)).toMatchObject({ reason: 'stop' });
      expect(refusals(stage)).toEqual([]);
      for (const asked of stage.main()) expect(textsOf(asked)).toContain(TASK);
      // The newest results are never what is taken away.
      const last = stage.main().at(-1);
      expect(last && textsOf(last)).toContain('s20.2');
      const done = stage.session.events('compacted');
      expect(done.length, `${window} ${counts}`).toBeGreaterThan(0);
      expect(stage.summaries().length).toBeLessThanOrEqual(20);
    }
  });
});

test('a single prompt goes on for two hundred steps', async () => {
  const window = 20_000;
  await using stage = await openStage({
    window,
    script: (number) => (number > 200 ? 'done' : [['dump', { size: 1_500, mark: `step-${number}` }]]),
  });
  expect(await stage.session.run(TASK)).toMatchObject({ reason: 'stop', exitCode: 0, steps: 201 });
  expect(Math.max(...stage.main().map(tokensOf))).toBeLessThanOrEqual(window);
  for (const asked of stage.main()) expect(textsOf(asked).split(TASK)).toHaveLength(2);
  const { length } = stage.summaries();
  expect(length).toBeGreaterThan(5);
  expect(length).toBeLessThan(60);
  expect(stage.session.events('compacted')).toHaveLength(length);
  expect(stage.session.events('compaction.failed')).toEqual([]);
  // One summary, brought up to date.
  const [first, second] = stage.summaries();
  expect(first && textsOf(first)).not.toContain('<previous-summary>');
  expect(second && textsOf(second)).toContain('<previous-summary>');
  const view = textsOf(stage.main().at(-1) as never);
  expect(view.split('Summary of the conversation so far')).toHaveLength(2);
}, 60_000);

test('B056: whatever the window, the sizes and the moments at which somebody compacts, nothing invalid is sent and no prompt is lost', async () => {
  const turn = fc.array(fc.array(fc.integer({ min: 20, max: 2_500 }), { minLength: 0, maxLength: 3 }), { minLength: 1, maxLength: 6 });
  const run = fc.record({
    window: fc.integer({ min: 3_000, max: 20_000 }),
    turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
    forced: fc.nat(9),
    counts: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(run, async ({ window, turns, forced, counts }) => {
      // Each turn ends with a text; what it does before are steps of calls, or a word in between.
      const plan = turns.flatMap((steps) => [...steps, []]);
      const forcing = definePlugin({
        name: 'forcing',
        apply: ({ hooks, session }) =>
          hooks.prepare.tap('now', async ({ step, signal }) => void (step % 10 === forced && (await session.compact('command', signal)))),
      });
      await using stage = await openStage({
        window,
        counts,
        plugins: [forcing as Plugin],
        script: (number) => {
          const sizes = plan[number - 1] ?? [];
          return sizes.length === 0 ? `answer ${number}` : sizes.map((size, place) => ['dump', { size, mark: `s${number}.${place}` }]);
        },
      });
      for (const [index] of turns.entries()) {
        const before = stage.main().length;
        await stage.session.run(`PROMPT ${index}`);
        for (const asked of stage.main().slice(before)) expect(textsOf(asked)).toContain(`PROMPT ${index}`);
        if (index % 2 === 1) await stage.session.client.command('compact', '');
      }
      // Of what a strict host refuses only the size is ever the reason.
      expect(stage.session.events('error').filter(({ code }) => code !== 'MODEL_OVERFLOW')).toEqual([]);
    }),
    { numRuns: 25 },
  );
}, 60_000);
