import { ToolError, type ToolErrorCode } from '../../../kernel/index.ts';
import type { Anchor } from './anchor.ts';
import type { LineTable } from './line-table.ts';
import { freshRows, type Range } from './rows.ts';

export type LineAnchor = Extract<Anchor, { kind: 'line' | 'hash' }>;

/** An anchor as it was understood, and as it was given. */
export interface Named<A extends Anchor = Anchor> {
  readonly anchor: A;
  readonly given: string;
}
/** A file as it is before the edit. */
export interface Subject {
  readonly table: LineTable;
  readonly shown: string;
  /** Names the op; empty when it is the only one. */
  readonly label: string;
}
export interface Place {
  readonly index: number;
  readonly note?: string;
}

/** Lines before and behind a stale anchor among which its line is looked for. */
const REACH = 15;
/** Lines that are hashed to find one by its hash alone, a few microseconds each. In a larger file hardly any hash is the only one of its kind. */
const MAX_SEARCHED = 100_000;

/** The line that an anchor names. Whatever is wrong with its number, the line has the hash that was given. */
export const findLine = ({ anchor, given }: Named<LineAnchor>, subject: Subject): Place =>
  anchor.kind === 'hash' ? findHash(anchor, given, subject) : findNumbered(anchor, given, subject);

type Of<K extends Anchor['kind']> = Extract<Anchor, { kind: K }>;

const findNumbered = ({ number, local, chunk }: Of<'line'>, given: string, subject: Subject): Place => {
  const { table } = subject;
  const index = number - 1;
  if (table.count === 0) throw refusal('NOT_FOUND', subject, `\`${given}\` names no line: ${subject.shown} is empty`, [], 'Insert after `0:`.');
  if (number > table.count) {
    throw refusal('NOT_FOUND', subject, `\`${given}\` is past the end of ${subject.shown}, whose last line is ${table.count}`, [
      { from: table.count - 3, to: table.count },
    ]);
  }
  const around = { from: index, to: index + 1 };
  if (local === undefined) throw refusal('NOT_FOUND', subject, `the anchor \`${given}\` is not whole`, [around]);
  if (chunk === undefined || table.local(index) !== local) return findNear(index, local, given, subject);
  if (table.chunk(index) === chunk) return { index };
  mustBeAlone(index, local, given, subject);
  return { index, note: `${subject.label}lines near line ${number} have changed since \`${given}\` was shown.` };
};

const findNear = (index: number, local: string, given: string, subject: Subject): Place => {
  const { table } = subject;
  const around = { from: index, to: index + 1 };
  const found = matchingNear(table, local, index);
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) {
    throw refusal('NOT_FOUND', subject, `the anchor \`${given}\` is stale: no line near it in ${subject.shown} has that hash now`, [around]);
  }
  if (!isRun(table, found)) {
    const places = found.map((at) => ({ from: at, to: at + 1 }));
    throw refusal('CONFLICT', subject, `the anchor \`${given}\` is stale, and ${found.length} lines near it in ${subject.shown} have that hash`, places);
  }
  const nearest = Math.min(Math.max(index, first), last);
  return { index: nearest, note: `${subject.label}\`${given}\` was taken for line ${nearest + 1}.` };
};

const findHash = ({ local, chunk }: Of<'hash'>, given: string, subject: Subject): Place => {
  const { table } = subject;
  if (table.count > MAX_SEARCHED) {
    const why = `${subject.shown} has ${table.count} lines, too many to be told apart by the hash \`${given}\` alone`;
    throw refusal('INVALID_ARGUMENT', subject, why, [], 'Give the whole anchor, with the number of the line.');
  }
  const all = matching(table, local, 0, table.count);
  const found = chunk === undefined || all.length < 2 ? all : all.filter((index) => table.chunk(index) === chunk);
  const [index] = found;
  if (found.length === 1 && index !== undefined) return { index };
  if (all.length === 0) throw refusal('NOT_FOUND', subject, `no line of ${subject.shown} has the hash \`${given}\``, []);
  const places = all.map((at) => ({ from: at, to: at + 1 }));
  throw refusal('CONFLICT', subject, `the hash \`${given}\` does not name one line of ${subject.shown}: ${all.length} have it`, places);
};

/** Lines moved meanwhile, so one of the others with that hash, a bracket perhaps, may be the one that was meant. */
const mustBeAlone = (index: number, local: string, given: string, subject: Subject): void => {
  const { table, shown } = subject;
  const found = matchingNear(table, local, index);
  if (isRun(table, found)) return;
  const why = `lines near \`${given}\` have changed since it was shown, and ${found.length} of them in ${shown} have that hash`;
  throw refusal(
    'CONFLICT',
    subject,
    why,
    found.map((at) => ({ from: at, to: at + 1 })),
  );
};

/** Identical lines in a row: whichever of them is changed, the text comes out the same. */
const isRun = (table: LineTable, found: readonly number[]): boolean => {
  const [first = 0, last = 0] = [found[0], found.at(-1)];
  return last - first === found.length - 1 && found.every((at) => table.line(at) === table.line(first));
};

const matchingNear = (table: LineTable, local: string, index: number): readonly number[] =>
  matching(table, local, Math.max(0, index - REACH), Math.min(table.count, index + REACH + 1));

const matching = (table: LineTable, local: string, from: number, to: number): readonly number[] => {
  const found: number[] = [];
  for (let index = from; index < to; index++) if (table.local(index) === local) found.push(index);
  return found;
};

/** With the anchors of today, so that the call can be made again at once. */
export const refusal = (code: ToolErrorCode, subject: Subject, why: string, places: readonly Range[], fix?: string): ToolError => {
  const rows = freshRows(subject.table, places);
  const message = `${subject.label}${why}. Nothing was changed.`;
  if (rows === '') return new ToolError(code, message, { fix: fix ?? 'Read the file again for its anchors.' });
  return new ToolError(code, `${message}\nNow:\n${rows}`, { fix: fix ?? 'Use these anchors, or read the file again.' });
};
