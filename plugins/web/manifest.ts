import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'web',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Tools web_fetch and web_search: pages as Markdown, and what a search engine finds.',
  capabilities: ['net', 'secrets'],
  activation: ['session'],
  taps: [],
});
