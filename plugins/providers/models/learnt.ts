/** What was learnt about the models of one base URL: kept for the next start, so that its first request knows the window. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fields, isFields, numberOf, parseJson } from '../values.ts';
import { type Facts, readFacts } from './facts.ts';
import { replaceFile } from './files.ts';

const MAX_MODELS = 64;
const MAX_CHARS = 262_144;

export interface Lesson {
  /** Epoch milliseconds. */
  readonly at: number;
  /** What the provider says itself. */
  readonly reported?: Facts;
  /** What the public catalogue says. */
  readonly catalogued?: Facts;
}
/** By model. */
export type Lessons = ReadonlyMap<string, Lesson>;

const fileFor = (home: string, baseUrl: string): string =>
  join(home, 'cache', `models-${createHash('sha256').update(baseUrl).digest('hex').slice(0, 16)}.json`);

/** Empty when there is no file, or none of ours. */
export const readLessons = (home: string, baseUrl: string): Lessons => {
  const saved = parseJson(textOf(fileFor(home, baseUrl)));
  const models: Fields = isFields(saved) && saved['baseUrl'] === baseUrl && isFields(saved['models']) ? saved['models'] : {};
  return new Map(Object.entries(models).flatMap(([model, lesson]) => (isFields(lesson) ? [[model, lessonIn(lesson)] as const] : [])));
};

const lessonIn = (lesson: Fields): Lesson => ({
  at: numberOf(lesson['at']) ?? 0,
  ...(isFields(lesson['reported']) ? { reported: readFacts(lesson['reported']) } : {}),
  ...(isFields(lesson['catalogued']) ? { catalogued: readFacts(lesson['catalogued']) } : {}),
});

const textOf = (file: string): string => {
  try {
    const text = readFileSync(file, 'utf8');
    return text.length > MAX_CHARS ? '' : text;
  } catch {
    return '';
  }
};

/** What another process has learnt meanwhile is kept; of too many models the newest stay. */
export const saveLesson = (home: string, baseUrl: string, model: string, lesson: Lesson): void => {
  const lessons = [...new Map([...readLessons(home, baseUrl), [model, lesson]])];
  const kept = lessons.sort(([, a], [, b]) => b.at - a.at).slice(0, MAX_MODELS);
  replaceFile(fileFor(home, baseUrl), JSON.stringify({ baseUrl, models: Object.fromEntries(kept) }));
};
