import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'providers',
  version: '0.1.0',
  apiVersion: API_VERSION,
  summary: 'Talks to OpenAI-compatible model providers, and decides about retries.',
  capabilities: ['fs', 'net', 'secrets'],
  activation: ['session'],
  taps: ['open', 'request', 'failure'],
});
