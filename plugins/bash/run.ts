/** One command from its start to its result. */
import { stat } from 'node:fs/promises';
import { messageOf, type Child, type ToolCall, type ToolErrorCode, type ToolResult } from '../../kernel/index.ts';
import type { Bench } from './bench.ts';
import { collectOutput, type Collected } from './collect.ts';
import { adviceFor, commandEnvironment } from './environment.ts';
import { MAX_TIMEOUT_S } from './limits.ts';
import { renderOutput } from './render.ts';
import { describeSurvivors, findSurvivors, type Survivor } from './survivors.ts';

/** UTF-8 bytes; Linux takes no word beyond 128 KiB. */
const MAX_COMMAND_BYTES = 120_000;

export interface CommandInput {
  readonly command: string;
  /** Seconds. */
  readonly timeout?: number;
}
type Outcome = Partial<ToolResult> & Pick<ToolResult, 'content' | 'status'>;
type Exit = Awaited<Child['exit']>;
interface Finished {
  readonly exit: Exit;
  readonly collected: Collected;
  readonly survivors: readonly Survivor[];
  readonly background: boolean;
}

export const runCommand = async (input: CommandInput, call: ToolCall, bench: Bench): Promise<Outcome> => {
  if (call.signal.aborted) return failure('ABORTED', '[ABORTED] before it was started');
  const refusal = await findFault(input, call.cwd);
  if (refusal) return refusal;
  const seconds = timeoutOf(input, bench);
  const mark = bench.nextMark();
  const child = await startShell(input.command, mark, seconds, call, bench);
  if ('status' in child) return child;
  const finished = await finish(child, mark, call, bench);
  return describe(finished, seconds, call.signal.aborted, bench);
};

const findFault = async ({ command }: CommandInput, cwd: string): Promise<Outcome | undefined> => {
  if (command.trim() === '') return failure('INVALID_ARGUMENT', 'command is required and must not be blank');
  if (command.includes('\0')) return failure('INVALID_ARGUMENT', 'command must not hold a zero byte');
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
    return failure('INVALID_ARGUMENT', `command must not be longer than ${MAX_COMMAND_BYTES} bytes`, 'Write it to a script file and run that.');
  }
  const isFolder = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? undefined : failure('NOT_FOUND', `Failed to start bash: the working directory ${cwd} does not exist`);
};

const timeoutOf = ({ timeout }: CommandInput, bench: Bench): number =>
  timeout !== undefined && timeout > 0 ? Math.min(timeout, MAX_TIMEOUT_S) : bench.limits.timeoutMs / 1000;

const startShell = async (command: string, mark: string, seconds: number, call: ToolCall, bench: Bench): Promise<Child | Outcome> => {
  let reason = '';
  for (const shell of bench.shells) {
    try {
      return await bench.process.spawn([shell, '-c', command], {
        cwd: call.cwd,
        purpose: 'bash',
        signal: call.signal,
        timeoutMs: seconds * 1000,
        env: commandEnvironment(mark),
        merge: true,
      });
    } catch (error) {
      if (call.signal.aborted) return failure('ABORTED', '[ABORTED] before it was started');
      reason = `Failed to start bash ("${shell}"): ${messageOf(error)}`;
    }
  }
  return failure('UNAVAILABLE', reason, 'Install bash, or set CAST_BASH to the path of a shell that understands it.');
};

const finish = async (child: Child, mark: string, call: ToolCall, bench: Bench): Promise<Finished> => {
  try {
    const collected = await collectOutput(child, bench, (text) => call.progress(text));
    const exit = await child.exit;
    const stopped = exit.timedOut || call.signal.aborted;
    if (stopped) await child.kill();
    const background = child.alive();
    const survivors = stopped || background ? await findSurvivors({ group: child.pid, mark }, call.cwd, bench) : [];
    if (background) bench.adopt(child);
    return { exit, collected, survivors, background };
  } catch (error) {
    await child.kill();
    throw error;
  }
};

const describe = (finished: Finished, seconds: number, aborted: boolean, bench: Bench): Outcome => {
  const { exit, collected } = finished;
  const output = renderOutput(collected, bench.limits);
  const left = describeLeft(finished);
  const details = {
    exitCode: exit.code,
    signal: exit.signal,
    timedOut: exit.timedOut,
    bytes: collected.tail.bytes,
    lines: collected.tail.lines,
    ...(collected.spill && collected.spill.failure === undefined ? { output: collected.spill.path } : {}),
    background: finished.survivors.map(({ pid }) => pid),
  };
  if (exit.timedOut) {
    const fix = `Give a longer timeout (seconds, at most ${MAX_TIMEOUT_S}), or make the command do less.`;
    return { ...failure('TIMEOUT', paragraphs(`[TIMED OUT] after ${seconds} seconds\n${output}`, left), fix, true), details };
  }
  if (aborted) return { ...failure('ABORTED', paragraphs(`[ABORTED]\n${output}`, left)), details };
  if (exit.code === 0) return { status: 'ok', content: paragraphs(output, left), details };
  const advice = adviceFor(output);
  const end = exit.code === null ? `Process was killed by ${exit.signal ?? 'a signal'}` : `Process exited with code ${exit.code}`;
  return { ...failure('EXTERNAL_ERROR', paragraphs(output, left, advice, end), advice), details };
};

const describeLeft = ({ survivors, background }: Finished): string | undefined => {
  const inside = survivors.filter(({ left }) => !left);
  const outside = survivors.filter(({ left }) => left);
  const lines = [
    ...(background
      ? [`Still running: ${describeSurvivors(inside) || 'a process that cannot be named'}. It is killed when the session ends; what it prints now is not kept.`]
      : []),
    ...(outside.length > 0 ? [`May still run, in a session of its own and so not killed: ${describeSurvivors(outside)}.`] : []),
  ];
  return lines.length > 0 ? lines.join('\n') : undefined;
};

const paragraphs = (...parts: readonly (string | undefined)[]): string => parts.filter((part) => part !== undefined).join('\n\n');

const failure = (code: ToolErrorCode, content: string, suggestedFix?: string, retryable = false): Outcome => ({
  status: code === 'ABORTED' ? 'aborted' : 'error',
  content,
  error: { code, retryable, ...(suggestedFix === undefined ? {} : { suggestedFix }) },
});
