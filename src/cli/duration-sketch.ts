/** Quantiles of any number of durations in a few kilobytes: a count for each range, and every range is a little wider than the one before. */

/** What was added so far. */
export interface Sketch {
  add(ms: number): void;
  /** The value below which a share of the durations lies. `null` where there are none. */
  quantile(share: number): number | null;
  /** How far off a quantile may be, as a share of it. For durations from a microsecond to a month. */
  readonly relativeError: number;
}

const RELATIVE_ERROR = 0.01;
const WIDER = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const LOG_WIDER = Math.log(WIDER);
/** A microsecond. Anything shorter is nothing. */
const SHORTEST_MS = 0.001;
const LONGEST_MS = 31 * 86_400_000;
const RANGES = Math.ceil(Math.log(LONGEST_MS / SHORTEST_MS) / LOG_WIDER) + 1;

/** An empty sketch. */
export function createSketch(): Sketch {
  const counts = new Float64Array(RANGES + 1);
  let total = 0;
  return {
    relativeError: RELATIVE_ERROR,
    add(ms) {
      if (!(ms >= 0)) return;
      const nth =
        ms < SHORTEST_MS
          ? 0
          : 1 + Math.min(RANGES - 1, Math.ceil(Math.log(ms / SHORTEST_MS) / LOG_WIDER));
      counts[nth] = (counts[nth] ?? 0) + 1;
      total += 1;
    },
    quantile(share) {
      if (total === 0) return null;
      const rank = share * (total - 1);
      let below = 0;
      let nth = 0;
      for (; nth < RANGES; nth += 1) {
        below += counts[nth] ?? 0;
        if (below > rank) break;
      }
      // The middle of the range, by ratio: no value in it is further away than the error.
      return nth === 0 ? 0 : (SHORTEST_MS * 2 * WIDER ** (nth - 1)) / (WIDER + 1);
    },
  };
}
