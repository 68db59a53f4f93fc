import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'compaction',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Summarises the older part of a conversation before the context window is full, and makes one smaller that does not fit.',
  // Images are dropped first: a body of too many bytes is no matter of tokens.
  after: ['images'],
  provides: ['compaction'],
  uses: ['usage?', 'mode?'],
  capabilities: ['model'],
  activation: ['session'],
  taps: ['prepare', 'request', 'failure', 'compact'],
  commands: [{ name: 'compact', summary: 'Summarises the older part of the conversation' }],
  inChildren: 'inherit',
});
