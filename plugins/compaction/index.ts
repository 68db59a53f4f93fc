import { definePlugin, type EventMap, jsonSchema } from '../../kernel/index.ts';
import type { Ladder } from './ladder.ts';
import { LIMITS } from './limits.ts';
import { manifest } from './manifest.ts';
import { Meter } from './meter.ts';

interface Options {
  readonly auto: boolean;
  readonly threshold: number;
  readonly model?: string;
}
const options = jsonSchema<Options, Partial<Options>>({
  type: 'object',
  additionalProperties: false,
  properties: {
    auto: { type: 'boolean', default: true, description: 'Whether a conversation is compacted by itself. `/compact` does it in any case.' },
    threshold: {
      type: 'number',
      minimum: 0.1,
      maximum: 0.95,
      default: 0.75,
      description: 'Part of the window, less what is left for the reply, above which it is compacted.',
    },
    model: {
      type: 'string',
      minLength: 1,
      description: 'Writes the summaries: `model` of the active provider or `provider/model`. Default: `models.summary`, else the main model.',
    },
  },
});

export default definePlugin({
  ...manifest,
  options,
  apply(scope) {
    const { hooks, events, session, services, config } = scope;
    const { auto, threshold, model } = scope.options;
    const meter = new Meter({
      session,
      reserve: config.value.limits?.maxOutputTokens ?? LIMITS.reserve,
      threshold,
      kept: () => services.find('usage')?.contextTokens() ?? 0,
    });
    let outcome: EventMap['compacted'] | EventMap['compaction.failed'] | undefined;
    /** Once a turn: a model that fails would be asked at each step. */
    let hasFailed = false;
    events.on('turn.started', () => {
      hasFailed = false;
    });
    events.on('compacted', (data) => {
      outcome = data;
      meter.compacted();
    });
    events.on('compaction.failed', (data) => {
      outcome = data;
      hasFailed ||= data.reason === 'threshold';
    });
    events.on('branch.changed', () => meter.forget());
    events.on('usage', ({ usage, purpose, child }) => {
      if (purpose === 'main' && child === undefined) meter.counted(usage.promptTokens);
    });

    hooks.request.tap('see how large it is', { stage: 'late' }, (request) => {
      if (request.purpose === 'main') meter.sees(request);
    });
    hooks.prepare.tap('before the window is full', async ({ step, signal }) => {
      if (!auto || hasFailed || !meter.isDue(step)) return;
      const [{ isWorthwhile }, { attempt }] = await Promise.all([import('./forecast.ts'), import('./attempt.ts')]);
      if (await isWorthwhile(session, meter)) await attempt(session, 'threshold', signal);
    });
    // Late, so that whoever has a veto or a summary of its own comes before a model is asked.
    hooks.compact.tap('summarise', { stage: 'late' }, async (job, at) => (await import('./summarise.ts')).summarise({ ...scope, session, model }, job, at));

    let ladder: Ladder | undefined;
    events.on('input.accepted', () => ladder?.reset());
    hooks.failure.tap('make it fit', async (failure, { signal }) => {
      if (failure.kind !== 'overflow') return undefined;
      ladder ??= (await import('./ladder.ts')).createLadder({ session, notice: scope.notice, auto });
      return ladder.climb(failure, signal);
    });
    hooks.failure.tap('say what does not fit', { stage: 'late' }, async (failure) =>
      failure.kind === 'overflow' ? { stop: (await import('./excess.ts')).excessOf(failure.error, session, meter.prefix) } : undefined,
    );

    services.provide('compaction', { forecast: async () => (await import('./forecast.ts')).forecast(session, meter, auto) });
    scope.registries.commands.add({
      name: 'compact',
      summary: 'Summarises the older part of the conversation',
      args: '[instructions]',
      run: async (args, at) => {
        outcome = undefined;
        return (await import('./command.ts')).compactNow(args, at, { meter, outcome: () => outcome });
      },
    });
  },
});
