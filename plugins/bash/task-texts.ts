/** What the model is told of tasks in the background. */
import { describeLeft, failureOf, refuse, type Failure } from './outcome.ts';
import { renderEnd } from './render.ts';
import type { Task, Tasks } from './tasks.ts';
import { oneLine } from './text.ts';

export const describeStart = ({ id, job }: Task): string => {
  const { spill } = job.output;
  const file = spill && spill.failure === undefined ? ` Its output is also written to ${spill.path}.` : '';
  return `Its id is ${id} (pid ${job.child.pid}): bash_output shows what it prints, bash_kill ends it, and you are told when it ends.${file}`;
};

/** Throws when no further task can be started. */
export const checkRoom = (tasks: Tasks): void => {
  if (!tasks.isFull) return;
  const list = tasks.running.map(({ id, job }) => `${id} (${oneLine(job.order.command)})`).join(', ');
  refuse('UNAVAILABLE', `${tasks.running.length} commands run in the background already: ${list}`, 'End one with bash_kill, or wait for one with bash_output.');
};

/** Throws when there is none of this id. */
export const taskOf = (id: string, tasks: Tasks): Task => {
  const task = tasks.find(id.trim());
  if (task) return task;
  const list = tasks.all.map((each) => `${each.id} (${each.status})`).join(', ');
  return refuse(
    'NOT_FOUND',
    `There is no background task ${oneLine(id)}`,
    list === '' ? 'None has been started since this session was opened.' : `There are ${list}.`,
  );
};

export const secondsOf = ({ job, endedAt }: Task, now: number): number => Math.round(((endedAt ?? now) - job.startedAt) / 1000);

/** Undefined while all is well. Who had it killed knows, so that is no failure. `output` may hold a sign of what to do instead. */
export const failureOfTask = ({ status, fault, ending, job }: Task, output: string): Failure | undefined => {
  if (fault !== undefined) return { code: 'INTERNAL_ERROR', text: `How it ended is not known: ${fault}` };
  const failure = ending && failureOf(ending, job.order.timeoutMs, output);
  return status === 'killed' && failure?.code !== 'TIMEOUT' ? undefined : failure;
};

/** Undefined while it runs. */
export const describeEnd = (task: Task): string | undefined => {
  if (task.endedAt === undefined) return undefined;
  return failureOfTask(task, '')?.text ?? (task.status === 'killed' ? 'Process was killed' : 'Process exited with code 0');
};

export const noticeOf = (task: Task): string => {
  const { id, status, job, ending, endedAt = 0 } = task;
  const left = ending && describeLeft(ending);
  const output = renderEnd(job.output);
  const { spill } = job.output;
  const file = spill && spill.failure === undefined ? `, all of it in ${spill.path}` : '';
  return [
    `Background task ${id} has ended (${status}) after ${secondsOf(task, endedAt)} seconds: ${describeEnd(task)}`,
    `Command: ${oneLine(job.order.command, 500)}`,
    ...(left === undefined ? [] : [left]),
    output === '' ? 'It printed nothing.' : `The end of its output${file}:\n${output}`,
  ].join('\n');
};
