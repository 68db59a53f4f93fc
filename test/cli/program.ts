/** Runs the command as a real process, in a project and a home of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProvider } from '../provider.ts';

export interface Place {
  readonly cwd: string;
  readonly home: string;
  readonly castHome: string;
  remove(): void;
}

/** `files` by path in the project; those that begin with `~/` lie in `$CAST_HOME`. */
export const createPlace = (files: Readonly<Record<string, string>> = {}): Place => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cast-command-')));
  const [cwd, home] = [join(folder, 'project'), join(folder, 'home')];
  const castHome = join(home, '.cast');
  mkdirSync(cwd);
  mkdirSync(home);
  for (const [name, content] of Object.entries(files)) {
    const file = name.startsWith('~/') ? join(castHome, name.slice(2)) : join(cwd, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return { cwd, home, castHome, remove: () => rmSync(folder, { recursive: true, force: true }) };
};

export interface Line {
  readonly type: string;
  readonly [field: string]: unknown;
}
export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}
export interface Running {
  readonly child: ChildProcess;
  readonly done: Promise<Outcome>;
  /** Resolves when standard output holds this. */
  until(text: string): Promise<void>;
}
export interface StartOptions {
  readonly program: string;
  readonly place: Place;
  readonly provider?: TestProvider;
  readonly env?: Readonly<Record<string, string>>;
  /** Null is /dev/null; held open is a pipe that nobody writes to. Default: a pipe at its end. */
  readonly stdin?: string | null | { readonly heldOpen: true };
  /** Node flags before the program. */
  readonly node?: readonly string[];
  /** Milliseconds until it is killed. */
  readonly limitMs?: number;
}

export const start = (args: readonly string[], options: StartOptions): Running => {
  const startedAt = performance.now();
  const { program, place, stdin = '', node = [], limitMs = 25_000 } = options;
  const child = spawn(process.execPath, [...node, program, ...args], {
    cwd: place.cwd,
    env: environmentOf(options),
    stdio: [stdin === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  const watchers = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    for (const watcher of watchers) watcher();
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  child.stdin?.on('error', () => undefined);
  if (typeof stdin === 'string') child.stdin?.end(stdin);
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const done = new Promise<Outcome>((resolve) => {
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr, ms: performance.now() - startedAt });
    });
  });
  const until = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!stdout.includes(text)) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      void done.then(() => reject(new Error(`ended without ${text}: ${stderr}`)));
      look();
    });
  return { child, done, until };
};

const environmentOf = ({ place, provider, env }: StartOptions): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: place.home,
  CAST_HOME: place.castHome,
  ...(provider ? { CAST_BASE_URL: provider.url, CAST_API_KEY: 'key-of-the-test', CAST_MODEL: 'test-model' } : {}),
  ...env,
});

export const linesOf = ({ stdout }: Outcome): readonly Line[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

/** What is wrong with a stream of JSON lines; empty when it is as promised. */
export const streamFaults = (outcome: Outcome): readonly string[] => {
  const lines = linesOf(outcome);
  const last = lines.at(-1);
  const ends = lines.filter(({ type }) => type === 'end').length;
  const checks: readonly (readonly [isFine: boolean, fault: string])[] = [
    [lines.every((line, index) => line['seq'] === index + 1), 'seq is not the number of the line'],
    [lines.every((line) => typeof line['timestamp'] === 'number' && typeof line['sessionId'] === 'string'), 'a line has no timestamp or no session'],
    [lines[0]?.type === 'session', `the first line is ${lines[0]?.type}`],
    [ends === 1 && last?.type === 'end', `${ends} ends, the last line is ${last?.type}`],
    [last?.['exitCode'] === outcome.code, `end says ${String(last?.['exitCode'])}, the process ${outcome.code}`],
  ];
  return checks.flatMap(([isFine, fault]) => (isFine ? [] : [fault]));
};
