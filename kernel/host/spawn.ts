/** Every child process of cast: its own group, standard input at its end, killed as a group, never outliving this process. */
import { execFile, spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CastError, messageOf } from '../errors.ts';
import type { SpawnSpec } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Child, Powers, ProcessOptions, ProcessResult } from '../contracts/powers.ts';
import { scrubEnvironment } from './child-environment.ts';
import { createOutput, type Source } from './child-output.ts';
import { HeadBuffer } from './head-buffer.ts';
import { createReaper, REAPER_SCRIPT, type ReaperProcess } from './orphans.ts';
import { ProcessGroup, watchGroups } from './process-group.ts';

export { scrubEnvironment, withoutCredentials } from './child-environment.ts';
export { killAllGroups, killAllGroupsNow, livePids } from './process-group.ts';

export interface SpawnerOptions {
  /** Of the session. */
  readonly environment: Readonly<Record<string, string>>;
  /** Who starts the children. */
  readonly plugin: string;
  /** The `spawn` hook. A throw refuses the child and is passed on. */
  prepare(spec: SpawnSpec, signal: AbortSignal): Promise<SpawnSpec>;
}
export interface Spawner {
  readonly run: Powers['process']['run'];
  readonly spawn: Powers['process']['spawn'];
}
type Exit = Awaited<Child['exit']>;

/** The longest that a timer takes, in milliseconds; beyond it node fires at once. */
const LONGEST_TIMER_MS = 2_147_483_647;
/** Milliseconds that making a pipe may take; then node's own are used. */
const MKFIFO_MS = 2_000;

export const createSpawner = (options: SpawnerOptions): Spawner => {
  const environment = scrubEnvironment(options.environment);
  const prepare = async (argv: readonly string[], how: ProcessOptions): Promise<SpawnSpec> => {
    const spec = { argv, cwd: how.cwd, env: { ...environment, ...how.env }, purpose: how.purpose, plugin: options.plugin };
    const prepared = await options.prepare(spec, how.signal);
    return { ...prepared, env: { ...prepared.env, PWD: prepared.cwd } };
  };
  return {
    spawn: async (argv, how) => {
      how.signal.throwIfAborted();
      const spec = await prepare(argv, how);
      how.signal.throwIfAborted();
      return startChild(spec, how, how.merge ?? false);
    },
    run: async (argv, how) => {
      if (how.signal.aborted) return notRun('It was cancelled before it started.');
      const spec = await prepare(argv, how);
      if (how.signal.aborted) return notRun('It was cancelled before it started.');
      try {
        return await collect(await startChild(spec, how, false), how.maxBytes ?? LIMITS.processBytes);
      } catch (error) {
        return notRun(messageOf(error));
      }
    },
  };
};

const notRun = (reason: string): ProcessResult => ({ code: null, signal: null, out: '', err: reason, cut: false, timedOut: false });

const collect = async (child: Child, maxBytes: number): Promise<ProcessResult> => {
  const kept = { out: new HeadBuffer(maxBytes), err: new HeadBuffer(maxBytes) };
  for await (const { from, bytes } of child.output) kept[from].push(bytes);
  const exit = await child.exit;
  return { ...exit, out: kept.out.text(), err: kept.err.text(), cut: kept.out.cut || kept.err.cut };
};

const startChild = async (spec: SpawnSpec, how: ProcessOptions, merge: boolean): Promise<Child> => {
  const pipe = merge ? await openPipe() : undefined;
  const input = how.stdin === undefined ? 'ignore' : 'pipe';
  let child: ChildProcess;
  try {
    child = await launch(spec, pipe ? [input, pipe.write, pipe.write] : [input, 'pipe', 'pipe']);
  } catch (error) {
    pipe?.read.destroy();
    throw error;
  } finally {
    if (pipe) closeSync(pipe.write);
  }
  if (child.stdin) {
    // A child that does not read what it is given is no fault of ours.
    child.stdin.on('error', () => undefined);
    child.stdin.end(how.stdin);
  }
  return superviseChild(child, how, pipe ? [{ from: 'out', stream: pipe.read }] : sourcesOf(child, merge));
};

const sourcesOf = (child: ChildProcess, merge: boolean): Source[] => [
  ...(child.stdout ? [{ from: 'out' as const, stream: child.stdout }] : []),
  ...(child.stderr ? [{ from: merge ? ('out' as const) : ('err' as const), stream: child.stderr }] : []),
];

const superviseChild = (child: ChildProcess, how: ProcessOptions, sources: readonly Source[]): Child => {
  const group = new ProcessGroup(child.pid ?? 0);
  startReaper();
  let timedOut = false;
  let settle: (exit: Exit) => void = () => undefined;
  const exit = new Promise<Exit>((resolve) => {
    settle = resolve;
  });
  // A process that even SIGKILL does not end (stuck in a dead mount) is given up, so that nobody waits for it.
  const end = async (): Promise<void> => {
    await group.end();
    settle({ code: null, signal: 'SIGKILL', timedOut });
  };
  const onAbort = (): void => void end();
  const onTimeout = (): void => {
    timedOut = true;
    void end();
  };
  const timer = how.timeoutMs === undefined || how.timeoutMs <= 0 ? undefined : setTimeout(onTimeout, Math.min(how.timeoutMs, LONGEST_TIMER_MS));
  how.signal.addEventListener('abort', onAbort, { once: true });
  // The signal may have come while the pipe was made, and is not told twice.
  if (how.signal.aborted) onAbort();
  child.on('error', () => undefined);
  child.once('exit', (code, signal) => {
    clearTimeout(timer);
    how.signal.removeEventListener('abort', onAbort);
    group.leaderExited();
    settle({ code, signal, timedOut });
  });
  return { pid: group.id, output: createOutput(sources, exit), exit, kill: end, alive: () => group.alive() };
};

/** Resolves once the process runs; rejects with a CastError that says what is missing. */
const launch = async (spec: SpawnSpec, stdio: StdioOptions): Promise<ChildProcess> => {
  const [program, ...args] = spec.argv;
  try {
    if (!program) throw new Error('there is no program to start');
    const child = spawn(program, args, { cwd: spec.cwd, env: { ...spec.env }, detached: true, stdio, windowsHide: true });
    if (child.pid === undefined) throw (await once(child, 'error'))[0];
    return child;
  } catch (error) {
    throw await startFailure(spec, error);
  }
};

const startFailure = async (spec: SpawnSpec, error: unknown): Promise<CastError> => {
  const program = spec.argv[0] ?? '';
  const isFolder = await stat(spec.cwd).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    return new CastError('PLUGIN_REFUSED', `Cannot start ${program}: the working directory ${spec.cwd} does not exist`, {
      cause: error,
      fix: 'Use a directory that exists.',
    });
  }
  const code = (error as NodeJS.ErrnoException).code;
  const reason = code === 'ENOENT' ? 'the program was not found' : code === 'EACCES' ? 'the file is not executable' : messageOf(error);
  return new CastError('PLUGIN_REFUSED', `Cannot start ${program}: ${reason}`, { cause: error, fix: `Install ${program}, or correct its path.` });
};

interface Pipe {
  readonly read: Socket;
  /** Must be closed once the child has it. */
  readonly write: number;
}

/**
 * A real pipe. What node gives a child are sockets, which cannot be opened again: `echo x > /dev/stderr` and `tee /dev/stdout`
 * fail on them. One pipe for both streams also keeps them in order of arrival. Undefined where it cannot be made.
 */
const openPipe = async (): Promise<Pipe | undefined> => {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), 'cast-pipe-'));
    const path = join(folder, 'pipe');
    await makeFifo(path);
    // The reading end first and without waiting: then the writing end, which must block its writers, opens at once.
    const read = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
    try {
      return { read, write: openSync(path, constants.O_WRONLY) };
    } catch (error) {
      read.destroy();
      throw error;
    }
  } catch {
    return undefined;
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
};

const makeFifo = (path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    execFile('mkfifo', ['-m', '600', path], { timeout: MKFIFO_MS }, (error) => (error ? reject(error) : resolve()));
  });

const launchReaper = (): ReaperProcess | undefined => {
  if (process.platform === 'win32') return undefined;
  const shell = spawn('/bin/sh', ['-c', REAPER_SCRIPT, 'cast-reaper'], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined);
  if (!shell.stdin || shell.pid === undefined) return undefined;
  shell.stdin.on('error', () => undefined);
  // It must not keep this process running.
  shell.unref();
  return { list: shell.stdin, onExit: (run) => shell.once('exit', run) };
};

let reaping = false;
/** With the first child, after it was started: it must not wait for this. */
const startReaper = (): void => {
  if (reaping) return;
  reaping = true;
  watchGroups(createReaper(launchReaper));
};
