import { CastError } from '../errors.ts';
import { running } from '../hooks/running.ts';

let isInstalled = false;

/**
 * A plugin that calls process.exit() would end every session of the process, half-written. Inside a tap, a tool, a command
 * or the start of a plugin the call throws instead, and is counted as that plugin's fault.
 */
export const guardExit = (): void => {
  if (isInstalled) return;
  isInstalled = true;
  const exit = process.exit.bind(process);
  process.exit = ((code?: number | string | null) => {
    const who = running();
    if (who)
      throw new CastError('PLUGIN_EXIT', `plugin ${who.plugin} called process.exit(${code ?? ''}) in ${who.where} ${who.label}`, {
        plugin: who.plugin,
        fix: 'A plugin ends a turn by `{ stop }` or by an error; only the command line ends the process.',
      });
    exit(code);
  }) as typeof process.exit;
};
