/** Questions to a person: taps of `ask` answer first, then whoever answers first on any surface. */
import { CastError, messageOf } from '../errors.ts';
import type { EventMap } from '../events.ts';
import type { Answer, FieldValues, Question, QuestionDraft, TurnContext } from '../hooks/subjects.ts';
import type { HookSet } from '../hooks/hook-set.ts';
import { offTheClock } from '../hooks/running.ts';
import { LIMITS } from '../limits.ts';
import type { Ids } from '../plugin.ts';
import { readForm } from './form.ts';

export interface BrokerOptions {
  readonly interactive: boolean;
  readonly ids: Ids;
  hooks(): HookSet;
  emit<K extends 'question.asked' | 'question.answered' | 'question.withdrawn'>(type: K, data: EventMap[K]): void;
  warn(text: string): void;
  /** Of a child session: where a person is asked. */
  readonly relay?: (question: Question, signal: AbortSignal) => Promise<Answer>;
  /** What a person says, or whoever stands in their place. */
  person(question: Question, next: () => Promise<Answer>): Promise<Answer>;
  /** Whether something that runs waits for a person. */
  onWaiting(isWaiting: boolean): void;
}
interface Open {
  readonly question: Question;
  readonly settle: (answer: Answer) => void;
}

export class Broker {
  readonly #open = new Map<string, Open>();
  #standing = 0;
  readonly #at: BrokerOptions;

  constructor(options: BrokerOptions) {
    this.#at = options;
  }
  get questions(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  /** Whether a form stands open, or is about to: what comes next is for a person to say. */
  get isStanding(): boolean {
    return this.#standing > 0;
  }

  /** `reject` by `nobody` where no person can be asked. Throws the signal's reason when the work it belongs to is aborted. */
  async ask(draft: QuestionDraft, turn: TurnContext): Promise<Answer> {
    const question: Question = { ...draft, text: draft.text.slice(0, LIMITS.questionChars), rules: draft.rules ?? [], id: this.#at.ids.next('question') };
    return this.#told(question, await (question.standing ? this.#stand(question, turn) : this.#settle(question, turn)));
  }
  /** Of a child session, whose own taps had no answer: for a person only. What it is about is told in both. */
  async relayed(question: Question, signal: AbortSignal): Promise<Answer> {
    return this.#told(question, await this.#interactively(question, signal));
  }
  #told(question: Question, answer: Answer): Answer {
    const { id, rules, text, call, path } = question;
    this.#at.emit('question.answered', {
      id,
      choice: answer.choice,
      by: answer.by,
      rules,
      text,
      ...(answer.values ? { values: answer.values } : {}),
      ...(call ? { tool: call.tool, call: call.id } : {}),
      ...(path ? { path } : {}),
    });
    return answer;
  }

  async #stand(question: Question, turn: TurnContext): Promise<Answer> {
    this.#standing += 1;
    try {
      return await this.#settle(question, turn);
    } finally {
      this.#standing -= 1;
    }
  }
  async #settle(question: Question, turn: TurnContext): Promise<Answer> {
    return this.#checked(question, await this.#at.hooks().bail('ask', question, turn)) ?? this.#person(question, turn.signal);
  }
  /** What a tap says must be one of the choices: anything else allows nothing. A form that it does not fill in is left to a person. */
  #checked(question: Question, answer: Answer | undefined | void): Answer | undefined {
    if (!answer) return undefined;
    if (question.fields) return this.#filledBy(question, answer);
    if (question.choices.some(({ value }) => value === answer.choice)) return answer;
    this.#at.warn(`${answer.by} answered "${answer.choice}", which is none of the choices: taken for a no.`);
    return { choice: 'reject', by: answer.by };
  }
  #filledBy({ fields = [] }: Question, { values, by }: Answer): Answer | undefined {
    try {
      return { choice: 'answered', values: readForm(fields, values), by };
    } catch (error) {
      this.#at.warn(`What ${by} answered is not used: ${messageOf(error)}`);
      return undefined;
    }
  }
  #person(question: Question, signal: AbortSignal): Promise<Answer> {
    const { relay, person } = this.#at;
    return relay ? offTheClock(() => relay(question, signal)) : person(question, () => this.#interactively(question, signal));
  }
  async #interactively(question: Question, signal: AbortSignal): Promise<Answer> {
    return this.#at.interactive ? this.#wait(question, signal) : { choice: 'reject', by: 'nobody' };
  }

  /** False when it is no longer open: somebody was first, or the turn was aborted. Throws ANSWER_INVALID when a form is filled in wrongly. */
  answer(id: string, given: string | FieldValues): boolean {
    const open = this.#open.get(id);
    const answer = open && answerTo(open.question, given);
    if (!answer) return false;
    open.settle({ ...answer, by: 'user' });
    return true;
  }

  #wait(question: Question, signal: AbortSignal): Promise<Answer> {
    const waiting = (): Promise<Answer> =>
      new Promise<Answer>((resolve, reject) => {
        const done = (): void => {
          this.#open.delete(question.id);
          signal.removeEventListener('abort', onAbort);
          this.#tellWaiting();
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
        this.#tellWaiting();
        this.#at.emit('question.asked', { question });
      });
    return question.standing ? waiting() : offTheClock(waiting);
  }
  #tellWaiting(): void {
    this.#at.onWaiting(this.questions.some(({ standing }) => !standing));
  }
}

/** Undefined for what is none of the choices. */
const answerTo = ({ fields, choices }: Question, given: string | FieldValues): Pick<Answer, 'choice' | 'values'> | undefined => {
  if (fields) return { choice: 'answered', values: readForm(fields, given) };
  if (typeof given !== 'string') throw new CastError('ANSWER_INVALID', 'this question is no form', { fix: 'Answer with the value of one of its choices.' });
  return choices.some(({ value }) => value === given) ? { choice: given } : undefined;
};
