import type { Child } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';

/** When a child has said nothing for a while, looks whether it is blocked, and ends it if so. */
export class Silence {
  isBlocked = false;
  readonly #child: Child;
  readonly #looks: (signal: AbortSignal) => Promise<boolean>;
  readonly #closer = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(child: Child, looks: (signal: AbortSignal) => Promise<boolean>) {
    this.#child = child;
    this.#looks = looks;
    this.#timer = setTimeout(() => void this.#look(), LIMITS.silentMs);
  }

  /** It has said something. */
  end(): void {
    this.#timer.refresh();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closer.abort();
  }

  async #look(): Promise<void> {
    // A look that fails tells nothing: the child has its own time.
    const isBlocked = await this.#looks(this.#closer.signal).catch(() => false);
    if (!isBlocked || this.#closer.signal.aborted) return;
    this.isBlocked = true;
    await this.#child.kill();
  }
}
