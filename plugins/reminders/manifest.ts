import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'reminders',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Tells the model the date, that it was interrupted and that its steps run out; blocks a call that it repeats.',
  capabilities: [],
  activation: ['session'],
  taps: ['prepare', 'call', 'gate', 'ended'],
  inChildren: 'inherit',
});
