/** Asks git what there is, and writes nothing: neither index nor objects, refs or stash. */
import { resolve } from 'node:path';
import type { Powers } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';
import { markOf, statOf } from './state.ts';

export class Git {
  readonly #process: Powers['process'];
  readonly #cwd: string;
  readonly #indexFile: string | undefined;

  constructor(process: Powers['process'], cwd: string, indexFile?: string) {
    this.#process = process;
    this.#cwd = cwd;
    this.#indexFile = indexFile;
  }

  /** At the top of the working tree; undefined outside of one, or without git. */
  async repository(): Promise<{ readonly git: Git; readonly top: string } | undefined> {
    const out = await this.#ask(['rev-parse', '--show-toplevel', '--git-path', 'index']).catch(() => undefined);
    const [, top = '', index = ''] = /^([^]+)\n([^]+)\n$/.exec(out?.toString('utf8') ?? '') ?? [];
    return top === '' ? undefined : { git: new Git(this.#process, top, resolve(this.#cwd, index)), top };
  }
  /** Another one when the index has been written since; undefined where that is not known. */
  async indexMark(): Promise<string | undefined> {
    const stat = this.#indexFile === undefined ? undefined : await statOf(this.#indexFile);
    return stat && `${this.#indexFile} ${markOf(stat)}`;
  }
  /** Each tracked file with its object and the size that it had on disk when it was last seen to be the same. */
  index(): Promise<Buffer> {
    return this.#ask(['ls-files', '-z', '--stage', '--debug']);
  }
  /** Paths of tracked files that are not as the index says, and of files that are neither tracked nor ignored. */
  async dirty(): Promise<readonly string[]> {
    const [changed, untracked] = await Promise.all([
      this.#ask(['diff-files', '-z', '--name-only', '--ignore-submodules=all', '--no-ext-diff']),
      this.#ask(['ls-files', '-z', '--others', '--exclude-standard']),
    ]);
    return [...new Set([...pathsOf(changed), ...pathsOf(untracked)])];
  }
  /** Contents of objects by their id; those that are missing are left out. */
  async blobs(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    if (ids.length === 0) return found;
    const out = await this.#ask(['cat-file', '--batch'], `${ids.join('\n')}\n`);
    for (let at = 0; at < out.length; ) {
      const end = out.indexOf(10, at);
      const [id = '', kind, size = ''] = out.toString('latin1', at, end).split(' ');
      at = end + 1;
      if (kind !== 'blob') continue;
      found.set(id, Buffer.from(out.subarray(at, at + Number(size))));
      at += Number(size) + 1;
    }
    return found;
  }

  async #ask(words: readonly string[], stdin = ''): Promise<Buffer> {
    const child = await this.#process.spawn(['git', '-c', 'core.fsmonitor=false', '-c', 'core.untrackedCache=false', ...words], {
      cwd: this.#cwd,
      purpose: 'checkpoints',
      signal: AbortSignal.timeout(LIMITS.gitMs),
      timeoutMs: LIMITS.gitMs,
      // Without it git would write what it has learnt into the index.
      env: { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', LC_ALL: 'C' },
      stdin,
    });
    const chunks: Uint8Array[] = [];
    let total = 0;
    for await (const { from, bytes } of child.output) {
      if (from !== 'out') continue;
      chunks.push(Uint8Array.from(bytes));
      total += bytes.length;
      if (total > LIMITS.listBytes) {
        await child.kill();
        throw new Error(`git ${words[0] ?? ''} prints more than ${LIMITS.listBytes} bytes`);
      }
    }
    const { code, timedOut } = await child.exit;
    if (code !== 0) throw new Error(`git ${words[0] ?? ''} ${timedOut ? 'took too long' : `failed with ${code ?? 'a signal'}`}`);
    return Buffer.concat(chunks, total);
  }
}

const pathsOf = (list: Buffer): readonly string[] => list.toString('utf8').split('\0').filter(Boolean);

export interface Indexed {
  readonly id: string;
  readonly mode: string;
  readonly size: number;
}
/** What `--debug` tells comes behind the path that it is about. */
const ROW = /([0-7]{6}) ([0-9a-f]+) [0-3]\t([^\0]+)\0(?: {2}[^\n]*\n){4} {2}size: (\d+)[^\n]*\n/g;
export const parseIndex = (list: Buffer): ReadonlyMap<string, Indexed> =>
  new Map([...list.toString('utf8').matchAll(ROW)].map(([, mode = '', id = '', path = '', size]) => [path, { id, mode, size: Number(size) }]));
