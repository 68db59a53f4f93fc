import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'budget',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Sends no request that could go over the budget of a run, a session or a day.',
  // What the others make of a request is what it costs.
  after: ['fallback', 'images', 'providers'],
  uses: ['usage?'],
  capabilities: ['fs'],
  activation: ['config:limits.maxCost', 'config:limits.maxTokens', 'config:plugins.budget'],
  taps: ['request'],
  locked: true,
  inChildren: 'inherit',
});
