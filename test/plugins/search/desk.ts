import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSpawner } from '../../../kernel/host/spawn.ts';
import { canonicalPath } from '../../../kernel/paths.ts';
import type { Powers, Scope, Tool, ToolCall, ToolInputs, ToolResult } from '../../../kernel/index.ts';
import plugin from '../../../plugins/search/index.ts';
import { callTool, putInto } from '../../tool-call.ts';

export type Engine = 'auto' | 'ripgrep' | 'walk';
export const ENGINES = ['ripgrep', 'walk'] as const;
export interface Desk {
  readonly top: string;
  readonly cwd: string;
  /** Every program that was started, with its arguments. */
  readonly started: string[][];
  put(name: string, content?: string | Uint8Array): string;
  run<T extends 'grep' | 'glob' | 'ls'>(engine: Engine, tool: T, input: ToolInputs[T], call?: Partial<ToolCall>): Promise<ToolResult>;
  remove(): void;
}

/** As the kernel starts processes. */
export const startChild = createSpawner({
  environment: Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
  plugin: 'search',
  prepare: async (spec) => spec,
}).spawn;

export interface DeskOptions {
  /** Stands in for starting programs. */
  readonly start?: Powers['process']['spawn'];
  readonly now?: () => number;
}

/** The tools of the plugin over a temporary folder, without a kernel. */
export const openDesk = ({ start = startChild, now = () => performance.now() }: DeskOptions = {}): Desk => {
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
      clock: { now },
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
