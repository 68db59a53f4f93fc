import { LIMITS } from './limits.ts';
import type { Remarks } from './query.ts';
import { type Place, shownPath } from './place.ts';
import type { Rules } from './rules.ts';

/** The lines that fit. */
export const fitting = (rows: readonly string[]): readonly string[] => {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += Buffer.byteLength(row) + 1;
    return index >= LIMITS.lines || bytes > LIMITS.bytes;
  });
  return end < 0 ? rows : rows.slice(0, end);
};

/** What is said below the results about the search itself. */
export const remarkRows = (place: Place, rules: Rules, { unreadable, notes }: Remarks): readonly string[] => [
  ...(rules.isIgnored ? [`(${shownPath(place, place.path)} is ignored by git; it is shown because it was asked for by name.)`] : []),
  ...(unreadable.length > 0 ? [unreadableRow(place, unreadable)] : []),
  ...notes.map((note) => `(${note})`),
];

const unreadableRow = (place: Place, paths: readonly string[]): string => {
  const names = paths.map((path) => shownPath(place, path)).sort();
  const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? ', …' : '');
  const hint = process.platform === 'darwin' ? ' The terminal may need Full Disk Access.' : '';
  return `(${names.length} ${names.length === 1 ? 'path' : 'paths'} could not be read: ${shown}.${hint})`;
};
