import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'images',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Leaves images out for models that take none, and the oldest ones when a request has too many bytes.',
  // It says which model answers.
  after: ['fallback'],
  capabilities: [],
  activation: ['session'],
  taps: ['request', 'failure', 'reply'],
  inChildren: 'inherit',
});
