import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'fallback',
  version: '0.1.0',
  apiVersion: API_VERSION,
  summary: 'Goes on with the next model of a chain while the first has no quota, is limited or is down.',
  capabilities: [],
  activation: ['config:fallback'],
  taps: ['open', 'request', 'failure'],
  inChildren: 'inherit',
});
