import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'checkpoints',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Keeps what files were before each change, and takes turns back: /undo, /rewind.',
  capabilities: ['fs', 'process'],
  activation: ['session'],
  commands: [
    { name: 'undo', summary: 'Takes the last prompt back, with what it changed in files' },
    { name: 'rewind', summary: 'Goes back to before an earlier prompt: conversation, files or both' },
  ],
  taps: ['gate'],
  inChildren: 'inherit',
});
