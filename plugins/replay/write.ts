import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import type { CastConfig } from '../../kernel/index.ts';
import { MAX_BYTES } from './limits.ts';
import type { WholeRecording } from './recording.ts';

/** In one piece, for its owner alone. False when it is too large to be read again. */
export const writeRecording = async (file: string, recording: WholeRecording): Promise<boolean> => {
  const text = `${JSON.stringify(recording)}\n`;
  if (Buffer.byteLength(text) > MAX_BYTES) return false;
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return true;
};

/** What decides what happens; addresses, headers and names of keys are where the session was recorded, and plugins are what they are now. */
export const plainConfig = ({ providers = {}, plugins = {}, ...config }: CastConfig): CastConfig =>
  JSON.parse(
    JSON.stringify({
      ...config,
      providers: Object.fromEntries(Object.entries(providers).map(([name, { models = {}, reasoning = {} }]) => [name, { models, reasoning }])),
      plugins: Object.fromEntries(Object.entries(plugins).filter(([name]) => name !== 'replay')),
    }),
  ) as CastConfig;
