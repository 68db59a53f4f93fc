/** A bench on real processes, for the tests of this folder. */
import { execFileSync } from 'node:child_process';
import { createSpawner, scrubEnvironment } from '../../../kernel/host/spawn.ts';
import { thrownAnswer } from '../../../kernel/call/outcome.ts';
import type { RunningCall, ToolCall, ToolResult } from '../../../kernel/index.ts';
import type { Bench } from '../../../plugins/bash/bench.ts';
import type { ShellLimits } from '../../../plugins/bash/limits.ts';
import { Remains } from '../../../plugins/bash/remains.ts';
import { runCommand, type CommandInput } from '../../../plugins/bash/run.ts';

export interface TestBench extends Bench {
  /** What the plugin does at the end of a session. */
  close(): Promise<void>;
}

let marks = 0;
export const testBench = (
  limits: Partial<ShellLimits> = {},
  shell?: string,
  environment: Readonly<Record<string, string>> = {},
  background: Bench['background'] = null,
): TestBench => {
  const remains = new Remains();
  return {
    process: createSpawner({ environment: { ...scrubEnvironment(process.env), ...environment }, plugin: 'bash', prepare: async (spec) => spec }),
    limits: { timeoutMs: 180_000, foregroundMs: 60_000, maxLines: 2000, maxBytes: 131_072, ...limits },
    shells: shell ? [shell] : ['bash', '/bin/bash'],
    remains,
    background,
    nextMark: () => `${process.pid}-${(marks += 1)}`,
    now: Date.now,
    close: () => remains.close(),
  };
};

/** One call, with what it throws as its answer. */
export const runIn = async (input: CommandInput, call: ToolCall, bench: Bench): Promise<ToolResult> => {
  const result = await runCommand(input, call, bench).catch((error: unknown) => thrownAnswer(call.signal, error));
  return { status: 'ok', content: '', ...result };
};

/** As much of a call as the tool uses. */
export const testCall = (cwd: string, more: { readonly signal?: AbortSignal; readonly progress?: (text: string) => void } = {}): RunningCall =>
  ({ cwd, signal: new AbortController().signal, progress: () => undefined, ...more }) as unknown as RunningCall;

let naps = 0;
/** A command that can be told from every other one. */
export const uniqueSleep = (seconds: number): string => `sleep ${seconds}.${process.pid}${(naps += 1)}`;

/** Living processes with exactly this command line. */
export const running = (command: string): number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, pid, args] = /^\s*(\d+)\s+[^ZX]\S*\s+(.*)$/.exec(line) ?? [];
      return args === command ? [Number(pid)] : [];
    });

export const until = async (holds: () => boolean, ms = 3000): Promise<boolean> => {
  const deadline = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return true;
};
