import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'question',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Tool question: what the model cannot decide is put to the user, and waits for the answer as long as it takes.',
  capabilities: [],
  activation: ['session'],
  taps: ['open', 'input', 'prepare', 'ended'],
  // A sub-agent answers to the model that started it.
  inChildren: 'skip',
});
