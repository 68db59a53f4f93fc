import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'identity',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Tells the model who it is, how it works, and where it is.',
  capabilities: [],
  activation: ['session'],
  taps: [],
  inChildren: 'inherit',
});
