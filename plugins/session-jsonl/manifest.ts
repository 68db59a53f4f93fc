import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'session-jsonl',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Writes each session as an append-only transcript of JSON lines, beside the store.',
  capabilities: ['fs'],
  activation: ['config:plugins.session-jsonl'],
  taps: ['stored', 'close'],
  inChildren: 'inherit',
});
