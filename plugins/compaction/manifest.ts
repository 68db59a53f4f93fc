import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'compaction',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Makes a conversation that does not fit into the context window smaller, and asks again.',
  // Images are dropped first: a body of too many bytes is no matter of tokens.
  after: ['images'],
  capabilities: [],
  activation: ['session'],
  taps: ['failure'],
  inChildren: 'inherit',
});
