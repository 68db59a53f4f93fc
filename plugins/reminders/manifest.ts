import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'reminders',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Tells the model the date, that it was interrupted and that its steps run out; blocks a call that it repeats.',
  // What a compaction took out of view is told again in the same step.
  after: ['compaction'],
  capabilities: [],
  activation: ['session'],
  taps: ['prepare', 'call', 'gate', 'ended'],
  inChildren: 'inherit',
});
