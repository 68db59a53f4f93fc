import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'providers',
  version: '0.1.0',
  apiVersion: API_VERSION,
  summary: 'Talks to OpenAI-compatible model providers, and decides about retries.',
  capabilities: ['fs', 'net', 'secrets', 'settings'],
  activation: ['session'],
  taps: ['open', 'request', 'failure'],
  commands: [
    { name: 'provider', summary: 'Shows, adds, switches and removes providers of models' },
    { name: 'model', summary: 'Shows the models of the provider, or chooses one' },
    { name: 'subagent-model', summary: 'The model of sub-agents' },
    { name: 'plan-model', summary: 'The model of plan mode' },
    { name: 'reasoning', summary: 'How much the model reasons' },
  ],
});
