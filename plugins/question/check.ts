/** What a schema cannot say of a form. */
import { type QuestionField, ToolError } from '../../kernel/index.ts';

/** The form as it is put and kept, with nothing in it that is not asked for. Throws with the question and the option that is at fault. */
export const checkForm = (given: readonly QuestionField[]): readonly QuestionField[] => {
  const fields = given.map(plain);
  for (const [index, field] of fields.entries()) checkField(`questions[${index}]`, field);
  return fields;
};

const plain = ({ question, options, recommended, multi, noFreeForm }: QuestionField): QuestionField => ({
  question: plainLines(question),
  options: options.map(({ value, label, description }) => ({
    value: onOneLine(value),
    label: onOneLine(label),
    ...(description === undefined ? {} : { description: plainLines(description) }),
  })),
  ...(recommended === undefined ? {} : { recommended: onOneLine(recommended) }),
  ...(multi ? { multi } : {}),
  ...(noFreeForm ? { noFreeForm } : {}),
});

/** Without control characters, so that no text steers the terminal that shows it. */
const onOneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
const plainLines = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '').trim();

const checkField = (at: string, { question, options, recommended }: QuestionField): void => {
  if (question === '') throw refusal(`${at}.question is empty`);
  for (const key of ['value', 'label'] as const) checkDifferent(at, key, options);
  if (recommended === undefined || options.some(({ value }) => value === recommended)) return;
  const values = options.map(({ value }) => JSON.stringify(value)).join(', ');
  throw refusal(`${at}.recommended is ${JSON.stringify(recommended)}, which is the value of none of its options (${values})`);
};

/** Whoever answers has to be able to tell them apart, and so has the model. */
const checkDifferent = (at: string, key: 'value' | 'label', options: QuestionField['options']): void => {
  const seen = new Map<string, number>();
  for (const [index, option] of options.entries()) {
    const text = option[key];
    if (text === '') throw refusal(`${at}.options[${index}].${key} is empty`);
    const same = seen.get(text);
    if (same !== undefined) throw refusal(`${at}.options[${index}].${key} is the same as that of options[${same}] (${JSON.stringify(text)})`);
    seen.set(text, index);
  }
};

const refusal = (what: string): ToolError =>
  new ToolError('INVALID_ARGUMENT', `${what}. Nothing was asked.`, { fix: 'Call question again with that put right.' });
