import { definePlugin, jsonSchema } from '../../kernel/index.ts';
import type { Day } from './day.ts';
import type { Amounts } from './limits.ts';
import { manifest } from './manifest.ts';
import { Spending } from './spending.ts';

interface Options {
  readonly session?: Amounts;
  readonly day?: Amounts;
}
const amounts = (about: string) => ({
  type: 'object',
  additionalProperties: false,
  description: about,
  properties: { maxCost: { type: 'number', minimum: 0 }, maxTokens: { type: 'integer', minimum: 1 } },
});

export default definePlugin({
  ...manifest,
  options: jsonSchema<Options>({
    type: 'object',
    additionalProperties: false,
    properties: {
      session: amounts('`maxCost` in US dollars and `maxTokens` of a session with its sub-agents, over all its runs.'),
      day: amounts('The same of a day, over all sessions and projects of this user.'),
    },
  }),
  apply(scope) {
    const { config, session, services, host } = scope;
    const spending = host.pool(`spent in ${session.origin?.rootSession ?? session.parent ?? session.id}`, () => new Spending());
    // There before the first request is sent, so that nothing has to be waited for when it is over.
    let day: Day | undefined;
    const openedDay = async (): Promise<Day> => {
      const { openDay } = await import('./day.ts');
      return host.pool('day', () => openDay(scope.home, scope.clock, scope.warn));
    };
    scope.events.on('usage', ({ usage, child }) => {
      // A sub-agent books its own into the account that it shares with its root.
      if (child !== undefined) return;
      spending.add(usage, session.parent !== undefined);
      day?.add(usage, session.parent !== undefined);
    });
    scope.hooks.request.tap('keep to the budget', { stage: 'late' }, async (request) => {
      const { budgetsOf, verdictOn } = await import('./check.ts');
      if (scope.options.day) day ??= await openedDay();
      const total = session.parent === undefined ? services.find('usage')?.total() : undefined;
      const budgets = budgetsOf({ config, options: scope.options, run: spending.spent, total, today: day?.spent() });
      return verdictOn(request, budgets, scope.registries.providers.get(request.provider)?.info?.(request.model)?.price);
    });
  },
});
