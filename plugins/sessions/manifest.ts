import { API_VERSION, defineManifest } from '../../kernel/index.ts';

export const manifest = defineManifest({
  name: 'sessions',
  version: '1.0.0',
  apiVersion: API_VERSION,
  summary: 'Commands that leave a session for another one: new, continue, fork; and clear, which empties what the model sees.',
  capabilities: ['sessions'],
  activation: ['command:new', 'command:continue', 'command:fork', 'command:clear'],
  taps: [],
  commands: [
    { name: 'new', summary: 'Begins a new session' },
    { name: 'continue', summary: 'Goes on with the newest other session of this project' },
    { name: 'fork', summary: 'Goes on with a copy of this session, and leaves it as it is' },
    { name: 'clear', summary: 'Empties the context of the model; what was said stays stored' },
  ],
  inChildren: 'skip',
});
