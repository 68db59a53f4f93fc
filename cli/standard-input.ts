/** What was piped in. A pipe that nobody writes to must not hold up a run that has its prompt already. */
import { CastError, messageOf } from '../kernel/index.ts';
import { LIMITS } from '../kernel/limits.ts';

export interface InputWaits {
  /** Milliseconds until the first byte; afterwards there is no limit, because somebody is writing. */
  readonly firstByteMs: number;
  /** Milliseconds after which people are told what is waited for. */
  readonly noticeMs: number;
}
/** With a prompt, input is a bonus: a pipe that an editor or a build server holds open has none to give. */
export const WITH_PROMPT: InputWaits = { firstByteMs: 1_000, noticeMs: 5_000 };
/** Without one it is all there is, and whoever writes it may have to start first. */
export const WITHOUT_PROMPT: InputWaits = { firstByteMs: 10_000, noticeMs: 2_000 };

export interface StandardInput {
  /** Empty when nothing came. */
  readonly text: string;
  /** Nothing had come when the time for it was up. */
  readonly isLate: boolean;
}

type Readable = NodeJS.ReadableStream & { destroy?(): void };

/** Throws INPUT_TOO_LARGE, and the signal's reason when it aborts. */
export const readStandardInput = (stream: Readable, waits: InputWaits, tell: (text: string) => void, signal: AbortSignal): Promise<StandardInput> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (finish: () => void): void => {
      clearTimeout(late);
      clearTimeout(notice);
      signal.removeEventListener('abort', onAbort);
      stream.removeAllListeners('data').removeAllListeners('end').removeAllListeners('close');
      stream.pause();
      stream.destroy?.();
      finish();
    };
    const done = (isLate: boolean): void => settle(() => resolve({ text: Buffer.concat(chunks).toString('utf8'), isLate }));
    const onAbort = (): void => settle(() => reject(signal.reason));
    const late = setTimeout(() => done(true), waits.firstByteMs);
    const notice = setTimeout(() => tell('Waiting for the end of standard input…'), waits.noticeMs);
    stream.on('data', (chunk: Buffer | string) => {
      clearTimeout(late);
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > LIMITS.promptBytes) settle(() => reject(tooLarge()));
      else chunks.push(part);
    });
    stream.once('end', () => done(false));
    stream.once('close', () => done(false));
    stream.on('error', (error) => {
      settle(() => reject(new CastError('CLI_USAGE', `standard input cannot be read: ${messageOf(error)}`, { cause: error, fix: 'Redirect it from a file.' })));
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });

const tooLarge = (): CastError =>
  new CastError('INPUT_TOO_LARGE', `standard input has more than ${LIMITS.promptBytes / 1_048_576} MiB`, {
    fix: 'Write it to a file and name the file in the prompt.',
  });

/** Input beside a prompt is marked as what it is. */
export const joinPrompt = (prompt: string, input: string): string => {
  if (input.trim() === '') return prompt;
  return prompt.trim() === '' ? input : `${prompt}\n\n<stdin>\n${input.trimEnd()}\n</stdin>`;
};
