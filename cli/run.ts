/** One prompt from start to end, through the client contract alone. */
import {
  CastError,
  isCastError,
  messageOf,
  type CastEvent,
  type Client,
  type Ids,
  type Image,
  type Kernel,
  type OpenSession,
  type SessionWish,
} from '../kernel/index.ts';
import { mergeLayers } from '../kernel/host/config.ts';
import { createIds, systemClock } from '../kernel/host/clock.ts';
import { BROKEN_PIPE, INTERRUPTED, leaveNow, watchInterrupts } from './interrupts.ts';
import { requireModel } from './model.ts';
import { isFolder, openOptionsOf, type Opening } from './opening.ts';
import { packageVersion } from './package.ts';
import { endKernel, startKernel } from './processes.ts';
import { createOutput, type Format, type RunOutput } from './run-output.ts';
import { orStalled } from './stalled.ts';
import { joinPrompt, readStandardInput, WITH_PROMPT, WITHOUT_PROMPT } from './standard-input.ts';
import { takeOlder } from './sessions/legacy-folders.ts';
import type { Stdio } from './stdio.ts';
import { oneLine } from './style.ts';

export interface RunRequest {
  readonly stdio: Stdio;
  readonly format: Format;
  readonly cwd: string;
  /** May be empty: then standard input is the prompt. */
  readonly prompt: string;
  /** Files. */
  readonly images: readonly string[];
  readonly session: SessionWish | undefined;
  readonly isEphemeral: boolean;
  /** `cwd` in place of the folder that the flags name. */
  readonly open: (cwd?: string) => Promise<Opening>;
  /** Default: ids of all times. */
  readonly ids?: Ids;
}

interface Run {
  readonly request: RunRequest;
  readonly output: RunOutput;
  /** Aborts when the run is to stop. */
  readonly signal: AbortSignal;
}

/** Returns the exit code, everything printed. */
export const run = async (request: RunRequest): Promise<number> => {
  const { stdio, format, cwd } = request;
  const output = createOutput(format, { stdio, cwd, version: packageVersion() });
  const stopped = { reason: 'aborted', exitCode: INTERRUPTED } as const;
  const interrupts = watchInterrupts(() => void output.end(stopped).finally(() => leaveNow(INTERRUPTED)));
  let isUnread = false;
  stdio.onBroken(() => {
    isUnread = true;
    interrupts.stop('nobody reads the output');
  });
  catchStrayFaults(stdio, async (error) => {
    await output.end({ reason: 'error', exitCode: 1, error: { code: 'INTERNAL', message: messageOf(error), retryable: false } });
    leaveNow(1);
  });
  const exitCode = await finish({ request, output, signal: interrupts.signal });
  return isUnread ? BROKEN_PIPE : exitCode;
};

/** Errors that nobody waits for, as plugins leave them behind: a lost promise costs a line, a throw out of nowhere ends the run in good order. */
const catchStrayFaults = (stdio: Stdio, end: (error: unknown) => Promise<void>): void => {
  process.on('unhandledRejection', (error) => stdio.err(`cast: an error that nobody handled: ${oneLine(messageOf(error))}\n`));
  process.on('uncaughtException', (error) => void end(error));
};

const finish = async (run: Run): Promise<number> => {
  const { output, signal } = run;
  try {
    return await orStalled(converse(run));
  } catch (error) {
    if (signal.aborted) {
      await output.end({ reason: 'aborted', exitCode: INTERRUPTED });
      return INTERRUPTED;
    }
    const failure = isCastError(error) ? error : new CastError('INTERNAL', messageOf(error), { cause: error });
    const { code, message, retryable, fix, exit } = failure;
    await output.end({ reason: 'error', exitCode: exit, error: { code, message, retryable, ...(fix === undefined ? {} : { suggestedFix: fix }) } });
    return exit;
  }
};

const converse = async (run: Run): Promise<number> => {
  const { request, signal } = run;
  // Read while everything else is made ready; a failure there must not leave a rejection behind.
  const prompting = readPrompt(request, signal);
  prompting.catch(() => undefined);
  const first = await orStopped(request.open(), signal);
  const kernel = startKernel(first.home, request.stdio, first.environment, request.ids ? { ids: request.ids } : {});
  let session: OpenSession | undefined;
  try {
    if (!request.isEphemeral)
      await takeOlder(
        first.home,
        () => kernel.store(first),
        (text) => request.stdio.err(`cast: ${text}\n`),
      );
    const { opening, wish } = await orStopped(atItsPlace(kernel, first, request), signal);
    for (const text of opening.remarks) request.stdio.err(`cast: ${oneLine(text)}\n`);
    const config = mergeLayers(opening.layers).value;
    // Before a session is made: a run that cannot begin leaves nothing behind.
    requireModel(config, {
      comeFromPlugin: opening.plugins.length > 0 || (config.plugins?.['replay'] as { readonly file?: unknown } | undefined)?.file !== undefined,
      comeFromSession: wish !== undefined,
    });
    const images = await readImages(request.images, first.cwd);
    const text = await prompting;
    signal.throwIfAborted();
    session = await orStopped(openSession(kernel, opening, wish, request), signal);
    return await play(run, session, text, images);
  } finally {
    await endKernel(kernel, 'the run is over', session);
  }
};

/** A session goes on where it worked, with the configuration of that place, wherever cast was started. */
const atItsPlace = async (kernel: Kernel, opening: Opening, request: RunRequest): Promise<{ readonly opening: Opening; readonly wish?: SessionWish }> => {
  const { session } = request;
  if (!session) return { opening };
  const { findSession, placeOf } = await import('../kernel/session/resume.ts');
  const store = await kernel.store(opening);
  const record = await findSession(store, session, opening.root);
  const wish = { id: record.id, fork: session.fork ?? false };
  const place = await placeOf(store, record);
  return place === opening.cwd || !isFolder(place) ? { opening, wish } : { opening: await request.open(place), wish };
};

const readImages = async (files: readonly string[], cwd: string): Promise<readonly Image[]> => {
  if (files.length === 0) return [];
  const { readImage } = await import('./images.ts');
  return Promise.all(files.map((file) => readImage(file, cwd)));
};

/** Whatever hangs here is left hanging: the process is about to end. */
const orStopped = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  signal.throwIfAborted();
  const stopped = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  return Promise.race([work, stopped]);
};

const openSession = (kernel: Kernel, opening: Opening, wish: SessionWish | undefined, { isEphemeral }: RunRequest): Promise<OpenSession> =>
  kernel.open({ ...openOptionsOf(opening), ephemeral: isEphemeral, ...(wish ? { session: wish } : {}) });

const readPrompt = async ({ prompt, stdio, images }: RunRequest, signal: AbortSignal): Promise<string> => {
  const isAsked = prompt.trim() !== '';
  let text = prompt;
  if (!stdio.isTerminal.in) {
    const waits = isAsked ? WITH_PROMPT : WITHOUT_PROMPT;
    const input = await readStandardInput(process.stdin, waits, (notice) => stdio.err(`cast: ${notice}\n`), signal);
    if (input.isLate && isAsked) stdio.err(`cast: standard input was open and gave nothing for ${waits.firstByteMs / 1000} s, so it is left out.\n`);
    text = joinPrompt(prompt, input.text);
  }
  if (text.trim() === '' && images.length === 0)
    throw new CastError('INPUT_EMPTY', 'there is no prompt', { fix: 'cast run "what is to be done", or pipe it in.' });
  return text;
};

const play = async (run: Run, session: OpenSession, text: string, images: readonly Image[]): Promise<number> => {
  const { client } = session;
  run.signal.addEventListener('abort', () => void client.abort(messageOf(run.signal.reason)), { once: true });
  const command = await commandIn(text, client);
  if (command) return obey(run, client, command);
  const clientId = createIds(systemClock).next('run');
  // Listened to before it is submitted: a fast turn must not end unseen.
  const following = follow(run, client, (event) => event.data.clientId === clientId);
  following.catch(() => undefined);
  run.signal.throwIfAborted();
  await client.submit({ text, clientId, source: 'local', ...(images.length > 0 ? { images } : {}) });
  return following;
};

/** Prints events until the end of the turn that is waited for; returns its exit code. */
const follow = async ({ output }: Run, client: Client, isOurs: (event: Extract<CastEvent, { type: 'turn.ended' }>) => boolean): Promise<number> => {
  for await (const event of client.events()) {
    await output.take(event);
    if (event.type === 'turn.ended' && isOurs(event)) return event.data.exitCode;
  }
  throw new CastError('INTERNAL', 'the events of the session ended before the turn did');
};

interface SlashCommand {
  readonly name: string;
  readonly args: string;
}

/** `/name …`, if there is such a command; a path at the beginning of a prompt is none. */
const commandIn = async (text: string, client: Client): Promise<SlashCommand | undefined> => {
  const [, name, args = ''] = /^\/([a-z][\w:-]*)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (name === undefined) return undefined;
  const { commands } = await client.snapshot();
  const isOurs = commands.some((command) => command.name === name && (command.surfaces === undefined || command.surfaces.includes('run')));
  return isOurs ? { name, args } : undefined;
};

const obey = async (run: Run, client: Client, { name, args }: SlashCommand): Promise<number> => {
  const { output } = run;
  const outcome = await client.command(name, args);
  const { status, seq } = await client.snapshot();
  // A command may have given the model something to do.
  if (outcome.ok && status !== 'idle') return follow(run, client, () => true);
  for await (const event of client.events()) {
    await output.take(event);
    if (event.seq >= seq) break;
  }
  if (!outcome.ok) {
    const { code, message, suggestedFix } = outcome;
    throw new CastError(code as CastError['code'], `/${name}: ${message}`, suggestedFix === undefined ? {} : { fix: suggestedFix });
  }
  if (outcome.result !== undefined)
    await output.answer(typeof outcome.result === 'string' ? outcome.result : (await import('./sketch.ts')).drawSketch(outcome.result));
  await output.end({ reason: 'stop', exitCode: 0 });
  return 0;
};
