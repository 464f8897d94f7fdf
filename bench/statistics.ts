/**
 * The few figures a benchmark may be judged by. No means: one slow core would pull them anywhere.
 */

/** A middle value and how far the samples lie around it. */
export interface Spread {
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
}

/**
 * The value below which the given share of the samples lies, between neighbours by straight line.
 */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

export const spreadOf = (samples: readonly number[]): Spread => ({
  median: quantile(samples, 0.5),
  p10: quantile(samples, 0.1),
  p90: quantile(samples, 0.9),
});

/**
 * Ratio of two series measured in the same rounds, round by round. A core that slows down slows
 * both members of a pair; dividing the medians of two series would let each be taken from another
 * mood of the machine.
 */
export const pairedRatio = (series: readonly number[], baseline: readonly number[]): Spread =>
  spreadOf(series.map((value, round) => value / (baseline[round] ?? Number.NaN)));

/** Slope of the straight line with the least squared distance from the points. */
export function leastSquaresSlope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
