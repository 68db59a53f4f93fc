import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalPath } from '../../../kernel/paths.ts';
import { CastError, type Child, type Powers, type Scope, type Tool, type ToolCall, type ToolInputs, type ToolResult } from '../../../kernel/index.ts';
import plugin from '../../../plugins/search/index.ts';
import { callTool, putInto } from '../../tool-call.ts';

export type Engine = 'auto' | 'ripgrep' | 'walk';
export interface Desk {
  readonly top: string;
  readonly cwd: string;
  /** Every program that was started, with its arguments. */
  readonly started: string[][];
  put(name: string, content?: string | Uint8Array): string;
  run<T extends 'grep' | 'glob' | 'ls'>(engine: Engine, tool: T, input: ToolInputs[T], call?: Partial<ToolCall>): Promise<ToolResult>;
  remove(): void;
}

const startChild: Powers['process']['spawn'] = async (argv, { cwd, env, signal, timeoutMs }) => {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  await new Promise<void>((done, fail) => child.once('spawn', done).once('error', (error) => fail(new CastError('INTERNAL', error.message))));
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  signal.addEventListener('abort', () => child.kill('SIGKILL'));
  const exit = new Promise<Awaited<Child['exit']>>((done) =>
    child.once('close', (code, by) => {
      clearTimeout(timer);
      done({ code, signal: by, timedOut });
    }),
  );
  async function* output(): Child['output'] {
    for await (const bytes of child.stdout) yield { from: 'out' as const, bytes: bytes as Uint8Array };
    for await (const bytes of child.stderr) yield { from: 'err' as const, bytes: bytes as Uint8Array };
  }
  return { pid: child.pid ?? 0, output: output(), exit, kill: async () => void child.kill('SIGKILL'), alive: () => child.exitCode === null };
};

/** The tools of the plugin over a temporary folder, without a kernel. `start` stands in for starting programs. */
export const openDesk = (start: Powers['process']['spawn'] = startChild): Desk => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'cast-search-')));
  const cwd = join(top, 'ws');
  const home = join(top, 'home');
  mkdirSync(cwd);
  mkdirSync(home);
  const started: string[][] = [];
  const fs = { canonical: (path: string, base: string) => canonicalPath(path, base) };
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const toolsFor = (engine: Engine): Map<string, Tool> => {
    const tools = new Map<string, Tool>();
    const scope = {
      options: { engine },
      powers: {
        fs,
        process: {
          spawn: (argv: readonly string[], options: Parameters<typeof start>[1]) => {
            started.push([...argv]);
            return start(argv, { ...options, env });
          },
        },
      },
      clock: { now: () => performance.now() },
      environment: env,
      registries: { tools: { add: (tool: Tool) => tools.set(tool.name, tool) } },
    } as unknown as Scope<{ engine: Engine }, never>;
    plugin.spec.apply?.(scope);
    return tools;
  };
  return {
    top,
    cwd,
    started,
    put: (name, content) => putInto(cwd, name, content),
    run: (engine, name, given, more) => callTool(toolsFor(engine).get(name), given, cwd, more),
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
};
