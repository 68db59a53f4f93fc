/** A session that edits, writes and runs commands in a folder of its own, a repository or not. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createTestSession, say, use, type Beat, type TestSession, type TestSessionOptions } from '../../../kernel/testkit/index.ts';
import { createMemoryStore } from '../../../kernel/session/memory-store.ts';
import { systemClock } from '../../../kernel/host/clock.ts';
import bash from '../../../plugins/bash/index.ts';
import checkpoints from '../../../plugins/checkpoints/index.ts';
import files from '../../../plugins/files/index.ts';
import shell from '../../../plugins/shell/index.ts';

export const hasGit = ((): boolean => {
  try {
    execFileSync('git', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

export interface Desk extends AsyncDisposable {
  readonly cwd: string;
  readonly isRepository: boolean;
  readonly session: TestSession;
  /** One turn in which the model makes these calls, one after another. */
  turn(prompt: string, ...calls: readonly (readonly [tool: string, input: object])[]): Promise<void>;
  command(name: string, args?: string): Promise<string>;
  put(name: string, text: string): void;
  text(name: string): string | undefined;
  git(...words: readonly string[]): string;
  /** Everything below `.git`, byte for byte. */
  gitBytes(): Readonly<Record<string, string>>;
}

export interface DeskOptions extends Partial<TestSessionOptions> {
  readonly git?: boolean;
  /** What a person answers a question of a command with. */
  readonly overwrite?: 'keep' | 'overwrite';
}

const environment = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b', GIT_CONFIG_NOSYSTEM: '1' };

export const openDesk = async ({ git = false, overwrite, plugins = [], ...options }: DeskOptions = {}): Promise<Desk> => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'cast-points-')));
  const run = (...words: readonly string[]): string =>
    execFileSync('git', [...words], { cwd, encoding: 'utf8', env: { ...process.env, ...environment, GIT_OPTIONAL_LOCKS: '0' } });
  if (git) run('init', '-q', '-b', 'main');
  const next: Beat[] = [];
  const beat: Beat = (request, signal) => (next.shift() ?? say('done'))(request, signal);
  const session = await createTestSession({
    plugins: [shell, bash, files, checkpoints, ...(plugins as readonly (typeof files)[])],
    interactive: overwrite !== undefined,
    script: Array.from({ length: 400 }, () => beat),
    cwd,
    environment,
    answer: (question) => (question.kind === 'command' ? overwrite : 'once'),
    ...options,
  });
  return {
    cwd,
    isRepository: git,
    session,
    turn: async (prompt, ...calls) => {
      for (const [tool, input] of calls) next.push(use(tool, input));
      await session.run(prompt);
      const statuses = session.events('tool.ended').slice(-calls.length || Number.POSITIVE_INFINITY);
      const bad = statuses.find(({ status }) => status !== 'ok');
      if (bad) throw new Error(`${bad.tool}: ${bad.content}`);
    },
    command: async (name, args = '') => {
      const outcome = await session.client.command(name, args);
      if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
      return typeof outcome.result === 'string' ? outcome.result : JSON.stringify(outcome.result);
    },
    put: (name, text) => {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    },
    text: (name) => (existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), 'utf8') : undefined),
    git: run,
    gitBytes: () => bytesBelow(join(cwd, '.git')),
    [Symbol.asyncDispose]: async () => {
      await session.close();
      if (!options.store) rmSync(cwd, { recursive: true, force: true });
    },
  };
};

const bytesBelow = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [
        join(entry.parentPath, entry.name),
        createHash('sha256')
          .update(readFileSync(join(entry.parentPath, entry.name)))
          .digest('hex'),
      ]),
  );

export const memoryStore = () => createMemoryStore(systemClock);
export const numbered = (count: number, word = 'line'): string => Array.from({ length: count }, (_, index) => `${word} ${index + 1}\n`).join('');
