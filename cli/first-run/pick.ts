/** One of several, by its number, by a part of its text, or by a text of one's own. */
import type { Sketch } from '../../kernel/index.ts';
import { alignRows, oneLine } from '../style.ts';
import type { Dialogue } from './dialogue.ts';

export interface Choice {
  /** Columns, for people. */
  readonly cells: readonly string[];
  /** By which it can be named as well. */
  readonly name: string;
  readonly command: string;
}
export type Picked = { readonly choice: Choice } | { readonly typed: string };

/** More do not fit on a screen: a part of the name narrows them down. */
const MAX_SHOWN = 40;

/** Rows of the tables in a sketch that lead somewhere, each by its first action. */
export const choicesIn = (sketch: Sketch): readonly Choice[] => {
  if (sketch.kind === 'rows') return sketch.rows.flatMap(choicesIn);
  if (sketch.kind !== 'table') return [];
  return sketch.rows.flatMap(({ cells, actions = [] }) => {
    const [action] = actions;
    const shown = cells.map(oneLine);
    return action ? [{ cells: shown, name: shown.find((cell) => cell !== '') ?? '', command: action.command }] : [];
  });
};

export interface PickOptions {
  readonly question: string;
  /** A text that fits no choice is an answer as well. */
  readonly ownText: boolean;
}

/** Undefined when the person wants none. */
export const pick = async (dialogue: Dialogue, all: readonly Choice[], options: PickOptions): Promise<Picked | undefined> => {
  let shown = all;
  let before = '';
  show(dialogue, shown);
  for (;;) {
    const text = await dialogue.ask(options.question);
    if (text === undefined) return undefined;
    if (text === '') continue;
    const fitting = all.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
    const picked = meaningOf(text, { shown, all, options, isSaidAgain: text === before || (fitting.length === 0 && !isNumber(text)) });
    if (picked) return picked;
    if (fitting.length === 0) dialogue.say(isNumber(text) ? `There is no ${text}.` : `${text} is none of them.`);
    shown = fitting.length === 0 ? all : fitting;
    before = text;
    show(dialogue, shown);
  }
};

interface Heard {
  readonly shown: readonly Choice[];
  readonly all: readonly Choice[];
  readonly options: PickOptions;
  /** It is meant as it stands. */
  readonly isSaidAgain: boolean;
}
const meaningOf = (text: string, { shown, all, options, isSaidAgain }: Heard): Picked | undefined => {
  const choice = (isNumber(text) ? shown[Number(text) - 1] : undefined) ?? all.find(({ name }) => name === text);
  if (choice) return { choice };
  return options.ownText && isSaidAgain ? { typed: text } : undefined;
};

/** More likely a slip than the name of a model, of which some servers take any. */
const isNumber = (text: string): boolean => /^[-+]?\d{1,6}$/.test(text);

const show = (dialogue: Dialogue, choices: readonly Choice[]): void => {
  const few = choices.slice(0, MAX_SHOWN);
  const columns = [...(few[0]?.cells ?? []).keys()].filter((column) => few.some(({ cells }) => (cells[column] ?? '') !== ''));
  const rows = few.map(({ cells }, index) => [`${index + 1}.`.padStart(4), ...columns.map((column) => cells[column] ?? '')]);
  for (const row of alignRows(rows)) dialogue.say(row.trimEnd());
  if (choices.length > few.length) dialogue.say(`      and ${choices.length - few.length} more: type a part of the name`);
};
