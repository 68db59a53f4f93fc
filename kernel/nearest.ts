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
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      let cost = Math.min((above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    before = above;
    above = current;
  }
  return above[to.length] ?? 0;
};
