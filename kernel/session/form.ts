/** What was filled into a form, checked against it. Answers come from outside, so nothing is taken for granted. */
import { CastError } from '../errors.ts';
import type { FieldValues, QuestionField } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';

/** One value, or a list of different ones, for each field. Throws ANSWER_INVALID, naming the field. */
export const readForm = (fields: readonly QuestionField[], given: unknown): FieldValues => {
  if (!Array.isArray(given) || given.length !== fields.length)
    throw invalid(`${fields.length} ${fields.length === 1 ? 'value is' : 'values are'} asked for, ${countIn(given)}`);
  const values = fields.map((field, index) => (field.multi ? several(field, given[index], index) : single(field, given[index], index)));
  const size = values.flat().reduce((sum, value) => sum + value.length, 0);
  if (size > LIMITS.answerChars) throw invalid(`the answer has ${size} characters, ${LIMITS.answerChars} is the most`);
  return values;
};

const countIn = (given: unknown): string => (Array.isArray(given) ? `${given.length} came` : 'and they have to be a list');

const single = (field: QuestionField, given: unknown, index: number): string => {
  if (typeof given !== 'string') throw invalid(`${nameOf(field, index)} takes one text`);
  return oneOf(field, given, index);
};
const several = (field: QuestionField, given: unknown, index: number): readonly string[] => {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return [...new Set(list.map((each) => single(field, each, index)))];
};
const oneOf = (field: QuestionField, given: string, index: number): string => {
  const value = given.trim();
  if (field.options.some((option) => option.value === given)) return given;
  if (value === '') throw invalid(`${nameOf(field, index)} has no answer`);
  if (!field.noFreeForm) return value;
  throw invalid(`${nameOf(field, index)} takes one of ${field.options.map((option) => option.value).join(', ')}`);
};

const SHOWN = 80;
const nameOf = ({ question }: QuestionField, index: number): string =>
  `question ${index + 1} ("${question.length > SHOWN ? `${question.slice(0, SHOWN)}…` : question}")`;
const invalid = (problem: string): CastError =>
  new CastError('ANSWER_INVALID', problem, {
    fix: 'Give one value for each question, in their order: an option, or a text of your own where that is allowed.',
  });
