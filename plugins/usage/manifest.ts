import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'usage',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Adds up the tokens and the cost of a session, by model and with the part of its sub-agents.',
  provides: ['usage'],
  capabilities: [],
  activation: ['session'],
  taps: ['reply', 'ended', 'close'],
  commands: [{ name: 'usage', summary: 'Tokens and cost of this session' }],
  inChildren: 'inherit',
});
