import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalPath } from '../../../kernel/paths.ts';
import { type Scope, type Tool, type ToolCall, type ToolInputs, type ToolResult } from '../../../kernel/index.ts';
import plugin from '../../../plugins/files/index.ts';
import { callTool, putInto } from '../../tool-call.ts';

export interface Desk {
  readonly cwd: string;
  put(name: string, content: string | Uint8Array): string;
  bytes(name: string): Buffer;
  text(name: string): string;
  run<T extends 'read' | 'write' | 'edit'>(tool: T, input: ToolInputs[T], call?: Partial<ToolCall>): Promise<ToolResult>;
  /** What the plugin keeps for the process under a key. */
  pooled(key: string): unknown;
  remove(): void;
}

/** What others do meanwhile. */
export interface Meanwhile {
  /** Behind the look at where a path leads. */
  readonly looked?: (path: string) => void;
  /** Just before the new content is put beside its place. */
  readonly drafting?: () => void;
}

interface DeskOptions extends Meanwhile {
  readonly mode?: 'literal' | 'hashline';
  readonly now?: () => number;
}

/** The tools of the plugin over a temporary folder, without a kernel. */
export const openDesk = ({ looked, drafting, mode = 'literal', now = Date.now }: DeskOptions = {}): Desk => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'cast-files-')));
  const cwd = join(top, 'ws');
  mkdirSync(cwd);
  const tools = new Map<string, Tool>();
  const pool = new Map<string, unknown>();
  const fs = {
    canonical: async (path: string, base: string) => {
      const canonical = await canonicalPath(path, base);
      looked?.(path);
      return canonical;
    },
  };
  let count = 0;
  const scope = {
    options: { mode },
    powers: { fs },
    ids: {
      next: (kind: string) => {
        drafting?.();
        return `${kind}-${count++}`;
      },
    },
    session: { id: 's1' },
    host: { pool: (key: string, make: () => unknown) => pool.set(key, make()).get(key), clock: { now } },
    registries: { tools: { add: (tool: Tool) => tools.set(tool.name, tool) } },
  } as unknown as Scope<{ mode: 'literal' | 'hashline' }, never>;
  plugin.spec.apply?.(scope);
  return {
    cwd,
    put: (name, content) => putInto(cwd, name, content),
    bytes: (name) => readFileSync(join(cwd, name)),
    text: (name) => readFileSync(join(cwd, name), 'utf8'),
    run: (name, given, more) => callTool(tools.get(name), given, cwd, more),
    pooled: (key) => pool.get(key),
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
};
