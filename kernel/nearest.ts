/** The candidate closest to a mistyped name; undefined when none is close enough to be meant. */
export const nearest = (name: string, candidates: Iterable<string>): string | undefined => {
  const limit = Math.max(2, Math.floor(name.length / 3));
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    // Lengths alone rule most candidates out.
    if (Math.abs(candidate.length - name.length) > limit) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    // A name that shares nothing with the candidate is no typo of it.
    if (distance > limit || distance >= candidate.length) continue;
    if (!best || distance < best.distance) best = { candidate, distance };
  }
  return best?.candidate;
};

/** ` Did you mean …?`, or nothing. */
export const suggestion = (name: string, candidates: Iterable<string>): string => {
  const found = nearest(name, candidates);
  return found === undefined ? '' : ` Did you mean \`${found}\`?`;
};

/** Insertions, deletions, replacements and swaps of neighbours, one each. */
const editDistance = (from: string, to: string): number => {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1] && row > 1 && column > 1;
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, replaced, swapped));
    }
  }
  return at(from.length, to.length);
};
