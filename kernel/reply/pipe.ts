import { CastError } from '../errors.ts';
import { asPlugin } from '../hooks/as-plugin.ts';
import type { StreamFilter, StreamPipe } from '../hooks/subjects.ts';

interface Owned {
  readonly plugin: string;
  readonly filter: StreamFilter;
}

/** The text filters of one attempt, in the order of their taps, each run in the name of its plugin. */
export class Pipe {
  readonly #filters: Owned[] = [];
  readonly #onFault: (plugin: string, message: string) => void;

  constructor(onFault: (plugin: string, message: string) => void) {
    this.#onFault = onFault;
  }
  /** What one plugin's tap gets; its filters count once the tap has returned. */
  as(plugin: string): { readonly view: StreamPipe; commit(): void } {
    const added: Owned[] = [];
    return { view: { add: (filter) => void added.push({ plugin, filter }) }, commit: () => void this.#filters.push(...added) };
  }
  push(text: string): string {
    return this.#filters.reduce((rest, { plugin, filter }) => this.#run(plugin, () => filter.push(rest)), text);
  }
  /** What filters held back; each one's rest still passes those behind it. */
  end(): string {
    let tail = '';
    for (const { plugin, filter } of this.#filters) tail = this.#run(plugin, () => filter.push(tail) + filter.end());
    return tail;
  }

  /** A filter that fails may have hidden something: nothing further is shown, and the turn ends. */
  #run(plugin: string, work: () => string): string {
    return asPlugin({ plugin, where: 'stream', label: 'filter' }, work, (message) => {
      this.#onFault(plugin, message);
      throw new CastError('HOOK_FAULT', `a filter of ${plugin} failed in stream: ${message}`, { plugin, hook: 'stream' });
    });
  }
}
