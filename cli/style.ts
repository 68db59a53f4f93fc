/** Colours and columns for people. */

export type Paint = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>;

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

/** Colours on a terminal only, and never against NO_COLOR. */
export const createPaint = (isTerminal: boolean, environment: Readonly<Record<string, string | undefined>>): Paint => {
  const isOn = isTerminal && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  const paint = Object.entries(CODES).map(([name, [start, end]]) => [name, (text: string) => (isOn ? `\u001b[${start}m${text}\u001b[${end}m` : text)]);
  return Object.fromEntries(paint) as Paint;
};

/** Cells padded to the widest of their column, the last one left as it is. */
export const alignRows = (rows: readonly (readonly string[])[], gap = 2): readonly string[] => {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd((widths[column] ?? 0) + gap))).join(''));
};

/** At most `width` characters; what is left out is marked at that end. */
export const cut = (text: string, width: number, from: 'start' | 'end' = 'end'): string => {
  if (text.length <= width) return text;
  return from === 'end' ? `${text.slice(0, Math.max(0, width - 1))}…` : `…${text.slice(text.length - Math.max(0, width - 1))}`;
};

/** One line without control characters, so that nobody's text can steer a terminal. */
export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

/** The same for text of several lines. */
export const plainLines = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '');

export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
