/** "Did you mean …?" */

/** The known word nearest to a misspelt one, if any is near enough to be meant. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * Insertions, deletions, replacements, and neighbours that changed places, which is how most typing
 * goes wrong.
 */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replace = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? at(before, j - 2) + 1
          : Number.POSITIVE_INFINITY;
      next.push(Math.min(replace, swapped, at(row, j) + 1, at(next, j - 1) + 1));
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? 0;
