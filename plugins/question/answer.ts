/** The answers as the next prompt of the conversation. */
import type { FieldValues, QuestionField } from '../../kernel/index.ts';

export const promptOf = (fields: readonly QuestionField[], values: FieldValues): string =>
  fields.map((field, index) => `Question: ${onOneLine(field.question)} Answer: ${answerOf(field, values[index] ?? [])}`).join('\n');

const onOneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');
const answerOf = ({ options }: QuestionField, given: string | readonly string[]): string => {
  const labelOf = (value: string): string => options.find((option) => option.value === value)?.label ?? value;
  const labels = (typeof given === 'string' ? [given] : given).map(labelOf);
  return labels.length === 0 ? '(none of them)' : labels.join(', ');
};
