import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'sessions-sqlite',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Keeps every session in one SQLite database, as it happens.',
  capabilities: ['fs'],
  activation: ['start'],
  taps: [],
  locked: true,
});
