import { checkedBy, definePlugin } from '../../kernel/index.ts';
import { NOTHING } from './count.ts';
import { Ledger, type Sums } from './ledger.ts';
import { manifest } from './manifest.ts';

const isTotals = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(NOTHING).every((key) => typeof (value as Record<string, unknown>)[key] === 'number');
const SUMS = checkedBy<Sums>(
  'sums of usage',
  ({ session, models, contextTokens }) =>
    typeof session === 'string' && typeof contextTokens === 'number' && typeof models === 'object' && models !== null && Object.values(models).every(isTotals),
);

export default definePlugin({
  ...manifest,
  apply(scope) {
    const kept = scope.state<Sums | null, typeof SUMS>({ name: 'sums', data: SUMS, initial: null, fold: (_, sums) => sums });
    const ledger = new Ledger(scope.session.id, () => kept.value);
    scope.services.provide('usage', ledger);
    scope.registries.commands.add({
      name: 'usage',
      summary: 'Tokens and cost of this session',
      whileRunning: true,
      run: async () => (await import('./table.ts')).usageTable(ledger),
    });

    scope.events.on('usage', ({ usage, provider, model, purpose, child }) =>
      ledger.book({ provider, model, usage, active: scope.session.provider ?? provider, isChild: child !== undefined, isMain: purpose === 'main' }),
    );
    // Together with the reply, so that no crash makes it a reply that cost nothing.
    scope.hooks.reply.tap('keep the sums with the reply', { stage: 'late' }, (review) => {
      const sums = ledger.write();
      if (sums) review.record('sums', sums);
    });
    scope.events.on('reply.accepted', ({ message }) => message.origin === 'model' && ledger.confirm());
    const keep = async (): Promise<void> => {
      const sums = ledger.write();
      if (!sums) return;
      await kept.record(sums);
      ledger.confirm();
    };
    // What was asked beside the conversation, turned back or broken off.
    scope.hooks.ended.tap('keep the sums', keep);
    // What a command asked between two turns, and what a rewind took out of the branch.
    scope.hooks.close.tap('keep the sums', keep);
  },
});
