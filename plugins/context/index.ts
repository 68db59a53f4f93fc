import { checkedBy, definePlugin } from '../../kernel/index.ts';
import { manifest } from './manifest.ts';
import type { ContextReport } from './report.ts';
import { CacheWatch, type Change, fold, type Kept, NOTHING } from './watch.ts';

const CHANGE = checkedBy<Change>('a change of the cache', (change) => 'prefix' in change || 'break' in change);

export default definePlugin({
  ...manifest,
  apply(scope) {
    const { session, registries, services, hooks, events } = scope;
    const kept = scope.state<Kept, typeof CHANGE>({ name: 'cache', data: CHANGE, initial: NOTHING, fold });
    const watch = new CacheWatch();
    let newest: ContextReport['newest'] = null;

    hooks.request.tap('see where the cache breaks', { stage: 'late' }, (request, at) => watch.see(request, at));
    events.on('usage', ({ usage, purpose, child }) => {
      if (purpose === 'main' && child === undefined) newest = { promptTokens: usage.promptTokens, cacheReadTokens: usage.cacheReadTokens };
    });
    // Once a turn, and seldom anything at all.
    hooks.ended.tap('keep where it broke', async () => {
      for (const change of await watch.changes(kept.value, registries.sections.list())) await kept.record(change);
    });

    const report = async (): Promise<ContextReport> => {
      const { partsOf } = await import('./parts.ts');
      const compaction = (await services.find('compaction')?.forecast()) ?? null;
      const drops = new Set(compaction?.drops);
      const parts = partsOf({ sections: registries.sections.list(), tools: registries.tools.list(), messages: session.view(), drops });
      return {
        session: session.id,
        provider: session.provider,
        model: session.model,
        window: session.window,
        parts,
        tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
        newest,
        contextTokens: services.find('usage')?.contextTokens() ?? 0,
        compaction,
        cache: { breaks: kept.value.breaks, newest: kept.value.newest },
      };
    };
    registries.commands.add({
      name: 'context',
      summary: 'What fills the context window, by owner, and what a compaction would drop',
      args: '[--json]',
      whileRunning: true,
      run: async (args) => {
        const { sketchOf } = await import('./report.ts');
        return args.trim() === '--json' ? JSON.stringify(await report(), null, 2) : sketchOf(await report());
      },
    });
  },
});
