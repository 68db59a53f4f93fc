/** What a host was found to want otherwise than most: learnt from its refusals, kept for the process. */
import { readErrorBody } from './failures/error-body.ts';

export interface Quirks {
  /** How it calls the limit of the reply. */
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  /** It wants `reasoning_content` on each message with calls, also where there was none. */
  readonly reasoningAlways: boolean;
  /** It does not know `stream_options`. */
  readonly plainStream: boolean;
  /** It takes call ids of nine letters and digits only. */
  readonly shortIds: boolean;
}
export const NO_QUIRKS: Quirks = { limitField: 'max_tokens', reasoningAlways: false, plainStream: false, shortIds: false };

interface Lesson {
  readonly says: readonly RegExp[];
  readonly unless?: RegExp;
  readonly change: Partial<Quirks>;
}
const LESSONS: readonly Lesson[] = [
  { says: [/max_tokens/, /max_completion_tokens/], unless: /less than|at least|maximum value/, change: { limitField: 'max_completion_tokens' } },
  { says: [/reasoning_content/, /missing|must|required/], change: { reasoningAlways: true } },
  { says: [/stream_options/], change: { plainStream: true } },
  { says: [/tool call id/, /length of 9/], change: { shortIds: true } },
];

/** The quirks after a refusal; the same object when it teaches nothing. */
export const learn = (quirks: Quirks, status: number, body: string): Quirks => {
  if (status !== 400 && status !== 422) return quirks;
  const { said, param } = readErrorBody(body);
  const text = `${said} ${param ?? ''}`.toLowerCase();
  const lesson = LESSONS.find(({ says, unless }) => says.every((pattern) => pattern.test(text)) && !unless?.test(text));
  return lesson ? { ...quirks, ...lesson.change } : quirks;
};
