import type { Message, NewEntry } from '../data.ts';
import type { Attributed, Draft } from '../hooks/guard.ts';
import type { ReplyReview } from '../hooks/subjects.ts';

interface Reason {
  readonly plugin: string;
  readonly text: string;
  readonly isFinal: boolean;
}

/** Reviewers gather every problem; one is enough to turn the reply back. */
export class Review implements ReplyReview, Attributed {
  readonly message: Message;
  readonly raw: string;
  readonly before: number;
  readonly reasons: Reason[] = [];
  readonly along: NewEntry[] = [];
  visible: string;

  constructor(message: Message, raw: string, before: number) {
    this.message = message;
    this.raw = raw;
    this.before = before;
    this.visible = raw;
  }
  reject(text: string, how: { readonly final?: boolean } = {}): void {
    this.#reject('kernel', text, how);
  }
  show(visible: string): void {
    this.visible = visible;
  }
  record(slice: string, data: unknown): void {
    this.#record('kernel', slice, data);
  }
  /** The draft of one plugin: its reasons and records carry its name. */
  as(plugin: string): Draft {
    const changes: { readonly what: readonly unknown[]; readonly make: () => void }[] = [];
    const view: ReplyReview = {
      message: this.message,
      raw: this.raw,
      before: this.before,
      // What the taps before it made of the text.
      visible: this.visible,
      reject: (text, how = {}) => void changes.push({ what: ['reject', text, how], make: () => this.#reject(plugin, text, how) }),
      show: (visible) => void changes.push({ what: ['show', visible], make: () => this.show(visible) }),
      record: (slice, data) => void changes.push({ what: ['record', slice, data], make: () => this.#record(plugin, slice, data) }),
    };
    const commit = (): readonly unknown[] =>
      changes.splice(0).map(({ what, make }) => {
        make();
        return what;
      });
    return { view, commit };
  }

  #reject(plugin: string, text: string, how: { readonly final?: boolean }): void {
    this.reasons.push({ plugin, text, isFinal: how.final ?? false });
  }
  #record(plugin: string, slice: string, data: unknown): void {
    this.along.push({ kind: 'plugin', data: { plugin, slice, data } });
  }
}
