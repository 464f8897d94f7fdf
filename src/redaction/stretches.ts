/** Where the characters of a view came from. */

/**
 * Stretches of a view. The first character of each stands from `starts` to `ends` in the text; the
 * others follow it one by one.
 */
export interface Stretches {
  count: number;
  readonly places: Uint32Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** What stood at this place or behind it was erased. */
export function begin(stretches: Stretches, place: number, start: number, end: number): void {
  const { places, starts, ends } = stretches;
  let { count } = stretches;
  while (count > 0 && (places[count - 1] ?? 0) >= place) count -= 1;
  places[count] = place;
  starts[count] = start;
  ends[count] = end;
  stretches.count = count + 1;
}

function stretchOf({ count, places }: Stretches, index: number): number {
  let low = 0;
  for (let high = count; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) <= index) low = middle;
    else high = middle;
  }
  return low;
}

export function startOf(stretches: Stretches, index: number): number {
  const own = stretchOf(stretches, index);
  const inside = index - (stretches.places[own] ?? 0);
  return inside === 0 ? (stretches.starts[own] ?? 0) : (stretches.ends[own] ?? 0) + inside - 1;
}

export const endOf = (stretches: Stretches, index: number): number => {
  const own = stretchOf(stretches, index);
  return (stretches.ends[own] ?? 0) + index - (stretches.places[own] ?? 0);
};

export const stretchesFor = (length: number): Stretches => {
  const numbers = () => new Uint32Array(length + 2);
  return { count: 0, places: numbers(), starts: numbers(), ends: numbers() };
};
