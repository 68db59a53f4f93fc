/** One call of a tool as the kernel makes it: its input checked, its paths canonical, what it throws as an answer taken as one. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { thrownAnswer } from '../kernel/call/outcome.ts';
import { canonicalPath } from '../kernel/paths.ts';
import { type RunningCall, type Tool, type ToolResult, validate } from '../kernel/index.ts';

export const callTool = async (tool: Tool | undefined, given: unknown, cwd: string, more: Partial<RunningCall> = {}): Promise<ToolResult> => {
  if (!tool) throw new Error('no such tool');
  const checked = await validate(tool.schema, given);
  if (checked.issues) throw new Error(checked.issues.map((issue) => issue.message).join('; '));
  const input = checked.value as never;
  const paths = await Promise.all(tool.paths(input).map((path) => canonicalPath(path, cwd)));
  const call = {
    id: 'c1',
    tool: tool.name,
    input,
    cwd,
    paths,
    signal: new AbortController().signal,
    progress() {},
    judge: async () => undefined,
    ...more,
  } as unknown as RunningCall;
  const result = await tool.run(input, call).catch((error: unknown) => thrownAnswer(call.signal, error));
  return typeof result === 'string' ? { status: 'ok', content: result } : { status: 'ok', content: '', ...result };
};

/** Writes a file below a folder, and the folders on the way; returns its path. */
export const putInto = (folder: string, name: string, content: string | Uint8Array = ''): string => {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
};
