import { basename } from 'node:path';
import type { SessionFace } from '../../kernel/index.ts';

/** No date and no time: they would change the prompt, and with it what a provider has cached. */
export const describeEnvironment = ({ cwd, root, model }: Pick<SessionFace, 'cwd' | 'root' | 'model'>, shell: string | undefined): string =>
  [
    '# Environment',
    `Working directory: ${cwd}`,
    ...(root === cwd ? [] : [`Project root: ${root}`]),
    `Platform: ${process.platform} ${process.arch}`,
    `Shell: ${basename(shell ?? 'bash')}`,
    ...(model === '' ? [] : [`Model: ${model}`]),
  ].join('\n');
