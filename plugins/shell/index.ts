import { definePlugin, type ShellService } from '../../kernel/index.ts';
import { manifest } from './manifest.ts';

type Analysis = typeof import('./analysis.ts');

// One per process: the module has no state of a project, and its parser takes some 25 ms to load.
let analysis: Analysis | undefined;
const load = async (): Promise<Analysis> => (analysis ??= await import('./analysis.ts'));

/** The loaded analysis. Before that nothing is certain: no parts, nothing read-only, everything worth a look. */
const now = (): Analysis | undefined => {
  if (!analysis) void load();
  return analysis;
};

const service: ShellService = {
  parts: (command) => now()?.partsOf(command),
  isReadOnly: (command) => now()?.isReadOnly(command) ?? false,
  dangers: (command) => now()?.dangersOf(command) ?? ['cannot be parsed yet: the shell grammar is still loading'],
};

export default definePlugin({
  ...manifest,
  apply(scope) {
    scope.services.provide('shell', service);
    // The service is synchronous and the grammar is not needed for the first request: it is loaded with the first call that carries a command,
    // before any gate sees one.
    scope.hooks.call.tap('load the grammar', { stage: 'mode' }, async (call) => {
      if (typeof (call.input as { command?: unknown }).command === 'string') await load();
    });
  },
});
