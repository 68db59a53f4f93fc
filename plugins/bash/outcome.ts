/** How a command ended, in words and as a result. */
import { ToolError, type ToolErrorCode, type ToolResult } from '../../kernel/index.ts';
import { adviceFor } from './environment.ts';
import type { Ending, Job } from './job.ts';
import { MAX_TIMEOUT_S } from './limits.ts';
import { viewOf } from './render.ts';
import { describeSurvivors } from './survivors.ts';

export type Outcome = Partial<ToolResult> & Pick<ToolResult, 'content' | 'status'>;

export interface Failure {
  readonly code: ToolErrorCode;
  readonly text: string;
  readonly fix?: string | undefined;
}

/** Undefined when it ended well. `output` may hold a sign of what to do instead. */
export const failureOf = ({ exit }: Ending, timeoutMs: number | null, output: string): Failure | undefined => {
  if (exit.timedOut) {
    const fix = `Give a longer timeout (seconds, at most ${MAX_TIMEOUT_S}), or make the command do less.`;
    return { code: 'TIMEOUT', text: `[TIMED OUT] after ${(timeoutMs ?? 0) / 1000} seconds`, fix };
  }
  if (exit.code === 0) return undefined;
  const text = exit.code === null ? `Process was killed by ${exit.signal ?? 'a signal'}` : `Process exited with code ${exit.code}`;
  return { code: 'EXTERNAL_ERROR', text, fix: adviceFor(output) };
};

/** Of a command that has ended while somebody waited for it. */
export const resultOf = (job: Job, ending: Ending, output: string, isAborted: boolean): Outcome => {
  const left = describeLeft(ending);
  const more = { details: detailsOf(job, ending), view: viewOf(output) };
  const failure = failureOf(ending, job.order.timeoutMs, output);
  if (isAborted && failure?.code !== 'TIMEOUT') {
    return { status: 'aborted', content: paragraphs(`[ABORTED]\n${output}`, left), error: { code: 'ABORTED', retryable: false }, ...more };
  }
  if (!failure) return { status: 'ok', content: paragraphs(output, left), ...more };
  // That it took too long explains all that follows; how it ended is looked for at the end.
  const content = failure.code === 'TIMEOUT' ? paragraphs(`${failure.text}\n${output}`, left) : paragraphs(output, left, failure.fix, failure.text);
  return { status: 'error', content, error: errorOf(failure), ...more };
};

export const errorOf = ({ code, fix }: Failure): NonNullable<ToolResult['error']> => ({
  code,
  retryable: code === 'TIMEOUT',
  ...(fix === undefined ? {} : { suggestedFix: fix }),
});

export const describeLeft = ({ survivors, isGroupAlive }: Ending): string | undefined => {
  const inside = survivors.filter(({ left }) => !left);
  const outside = survivors.filter(({ left }) => left);
  const lines = [
    ...(isGroupAlive
      ? [`Still running: ${describeSurvivors(inside) || 'a process that cannot be named'}. It is killed when the session ends; what it prints now is not kept.`]
      : []),
    ...(outside.length > 0
      ? [`May still run, in a session of its own and so killed neither with the command nor with this session: ${describeSurvivors(outside)}.`]
      : []),
  ];
  return lines.length > 0 ? lines.join('\n') : undefined;
};

export const detailsOf = ({ output: { tail, spill } }: Job, { exit, survivors }: Ending): object => ({
  exitCode: exit.code,
  signal: exit.signal,
  timedOut: exit.timedOut,
  bytes: tail.bytes,
  lines: tail.lines,
  ...(spill && spill.failure === undefined ? { output: spill.path } : {}),
  background: survivors.map(({ pid }) => pid),
});

export const paragraphs = (...parts: readonly (string | undefined)[]): string => parts.filter((part) => part !== undefined && part !== '').join('\n\n');

export const refuse = (code: ToolErrorCode, message: string, fix?: string): never => {
  throw new ToolError(code, message, fix === undefined ? {} : { fix });
};
