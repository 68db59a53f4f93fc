import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'replay',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Plays recorded replies, records whole sessions, and compares a session with its recording: no key, no network.',
  after: ['providers'],
  capabilities: ['fs', 'boundary'],
  activation: ['config:plugins.replay.file', 'config:plugins.replay.record', 'config:plugins.replay.check'],
  inChildren: 'skip',
  taps: ['open', 'ended'],
});
