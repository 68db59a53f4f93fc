import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'bash',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Runs shell commands that can neither hang a turn nor flood it.',
  uses: ['shell?'],
  capabilities: ['process', 'fs'],
  activation: ['session'],
  taps: [],
  inChildren: 'inherit',
});
