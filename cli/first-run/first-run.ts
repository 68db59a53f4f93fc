/** `cast` without a command, before anything is configured: a person is asked, once. */
import { isCastError } from '../../kernel/index.ts';
import { mergeLayers } from '../../kernel/host/config.ts';
import type { Environment } from '../config/environment.ts';
import { openOptionsOf, readOpening, type Opening } from '../opening.ts';
import { endKernel, startKernel } from '../processes.ts';
import type { Stdio } from '../stdio.ts';
import { oneLine } from '../style.ts';
import { openDialogue } from './dialogue.ts';
import { setUp } from './set-up.ts';

export interface FirstRun {
  readonly stdio: Stdio;
  readonly environment: Environment;
  readonly startedIn: string;
  /** What was written behind `cast`: the first prompt. */
  readonly words: readonly string[];
}

/** The exit code; undefined where something is configured, so that there is nothing to ask. */
export const firstRun = async (start: FirstRun): Promise<number | undefined> => {
  const { stdio, environment, startedIn, words } = start;
  const open = (): Promise<Opening> => readOpening({ startedIn, environment, safe: false, flags: {} });
  const opening = await open();
  if (isConfigured(opening)) return undefined;
  for (const text of opening.remarks) stdio.err(`cast: ${oneLine(text)}\n`);
  const saved = await ask(opening, stdio);
  if (saved === undefined) {
    await stdio.out('Nothing was saved.\n');
    return 0;
  }
  await stdio.out(`${saved}\n`);
  if (words.length === 0) {
    await stdio.out('Go on with: cast run "what is to be done"\n');
    return 0;
  }
  const { run } = await import('../run.ts');
  return run({ stdio, format: 'text', cwd: opening.cwd, prompt: words.join(' '), images: [], session: undefined, isEphemeral: false, open });
};

const isConfigured = ({ layers, plugins }: Opening): boolean => {
  const { model, provider, providers = {}, plugins: switches } = mergeLayers(layers).value;
  return plugins.length > 0 || model !== undefined || provider !== undefined || Object.keys(providers).length > 0 || switches?.['replay'] !== undefined;
};

/** In a session that leaves nothing behind. */
const ask = async (opening: Opening, stdio: Stdio): Promise<string | undefined> => {
  const dialogue = openDialogue(stdio, process.stdin);
  const kernel = startKernel(opening.home, stdio, opening.environment);
  try {
    const session = await kernel.open({ ...openOptionsOf(opening), ephemeral: true });
    return await setUp(session.client, dialogue);
  } catch (error) {
    if (dialogue.signal.aborted && !isCastError(error)) return undefined;
    throw error;
  } finally {
    dialogue.close();
    await endKernel(kernel, 'set up');
  }
};
