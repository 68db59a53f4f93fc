import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'context',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Shows what fills the context window and who put it there, and where the cache of the provider broke.',
  // It looks at requests as they are sent: another model breaks the cache, and so do images that are left out.
  after: ['fallback', 'images'],
  uses: ['usage?', 'compaction?'],
  capabilities: [],
  activation: ['session'],
  taps: ['request', 'ended'],
  commands: [{ name: 'context', summary: 'What fills the context window, by owner, and what a compaction would drop' }],
});
