/** Runs work on pages in a thread that can be stopped, with a bound on its memory. The thread loads this same file and finds out that it is one. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { LIMITS } from './limits.ts';
import type { PageInput, PageOutput } from './page.ts';
import type { ResultsOutput } from './ddg-page.ts';

interface Tasks {
  readonly page: { readonly input: PageInput; readonly output: PageOutput };
  /** Where the other was too much for a page. */
  readonly plain: { readonly input: string; readonly output: PageOutput };
  readonly results: { readonly input: string; readonly output: ResultsOutput };
}
interface Job {
  readonly owner: typeof OWNER;
  readonly file: string;
  readonly task: keyof Tasks;
  readonly input: unknown;
}
const OWNER = 'cast web';
/** Told by the thread when its code is loaded, which is not the fault of a page. */
const BEGUN = 'begun';

/** Rejects when it takes too long, needs too much memory, or fails; at once with the reason of the signal when that aborts. */
export const inThread = async <T extends keyof Tasks>(task: T, input: Tasks[T]['input'], signal: AbortSignal): Promise<Tasks[T]['output']> => {
  await enter(signal);
  try {
    return (await outcomeOf({ owner: OWNER, file: import.meta.url, task, input }, signal)) as Tasks[T]['output'];
  } finally {
    leave();
  }
};

const outcomeOf = async (job: Job, signal: AbortSignal): Promise<unknown> => {
  const worker = start(job);
  const ends: (() => void)[] = [];
  try {
    return await new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const limit = (): void => {
        timer = setTimeout(() => reject(new Error('the page takes too long to convert')), LIMITS.convertMs);
      };
      const abort = (): void => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      ends.push(
        () => clearTimeout(timer),
        () => signal.removeEventListener('abort', abort),
      );
      worker.on('message', (message) => (message === BEGUN ? limit() : resolve(message)));
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the thread ended without an answer')));
      if (signal.aborted) abort();
    });
  } finally {
    for (const end of ends) end();
    // What comes of ending it is nobody's any more.
    worker.removeAllListeners().on('error', () => undefined);
    await worker.terminate();
  }
};

const start = (job: Job): Worker => {
  const options = {
    workerData: job,
    // Nothing of the session is for code that reads pages.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: LIMITS.heapMb, stackSizeMb: LIMITS.stackMb },
  };
  return job.file.endsWith('.ts') ? new Worker(FROM_SOURCE, { ...options, eval: true }) : new Worker(new URL(job.file), options);
};
/** A thread of Node 20 cannot load TypeScript by itself. */
const FROM_SOURCE = `
const { file } = require('node:worker_threads').workerData;
const { createJiti } = require('node:module').createRequire(file)('jiti');
void createJiti(file).import(file);
`;

// ---- as many at a time as may be ----

let running = 0;
const waiting: (() => void)[] = [];

const enter = async (signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted();
  if (running < LIMITS.threads) {
    running += 1;
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const go = (): void => {
      signal.removeEventListener('abort', abort);
      resolve();
    };
    const abort = (): void => {
      waiting.splice(waiting.indexOf(go), 1);
      reject(signal.reason);
    };
    waiting.push(go);
    signal.addEventListener('abort', abort, { once: true });
  });
};
/** The place goes to who waits longest. */
const leave = (): void => {
  const next = waiting.shift();
  if (next) next();
  else running -= 1;
};

// ---- in the thread ----

const isJob = (data: unknown): data is Job => typeof data === 'object' && data !== null && 'owner' in data && data.owner === OWNER;

/** A failure is the thread's own end, which is told as an error. */
const work = async ({ task, input }: Job): Promise<void> => {
  const run = await LOADERS[task](input as never);
  parentPort?.postMessage(BEGUN);
  parentPort?.postMessage(run());
};
const LOADERS: { readonly [T in keyof Tasks]: (input: Tasks[T]['input']) => Promise<() => Tasks[T]['output']> } = {
  page: async (input) => {
    const { convertPage } = await import('./page.ts');
    return () => convertPage(input);
  },
  plain: async (input) => {
    const { plainText } = await import('./plain.ts');
    return () => ({ ...plainText(input), isCut: false });
  },
  results: async (input) => {
    const { readResults } = await import('./ddg-page.ts');
    return () => readResults(input);
  },
};
if (!isMainThread && isJob(workerData)) void work(workerData);
