/** The calls that look at a task in the background, or end it. */
import type { ToolCall, ToolInputs } from '../../kernel/index.ts';
import type { Bench } from './bench.ts';
import { MAX_WAIT_S } from './limits.ts';
import { describeLeft, detailsOf, errorOf, paragraphs, type Outcome } from './outcome.ts';
import { renderSince, viewOf } from './render.ts';
import type { Task } from './tasks.ts';
import { describeEnd, failureOfTask, secondsOf, taskOf } from './task-texts.ts';
import { oneLine } from './text.ts';

/** What has been printed since the model last saw some of it, and how the task is. Abort ends the wait, never the task. */
export const readTask = async ({ task_id, wait = 0 }: ToolInputs['bash_output'], call: ToolCall, bench: Bench): Promise<Outcome> => {
  const task = taskOf(task_id, bench.remains.tasks);
  const stopTelling = task.job.output.follow((text) => call.progress(text));
  await task.wait(Math.min(Math.max(wait, 0), MAX_WAIT_S) * 1000, call.signal);
  stopTelling();
  const output = takeNew(task, bench) || '(no new output)';
  const header = `${task.id} ${task.status}, ${secondsOf(task, bench.now())} seconds: ${oneLine(task.job.order.command)}`;
  const { ending, job } = task;
  const failure = failureOfTask(task, output);
  const content = paragraphs(`${header}\n${output}`, ending && describeLeft(ending), failure?.fix, describeEnd(task));
  const more = { content, details: { task: task.id, state: task.status, ...(ending ? detailsOf(job, ending) : {}) }, view: viewOf(output) };
  return failure ? { status: 'error', error: errorOf(failure), ...more } : { status: 'ok', ...more };
};

export const killTask = async ({ task_id }: ToolInputs['bash_kill'], bench: Bench): Promise<Outcome> => {
  const task = taskOf(task_id, bench.remains.tasks);
  const isLate = task.endedAt !== undefined;
  const hasLeft = isLate && task.job.child.alive();
  await task.kill();
  const output = takeNew(task, bench);
  const what = isLate
    ? `${task.id} had already ended (${task.status}): ${describeEnd(task)}.${hasLeft ? ' What it had left running was killed.' : ''}`
    : `${task.id} was killed after ${secondsOf(task, bench.now())} seconds: ${oneLine(task.job.order.command)}`;
  return { status: 'ok', content: paragraphs(what, output), details: { task: task.id, state: task.status } };
};

const takeNew = (task: Task, bench: Bench): string => {
  const { text, mark } = renderSince(task.job.output, task.shown, bench.limits, task.endedAt !== undefined);
  task.shown = mark;
  return text;
};
