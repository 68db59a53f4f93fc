/** Questions on a terminal, line by line and without colours, so that a screen reader can follow. */
import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Stdio } from '../stdio.ts';

export interface Dialogue {
  /** Aborts when the person wants no more: Esc, Ctrl-C, or the end of input. */
  readonly signal: AbortSignal;
  say(text: string): void;
  /** One line, trimmed; undefined when the person wants no more. `isSecret`: not echoed. */
  ask(question: string, options?: { readonly isSecret?: boolean; readonly suggestion?: string }): Promise<string | undefined>;
  close(): void;
}

/** `input` is a terminal. */
export const openDialogue = (stdio: Stdio, input: NodeJS.ReadableStream): Dialogue => {
  const over = new AbortController();
  // What is typed before it is asked for is not shown: of an address and a key that are pasted together the key must not be.
  let isMuted = true;
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      // Not waited for: what is said next must not overtake it.
      if (!isMuted) void stdio.out(chunk.toString());
      done();
    },
  });
  const unfollow = followWidth(output, stdio);
  const lines: Interface = createInterface({ input, output, terminal: true, historySize: 0 });
  const stop = (): void => over.abort(new Error('cancelled'));
  lines.once('close', stop).on('SIGINT', stop);
  input.on('keypress', (_, key: { readonly name?: string } | undefined) => {
    if (key?.name === 'escape') stop();
  });
  const answer = (question: string, suggestion: string | undefined): Promise<string | undefined> =>
    new Promise((resolve) => {
      const cancelled = (): void => resolve(undefined);
      over.signal.addEventListener('abort', cancelled, { once: true });
      lines.question(question, (line) => {
        // At once: the next line may be in the same piece of input.
        isMuted = true;
        over.signal.removeEventListener('abort', cancelled);
        resolve(line.trim());
      });
      if (suggestion !== undefined) lines.write(suggestion);
    });
  return {
    signal: over.signal,
    say: (text) => void stdio.out(`${text}\n`),
    ask: async (question, { isSecret = false, suggestion } = {}) => {
      if (over.signal.aborted) return undefined;
      if (isSecret) void stdio.out(question);
      isMuted = isSecret;
      try {
        return await answer(isSecret ? '' : question, suggestion);
      } finally {
        isMuted = true;
        if (isSecret || over.signal.aborted) await stdio.out('\n');
      }
    },
    close: () => {
      unfollow();
      lines.removeAllListeners('close');
      lines.close();
    },
  };
};

/** An answer that is longer than a line is edited in more than one: that takes the width of the screen, also after it has changed. */
const followWidth = (output: Writable, stdio: Stdio): (() => void) => {
  Object.defineProperty(output, 'columns', { get: () => stdio.columns });
  return stdio.onResize(() => void output.emit('resize'));
};
