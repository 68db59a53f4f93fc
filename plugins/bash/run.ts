/** A call of `bash`, from its input to its result. */
import { stat } from 'node:fs/promises';
import type { ToolCall, ToolInputs } from '../../kernel/index.ts';
import type { Background, Bench } from './bench.ts';
import { startJob, type Job, type Order } from './job.ts';
import { isLongRunner } from './known.ts';
import { MAX_TIMEOUT_S, SETTLE_MS, type ShellLimits } from './limits.ts';
import { paragraphs, refuse, resultOf, type Outcome } from './outcome.ts';
import { renderOutput, renderSince, START, viewOf } from './render.ts';
import { checkRoom, describeStart, noticeOf } from './task-texts.ts';
import { settlesWithin } from './within.ts';

/** UTF-8 bytes; Linux takes no word beyond 128 KiB. */
const MAX_COMMAND_BYTES = 120_000;

export type CommandInput = ToolInputs['bash'];

/** Throws a ToolError for what cannot be run. */
export const runCommand = async (input: CommandInput, call: ToolCall, bench: Bench): Promise<Outcome> => {
  if (call.signal.aborted) return { status: 'aborted', content: '[ABORTED] before it was started', error: { code: 'ABORTED', retryable: false } };
  await check(input, call.cwd);
  const { background } = bench;
  if (!background) return runToEnd(input, call, bench);
  if (input.run_in_background) return startApart(input, call, bench, background);
  const isKnown = isLongRunner(input.command, background.parts(input.command));
  if (isKnown) checkRoom(bench.remains.tasks);
  // Where it could not go on in the background, it is as if there were none.
  if (bench.remains.tasks.isFull) return runToEnd(input, call, bench);
  const waitMs = isKnown ? Math.min(SETTLE_MS, bench.limits.foregroundMs) : waitOf(input, bench.limits);
  return runForAWhile(input, waitMs, call, bench, background);
};

const check = async ({ command }: CommandInput, cwd: string): Promise<void> => {
  if (command.trim() === '') refuse('INVALID_ARGUMENT', 'command is required and must not be blank');
  if (command.includes('\0')) refuse('INVALID_ARGUMENT', 'command must not hold a zero byte');
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
    refuse('INVALID_ARGUMENT', `command must not be longer than ${MAX_COMMAND_BYTES} bytes`, 'Write it to a script file and run that.');
  }
  const isFolder = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) refuse('NOT_FOUND', `Failed to start bash: the working directory ${cwd} does not exist`);
};

/** Undefined when none was given. */
const timeoutOf = ({ timeout }: CommandInput): number | undefined =>
  timeout !== undefined && timeout > 0 ? Math.min(timeout, MAX_TIMEOUT_S) * 1000 : undefined;

/** A second before a limit that was asked for, so that the command goes on rather than being killed. */
const waitOf = (input: CommandInput, { timeoutMs, foregroundMs }: ShellLimits): number =>
  Math.min(foregroundMs, Math.max(1000, (timeoutOf(input) ?? timeoutMs) - 1000));

const runToEnd = async (input: CommandInput, call: ToolCall, bench: Bench): Promise<Outcome> => {
  const timeoutMs = timeoutOf(input) ?? bench.limits.timeoutMs;
  const job = await startJob({ command: input.command, cwd: call.cwd, timeoutMs }, call.signal, bench);
  const stopTelling = job.output.follow((text) => call.progress(text));
  await job.ended.finally(stopTelling);
  return endedResult(job, call, bench);
};

const endedResult = async (job: Job, { signal }: ToolCall, { limits }: Bench): Promise<Outcome> => {
  const ending = await job.ended;
  return resultOf(job, ending, renderOutput(job.output, limits), signal.aborted);
};

/** Stays in the foreground for the time given, and goes on in the background as the same process. */
const runForAWhile = async (input: CommandInput, waitMs: number, call: ToolCall, bench: Bench, background: Background): Promise<Outcome> => {
  const { job, detach } = await startDetachable({ command: input.command, cwd: call.cwd, timeoutMs: null }, call, bench);
  const stopTelling = job.output.follow((text) => call.progress(text));
  const isOver = await settlesWithin(job.ended, waitMs);
  stopTelling();
  detach();
  if (isOver || call.signal.aborted) return endedResult(job, call, bench);
  await job.output.keep();
  const { text, mark } = renderSince(job.output, START, bench.limits, false);
  const task = await bench.remains.tasks.add(job, background, bench.now, (ended) => background.tell(noticeOf(ended)), mark);
  const output = text || '(no output so far)';
  const content = paragraphs(output, `Still running after ${waitMs / 1000} seconds; it goes on in the background. ${describeStart(task)}`);
  return { status: 'ok', content, details: { task: task.id, pid: job.child.pid }, view: viewOf(output) };
};

const startApart = async (input: CommandInput, call: ToolCall, bench: Bench, background: Background): Promise<Outcome> => {
  const { tasks } = bench.remains;
  checkRoom(tasks);
  const { job, detach } = await startDetachable({ command: input.command, cwd: call.cwd, timeoutMs: timeoutOf(input) ?? null }, call, bench);
  detach();
  // What is being killed is no task, and nobody is to be told of its end.
  if (call.signal.aborted) return endedResult(job, call, bench);
  await job.output.keep();
  const task = await tasks.add(job, background, bench.now, (ended) => background.tell(noticeOf(ended)));
  return { status: 'ok', content: `Started in the background. ${describeStart(task)}`, details: { task: task.id, pid: job.child.pid } };
};

/** Ends with the call's signal until it is detached from it. */
const startDetachable = async (order: Order, call: ToolCall, bench: Bench): Promise<{ readonly job: Job; detach(): void }> => {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(call.signal.reason);
  const detach = (): void => call.signal.removeEventListener('abort', onAbort);
  call.signal.addEventListener('abort', onAbort);
  // It may have come since the call began, and is not told twice.
  if (call.signal.aborted) onAbort();
  try {
    return { job: await startJob(order, stop.signal, bench), detach };
  } catch (error) {
    detach();
    throw error;
  }
};
