// "Did you mean": the name nearest to a misspelt one.

/**
 * Longer names, and more names, are not compared: the work grows with the product of their lengths.
 */
const MAX_LENGTH = 64;
const MAX_CANDIDATES = 1000;

/** The candidate with the fewest typos, at most half the name's length; the first among equals. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = fold(name);
  let best: string | undefined;
  let fewest = Math.floor((wanted.length + 1) / 2);
  if (name.length > MAX_LENGTH) return undefined;
  for (const candidate of candidates.slice(0, MAX_CANDIDATES)) {
    if (candidate.length > MAX_LENGTH) continue;
    const typos = distance(wanted, fold(candidate));
    if (typos < fewest) [best, fewest] = [candidate, typos];
  }
  return best;
}

function fold(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

/** Insertions, deletions and replacements between two texts. */
function distance(x: string, y: string): number {
  let row = Array.from({ length: y.length + 1 }, (_, index) => index);
  for (let i = 1; i <= x.length; i++) {
    const next = [i];
    for (let j = 1; j <= y.length; j++) {
      const replaced = (row[j - 1] ?? 0) + Number(x[i - 1] !== y[j - 1]);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[y.length] ?? 0;
}
