import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'permissions',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Decides which calls run, which need a yes from a person and which are refused; remembers what was allowed.',
  provides: ['grants'],
  // Without the grammar no command is understood, so every command is asked about.
  uses: ['shell?'],
  capabilities: ['fs'],
  activation: ['session'],
  taps: ['gate', 'ask'],
  commands: [{ name: 'permissions', summary: 'Shows and changes what may run without asking' }],
  locked: true,
  inChildren: 'inherit',
});
