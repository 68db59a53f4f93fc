/** A model that makes the same call again and again is stopped, so that it tries something else. */
import { createHash } from 'node:crypto';

/** So many calls in a row may be the same. */
const ALLOWED_REPEATS = 3;
/** Asking a background task how it stands is meant to be repeated. */
const EXEMPT: ReadonlySet<string> = new Set(['bash_output']);

export class RepeatWindow {
  #recent: readonly string[] = [];
  readonly #blocked = new Set<string>();

  /** To be told of each call in the order issued, before any of its batch runs. A blocked call is not recorded, so that it stays blocked. */
  see(id: string, tool: string, input: unknown): void {
    this.#blocked.delete(id);
    const text = EXEMPT.has(tool) ? undefined : textOf(input);
    if (text === undefined) return;
    const call = createHash('sha1').update(`${tool}\0${text}`).digest('base64');
    const isRepeated = this.#recent.length === ALLOWED_REPEATS && this.#recent.every((each) => each === call);
    if (isRepeated) this.#blocked.add(id);
    else this.#recent = [...this.#recent, call].slice(-ALLOWED_REPEATS);
  }
  isBlocked(id: string): boolean {
    return this.#blocked.has(id);
  }
  /** New input: what was repeated before it may be right again. */
  reset(): void {
    this.#recent = [];
    this.#blocked.clear();
  }
}

/** Undefined for arguments that are nested too deeply to be compared. */
const textOf = (input: unknown): string | undefined => {
  try {
    return JSON.stringify(input);
  } catch {
    return undefined;
  }
};

export const refusalOf = (tool: string): string =>
  `DOOM_LOOP: this very call of ${tool} was made ${ALLOWED_REPEATS} times in a row, so it was not run again. Its results are above. Do something else: change the arguments, use another tool, or say what keeps you from going on.`;
