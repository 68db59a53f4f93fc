/** The form that waits for an answer: kept on the branch, and put to people for as long as it is there. */
import { checkedBy, type FieldValues, messageOf, type QuestionField, type Scope } from '../../kernel/index.ts';

interface Pending {
  readonly id: string;
  /** The session that it was asked in: a fork does not ask again. */
  readonly session: string;
  readonly fields: readonly QuestionField[];
}
const isOption = (value: unknown): boolean => {
  const { value: name, label } = (value ?? {}) as Partial<QuestionField['options'][number]>;
  return typeof name === 'string' && typeof label === 'string';
};
const isField = (value: unknown): boolean => {
  const { question, options } = (value ?? {}) as Partial<QuestionField>;
  return typeof question === 'string' && Array.isArray(options) && options.every(isOption);
};
const isPending = (value: unknown): boolean => {
  const { id, session, fields } = (value ?? {}) as Partial<Pending>;
  return typeof id === 'string' && typeof session === 'string' && Array.isArray(fields) && fields.length > 0 && fields.every(isField);
};
const PENDING = checkedBy<{ readonly pending: Pending | null }>('a form or null', ({ pending }) => pending === null || isPending(pending));

type OnAnswer = (answered: { readonly id: string; readonly fields: readonly QuestionField[]; readonly values: FieldValues }) => void;
type Parts = Pick<Scope<unknown, never>, 'session' | 'state' | 'ids' | 'warn'>;

export class PendingForm {
  readonly #kept: { readonly value: Pending | null; record(data: { readonly pending: Pending | null }): Promise<void> };
  readonly #at: Parts;
  readonly #onAnswer: OnAnswer;
  /** What was put to people here, answered or not. */
  #put: { readonly id: string; readonly controller: AbortController; isAnswered: boolean } | undefined;

  constructor(at: Parts, onAnswer: OnAnswer) {
    this.#at = at;
    this.#onAnswer = onAnswer;
    this.#kept = at.state<Pending | null, typeof PENDING>({ name: 'pending', data: PENDING, initial: null, fold: (_, { pending }) => pending });
  }
  get isThere(): boolean {
    return this.#pending !== null;
  }
  isOpen(id: string): boolean {
    return this.#pending?.id === id;
  }
  get #pending(): Pending | null {
    const { value } = this.#kept;
    return value?.session === this.#at.session.id ? value : null;
  }

  keep(fields: readonly QuestionField[]): Promise<void> {
    return this.#kept.record({ pending: { id: this.#at.ids.next('form'), session: this.#at.session.id, fields } });
  }
  /** The conversation has gone on. */
  async drop(): Promise<void> {
    if (this.#pending) await this.#kept.record({ pending: null });
    this.follow();
  }
  /** Puts what is pending to people, and takes back what no longer is. */
  follow(): void {
    const pending = this.#pending;
    if (this.#put && this.#put.id !== pending?.id) this.withdraw();
    if (pending && !this.#put && this.#at.session.interactive) void this.#ask(pending);
  }
  /** From the eyes of people; it stays pending. */
  withdraw(): void {
    this.#put?.controller.abort(new Error('the question is no longer open'));
    this.#put = undefined;
  }
  /** The answer did not get into the conversation. */
  askAgain(): void {
    if (this.#put?.isAnswered) this.#put = undefined;
  }

  async #ask({ id, fields }: Pending): Promise<void> {
    const put = { id, controller: new AbortController(), isAnswered: false };
    this.#put = put;
    const text = fields.map(({ question }) => question).join('\n');
    try {
      const { values } = await this.#at.session.ask({ kind: 'question', text, choices: [], fields, standing: true }, put.controller.signal);
      put.isAnswered = true;
      if (values) this.#onAnswer({ id, fields, values });
    } catch (error) {
      if (!put.controller.signal.aborted) this.#at.warn(`The question of the model could not be put to you: ${messageOf(error)}`);
    }
  }
}
