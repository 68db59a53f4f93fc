/** Longest line, in characters, whose likeness is measured; longer ones are alike only when equal. */
const MAX_LINE = 400;
const MIN_LIKENESS = 0.65;

type Lines = readonly string[];
/** Told of each comparison how much work it is. */
export type Spend = (work: number) => void;
const inner = (lines: Lines): Lines => lines.slice(1, -1);

const filledLines = (lines: Lines): number => lines.filter((line) => line !== '').length;

/**
 * Whether the lines between the first and the last are, on average, alike. Lines that have no partner count as unlike; of those that
 * are not blank the run has no more than were asked for: whoever did not name a line does not want it replaced.
 */
export const isBlockAlike = (run: Lines, old: Lines, spend: Spend): boolean => {
  const [have, asked] = [inner(run), inner(old)];
  const count = Math.max(have.length, asked.length);
  if (count === 0) return true;
  if (filledLines(have) > filledLines(asked)) return false;
  const sum = asked.reduce((total, line, index) => total + likeness(line, have[index], spend), 0);
  return sum / count >= MIN_LIKENESS;
};

/** Whether at least half of the lines between the first and the last are equal. */
export const isContextAlike = (run: Lines, old: Lines): boolean => {
  const [have, asked] = [inner(run), inner(old)];
  const filled = asked.flatMap((line, index) => (line === '' && have[index] === '' ? [] : [line === have[index]]));
  return filled.length === 0 || filled.filter(Boolean).length >= filled.length / 2;
};

const likeness = (a: string, b: string | undefined, spend: Spend): number => {
  if (a === b) return 1;
  if (b === undefined || a.length > MAX_LINE || b.length > MAX_LINE) return 0;
  spend(a.length * b.length);
  return 1 - distance(a, b) / Math.max(a.length, b.length);
};

/** Edit distance of two texts. */
export const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};
