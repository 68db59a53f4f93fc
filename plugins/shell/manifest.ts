import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'shell',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Understands bash commands before they run: their parts, whether they only read, and why they look dangerous.',
  provides: ['shell'],
  capabilities: [],
  activation: ['session'],
  taps: ['call'],
  locked: true,
  inChildren: 'inherit',
});
