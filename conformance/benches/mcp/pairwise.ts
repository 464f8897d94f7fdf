/**
 * Few of many cases, so that every pair of values that occurs in any of them occurs in one of the
 * few.
 */

/**
 * Deterministic: in each step the case with the most pairs that are still missing, the first of
 * those.
 */
export function pairwise<T extends object>(
  cases: readonly T[],
  factors: readonly (keyof T)[],
): readonly T[] {
  const missing = new Set(cases.flatMap((each) => pairsOf(each, factors)));
  const chosen: T[] = [];
  while (missing.size > 0) {
    let [best, most] = [cases[0], 0];
    for (const each of cases) {
      const gain = pairsOf(each, factors).filter((pair) => missing.has(pair)).length;
      if (gain > most) [best, most] = [each, gain];
    }
    if (best === undefined || most === 0) break;
    chosen.push(best);
    for (const pair of pairsOf(best, factors)) missing.delete(pair);
  }
  return chosen;
}

/** Every two factors with their values. */
export function pairsOf<T extends object>(
  each: T,
  factors: readonly (keyof T)[],
): readonly string[] {
  return factors.flatMap((one, index) =>
    factors.slice(index + 1).map((other) => JSON.stringify([one, each[one], other, each[other]])),
  );
}
