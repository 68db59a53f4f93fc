import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'search',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Tools grep, glob and ls: with ripgrep, or the same without it.',
  capabilities: ['fs', 'process'],
  activation: ['session'],
  taps: [],
});
