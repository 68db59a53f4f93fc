import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { canonicalPath } from '../../../kernel/paths.ts';
import { type Scope, type Tool, type ToolCall, type ToolInputs, type ToolResult, validate } from '../../../kernel/index.ts';
import plugin from '../../../plugins/files/index.ts';

export interface Desk {
  readonly cwd: string;
  put(name: string, content: string | Uint8Array): string;
  bytes(name: string): Buffer;
  text(name: string): string;
  run<T extends 'read' | 'write' | 'edit'>(tool: T, input: ToolInputs[T], call?: Partial<ToolCall>): Promise<ToolResult>;
  remove(): void;
}

/** The tools of the plugin over a temporary folder, without a kernel. */
export const openDesk = (): Desk => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'cast-files-')));
  const cwd = join(top, 'ws');
  mkdirSync(cwd);
  const tools = new Map<string, Tool>();
  const fs = { canonical: (path: string, base: string) => canonicalPath(path, base) };
  let count = 0;
  const scope = {
    options: { mode: 'literal' },
    powers: { fs },
    ids: { next: (kind: string) => `${kind}-${count++}` },
    session: { id: 's1' },
    host: { pool: (_key: string, make: () => unknown) => make() },
    registries: { tools: { add: (tool: Tool) => tools.set(tool.name, tool) } },
  } as unknown as Scope<{ mode: 'literal' }, never>;
  plugin.spec.apply?.(scope);
  return {
    cwd,
    put(name, content) {
      const path = join(cwd, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    bytes: (name) => readFileSync(join(cwd, name)),
    text: (name) => readFileSync(join(cwd, name), 'utf8'),
    async run(name, given, more = {}) {
      const tool = tools.get(name);
      if (!tool) throw new Error(`no tool ${name}`);
      const checked = await validate(tool.schema, given);
      if (checked.issues) throw new Error(checked.issues.map((issue) => issue.message).join('; '));
      const input = checked.value as never;
      const paths = await Promise.all(tool.paths(input).map((path) => canonicalPath(path, cwd)));
      const call = { id: 'c1', tool: name, input, cwd, paths, signal: new AbortController().signal, progress() {}, ...more } as unknown as ToolCall;
      const result = await tool.run(input, call);
      return typeof result === 'string' ? { status: 'ok', content: result } : { status: 'ok', content: '', ...result };
    },
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
};
