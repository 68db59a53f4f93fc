/** What a kernel is opened with: the folder, its project, its configuration, and what of it is trusted. */
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { CastError, type CastConfig, type OpenOptions, type Settings } from '../kernel/index.ts';
import { systemClock } from '../kernel/host/clock.ts';
import { openTrust, type Gated, type TrustStatus } from '../kernel/host/trust.ts';
import { nearest } from '../kernel/nearest.ts';
import { builtins } from './builtins.ts';
import type { Environment } from './config/environment.ts';
import { collectGated } from './config/gated.ts';
import { realPath } from './config/places.ts';
import { findProject } from './config/project.ts';
import { readSettings, type ReadSettings } from './config/read.ts';
import { count } from './style.ts';

export interface OpeningRequest {
  /** Where cast was started. */
  readonly startedIn: string;
  readonly environment: Environment;
  /** `--cwd`, relative to where cast was started. */
  readonly cwd?: string | undefined;
  /** `--trust` and `--trust=text`: for this run. */
  readonly trust?: 'code' | 'text' | undefined;
  readonly safe: boolean;
  /** What flags set, as the nearest layer. */
  readonly flags: CastConfig;
}

export interface Opening extends Settings {
  readonly cwd: string;
  readonly root: string;
  /** `$CAST_HOME`. */
  readonly home: string;
  readonly environment: Environment;
  /** For people, on standard error. */
  readonly remarks: readonly string[];
  readonly reload: () => Promise<Settings>;
}

/** Names that a project's plugins may not take. */
export const lockedNames = (): ReadonlySet<string> => new Set(builtins.flatMap(({ manifest }) => (manifest.locked ? [manifest.name] : [])));

export const castHome = (environment: Environment, startedIn: string): string =>
  environment['CAST_HOME'] ? resolve(startedIn, environment['CAST_HOME']) : join(homedir(), '.cast');

/** Throws CLI_USAGE when `--cwd` is no folder. */
export const workingFolder = (cwd: string | undefined, startedIn: string): string => {
  if (cwd === undefined) return realPath(startedIn);
  const folder = resolve(startedIn, cwd);
  if (isFolder(folder)) return realPath(folder);
  throw new CastError('CLI_USAGE', `--cwd ${cwd} is no folder`, { fix: 'Name a folder that exists.' });
};

export const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};

export const readOpening = async (request: OpeningRequest): Promise<Opening> => {
  const cwd = workingFolder(request.cwd, request.startedIn);
  const home = castHome(request.environment, request.startedIn);
  const { root } = findProject(cwd, { home: homedir(), castHome: home });
  const read = async (): Promise<Settings & { readonly remarks: readonly string[] }> => {
    const gated: Gated = request.safe ? { code: {}, text: [] } : await collectGated(root, cwd, home);
    const trust = trustOf(request, home, root, gated);
    const settings = await readSettings({
      cwd,
      root,
      castHome: home,
      environment: request.environment,
      flags: request.flags,
      trust: { decision: trust.status.decision, gated },
      safe: request.safe,
      locked: lockedNames(),
    });
    checkSwitches(request.flags, settings);
    const remarks = [...settings.warnings, ...trust.problem, ...trustRemarks(trust.status, settings.untrusted)];
    return { layers: settings.layers, plugins: settings.plugins, remarks };
  };
  const first = await read();
  return { cwd, root, home, environment: request.environment, ...first, reload: read };
};

/** To switch off what is not here is no mistake, as in a file; to switch it on, or nearly to name another, is one. */
const checkSwitches = ({ plugins = {} }: CastConfig, settings: Settings): void => {
  const known = [...builtins, ...settings.plugins].map(({ manifest }) => manifest.name);
  const stranger = Object.keys(plugins).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  const near = nearest(stranger, known);
  if (near === undefined && plugins[stranger] === false) return;
  throw new CastError('CONFIG_UNKNOWN_PLUGIN', `--plugin ${stranger}: there is no plugin of this name`, {
    fix: near === undefined ? '`cast plugins list` shows all names.' : `Did you mean ${near}?`,
  });
};

/** Options of `Kernel.open` and `Kernel.inspect`, for a process without a person to ask. */
export const openOptionsOf = ({ cwd, root, environment, layers, plugins, reload }: Opening): OpenOptions => ({
  cwd,
  root,
  environment,
  layers,
  plugins,
  reload,
  interactive: false,
});

const trustOf = (
  { trust }: OpeningRequest,
  home: string,
  root: string,
  gated: Gated,
): { readonly status: TrustStatus; readonly problem: readonly string[] } => {
  if (trust !== undefined) return { status: { decision: trust === 'code' ? 'trusted' : 'text' }, problem: [] };
  const store = openTrust({ home, clock: systemClock });
  return { status: store.status(root, gated), problem: store.problem ? [store.problem.message] : [] };
};

const trustRemarks = ({ decision, changed = [], newText = [] }: TrustStatus, untrusted: ReadSettings['untrusted']): readonly string[] => {
  if (newText.length > 0) return [`New since you trusted this project: ${some(newText)}.`];
  if (decision === 'changed')
    return [`Changed since you trusted this project, so its code is not used: ${some(changed)}. Look at it, then run \`cast trust\`.`];
  if (untrusted.length === 0 || decision === 'text') return [];
  return [
    `This project is not trusted, so ${some(untrusted)} ${untrusted.length === 1 ? 'is' : 'are'} not used. Trust it with \`cast trust\`, or once with --trust.`,
  ];
};

const some = (paths: readonly string[]): string =>
  paths.length <= 3 ? paths.join(', ') : `${paths.slice(0, 2).join(', ')} and ${count(paths.length - 2, 'more file')}`;
