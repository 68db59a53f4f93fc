import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'files',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Tools read, write and edit: exact file changes, each with the difference it made.',
  capabilities: ['fs'],
  activation: ['session'],
  taps: [],
});
