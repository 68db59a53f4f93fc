import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'replay',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'A provider that plays a recorded conversation: no key, no network.',
  capabilities: ['fs'],
  activation: ['config:plugins.replay.file'],
  taps: [],
});
