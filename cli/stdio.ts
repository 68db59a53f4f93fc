/** The streams of the process. Standard output belongs to the command: whatever else is printed there goes to standard error. */

export interface Stdio {
  readonly isTerminal: { readonly in: boolean; readonly out: boolean; readonly err: boolean };
  /** Columns of standard output as it is now; undefined where it is no terminal. */
  readonly columns: number | undefined;
  /** Calls whenever the columns change, until what it returns is called. */
  onResize(run: () => void): () => void;
  /** Resolves when it is written, so that a slow reader slows the writer and loses nothing. */
  out(text: string): Promise<void>;
  err(text: string): void;
  /** Called when the reader of standard output is gone; the last one counts. Default: the process ends with 0. */
  onBroken(run: () => void): void;
}

/** As it is before the kernel guards it: an error of a plugin may be what ends the process. */
export const exitProcess: (code: number) => never = process.exit.bind(process);

export const claimStdio = (): Stdio => {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  let broken = (): void => exitProcess(0);
  stdout.on('error', () => broken());
  // Nobody is left to tell.
  stderr.on('error', () => undefined);
  const divert = ((...args: Parameters<typeof stderr.write>) => stderr.write(...args)) as typeof stdout.write;
  stdout.write = divert;
  // Neither is anybody else to close it.
  stdout.end = ((last?: unknown) => {
    if (typeof last === 'string' || last instanceof Uint8Array) divert(last);
    return stdout;
  }) as typeof stdout.end;
  // A broken pipe reaches its listeners through here.
  const destroy = stdout.destroy.bind(stdout);
  stdout.destroy = (error) => (error ? destroy(error) : stdout);
  return {
    isTerminal: { in: process.stdin.isTTY ?? false, out: stdout.isTTY ?? false, err: stderr.isTTY ?? false },
    get columns() {
      return stdout.isTTY ? stdout.columns : undefined;
    },
    onResize: (run) => {
      stdout.on('resize', run);
      return () => void stdout.off('resize', run);
    },
    out: (text) => new Promise((resolve) => void write(text, () => resolve())),
    err: (text) => void stderr.write(text),
    onBroken: (run) => {
      broken = run;
    },
  };
};
