import { checkedBy } from '../../kernel/index.ts';

/** A turn with changes. It belongs to the session that made it: what a fork copies is none of its own. */
export interface Mark {
  readonly turn: number;
  readonly point: string;
  readonly session: string;
}
const isMark = ({ turn, point, session }: Partial<Mark>): boolean => Number.isInteger(turn) && typeof point === 'string' && typeof session === 'string';
export const MARK = checkedBy<Mark>('a point', isMark);
/** Turns with changes that a branch remembers: with the list, which is folded in memory, all older ones are forgotten. */
export const MAX_MARKS = 2_000;
