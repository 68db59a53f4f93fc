/** Questions to a person: taps of `ask` answer first, then whoever answers first on any surface. */
import type { EventMap } from '../events.ts';
import type { Answer, Question, QuestionDraft, TurnContext } from '../hooks/subjects.ts';
import type { HookSet } from '../hooks/hook-set.ts';
import { offTheClock } from '../hooks/running.ts';
import { LIMITS } from '../limits.ts';
import type { Ids } from '../plugin.ts';

export interface BrokerOptions {
  readonly interactive: boolean;
  readonly ids: Ids;
  hooks(): HookSet;
  emit<K extends 'question.asked' | 'question.answered' | 'question.withdrawn'>(type: K, data: EventMap[K]): void;
  warn(text: string): void;
  onWaiting(isWaiting: boolean): void;
}
interface Open {
  readonly question: Question;
  readonly settle: (answer: Answer) => void;
}

export class Broker {
  readonly #open = new Map<string, Open>();
  readonly #at: BrokerOptions;

  constructor(options: BrokerOptions) {
    this.#at = options;
  }
  get questions(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  /** `reject` by `nobody` where no person can be asked. Throws the signal's reason when the work it belongs to is aborted. */
  async ask(draft: QuestionDraft, turn: TurnContext): Promise<Answer> {
    const question: Question = { ...draft, text: draft.text.slice(0, LIMITS.questionChars), rules: draft.rules ?? [], id: this.#at.ids.next('question') };
    const answer = this.#checked(question, await this.#at.hooks().bail('ask', question, turn)) ?? (await this.#person(question, turn.signal));
    this.#at.emit('question.answered', {
      id: question.id,
      choice: answer.choice,
      by: answer.by,
      rules: question.rules,
      text: question.text,
      ...(question.call ? { tool: question.call.tool } : {}),
    });
    return answer;
  }

  /** What a tap says must be one of the choices: anything else allows nothing. */
  #checked(question: Question, answer: Answer | undefined | void): Answer | undefined {
    if (!answer || question.choices.some(({ value }) => value === answer.choice)) return answer ?? undefined;
    this.#at.warn(`${answer.by} answered "${answer.choice}", which is none of the choices: taken for a no.`);
    return { choice: 'reject', by: answer.by };
  }
  #person(question: Question, signal: AbortSignal): Promise<Answer> {
    return this.#at.interactive ? this.#wait(question, signal) : Promise.resolve({ choice: 'reject', by: 'nobody' });
  }

  /** False when it is no longer open: somebody was first, or the turn was aborted. */
  answer(id: string, choice: string): boolean {
    const open = this.#open.get(id);
    if (!open || !open.question.choices.some((each) => each.value === choice)) return false;
    open.settle({ choice, by: 'user' });
    return true;
  }

  #wait(question: Question, signal: AbortSignal): Promise<Answer> {
    return offTheClock(
      () =>
        new Promise<Answer>((resolve, reject) => {
          const done = (): void => {
            this.#open.delete(question.id);
            signal.removeEventListener('abort', onAbort);
            if (this.#open.size === 0) this.#at.onWaiting(false);
          };
          const onAbort = (): void => {
            done();
            this.#at.emit('question.withdrawn', { id: question.id });
            reject(signal.reason);
          };
          if (signal.aborted) return reject(signal.reason);
          signal.addEventListener('abort', onAbort, { once: true });
          this.#open.set(question.id, {
            question,
            settle: (answer) => {
              done();
              resolve(answer);
            },
          });
          this.#at.onWaiting(true);
          this.#at.emit('question.asked', { question });
        }),
    );
  }
}
