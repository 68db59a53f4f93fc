import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'todo',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Tool todo_write, the list that it keeps, and a nudge for a model that stops while todos are open.',
  // What a compaction took out of view is told again in the same step.
  after: ['compaction'],
  capabilities: [],
  activation: ['session'],
  taps: ['prepare', 'offer', 'settle'],
  inChildren: 'inherit',
});
