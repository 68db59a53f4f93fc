/** Runs `child.ts` as processes of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface Running {
  readonly process: ChildProcess;
  /** Everything it printed, once it has ended. */
  readonly done: Promise<string>;
  /** Resolves with the first line that it prints. */
  readonly line: Promise<string>;
}
export interface Children {
  start(task: string, home: string, session?: string, rounds?: number): Running;
  /** With a limit on the size of files, in blocks of 1,024 bytes, as on a disk that is full. */
  startWithin(blocks: number, task: string, home: string, session: string): Running;
  /** Ends those that are left, and removes the bundle. */
  dispose(): void;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** `modules` is where the bundle finds its packages; default: those of the repository. */
export const bundleChild = async (modules = here('../../../node_modules')): Promise<Children> => {
  const folder = mkdtempSync(join(tmpdir(), 'cast-child-'));
  const bundle = join(folder, 'child.mjs');
  await build({
    entryPoints: [here('./child.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['better-sqlite3'],
    // Kysely is bundled, so that the only package that is looked up at run time is the native one.
    nodePaths: [here('../../../node_modules')],
  });
  symlinkSync(modules, join(folder, 'node_modules'));
  const running = new Set<ChildProcess>();

  const follow = (child: ChildProcess): Running => {
    running.add(child);
    let text = '';
    const lines = new EventTarget();
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      lines.dispatchEvent(new Event('data'));
    });
    child.stderr?.pipe(process.stderr);
    const done = new Promise<string>((resolve) => {
      child.on('close', () => {
        running.delete(child);
        resolve(text);
      });
    });
    const line = new Promise<string>((resolve) => {
      lines.addEventListener('data', () => text.includes('\n') && resolve(text.slice(0, text.indexOf('\n'))));
      void done.then(resolve);
    });
    return { process: child, done, line };
  };

  return {
    start: (task, home, session = '', rounds = 1) => follow(spawn(process.execPath, [bundle, task, home, session, String(rounds)])),
    startWithin(blocks, task, home, session) {
      // Ignored, the signal becomes an error of the write.
      const script = `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`;
      return follow(spawn('bash', ['-c', script, 'bash', process.execPath, bundle, task, home, session]));
    },
    dispose() {
      for (const child of running) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
