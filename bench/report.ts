/** What a benchmark hands back, as a text for people and as data for machines. */

import type { Measured } from './harness.ts';
import { pairedRatio, quantile, type Spread, spreadOf } from './statistics.ts';

/**
 * A promise about a ratio or a count. `value` is null when the filter left out what it is about.
 */
export interface Goal {
  readonly text: string;
  readonly value: number | null;
  /** What stands behind the value, where it is a ratio of two cases. */
  readonly ratio?: Ratio;
  readonly relation: '<=' | '<' | '>=' | '>' | '=';
  readonly limit: number;
}

export interface Report {
  readonly bench: string;
  /** For people. */
  readonly text: string;
  /** For machines. */
  readonly data: readonly unknown[];
  readonly goals: readonly Goal[];
}

/**
 * How two cases compare: the paired samples, and the best of each, which a busy machine disturbs
 * least.
 */
export interface Ratio extends Spread {
  readonly best: number;
}

/** One case in figures. The nanoseconds belong to this machine and this minute. */
export interface Row {
  readonly group: string;
  readonly name: string;
  /** To the baseline of the group, from paired samples; null when the baseline was filtered out. */
  readonly ratio: Ratio | null;
  readonly medianNs: number;
  readonly minNs: number;
  readonly p10Ns: number;
  readonly p90Ns: number;
}

/** Whether a goal was met; null when it was not measured. */
export function verdictOn({ value, relation, limit }: Goal): boolean | null {
  if (value === null) return null;
  switch (relation) {
    case '<=':
      return value <= limit;
    case '<':
      return value < limit;
    case '>=':
      return value >= limit;
    case '>':
      return value > limit;
    case '=':
      return value === limit;
  }
}

/**
 * Reports on parts of one benchmark as one. What a part did not measure another one did, or nobody.
 */
export function joinReports(bench: string, parts: readonly Report[]): Report {
  const goals = (parts[0]?.goals ?? []).map(
    (goal, index) =>
      parts
        .map((part) => part.goals[index])
        .find((one) => one !== undefined && one.value !== null) ?? goal,
  );
  return {
    bench,
    text: parts.map(({ text }) => text).join('\n\n'),
    data: parts.flatMap(({ data }) => data),
    goals,
  };
}

/** The ratio of two cases of one group as a goal. */
export function ratioGoal(
  measured: readonly Measured[],
  group: string,
  name: string,
  baseline: string,
  limit: number,
): Goal {
  const ratio = ratioIn(measured, group, name, baseline);
  const text = `${name} / ${baseline}, ${group}`;
  return ratio === null
    ? { text, value: null, relation: '<=', limit }
    : { text, value: ratio.median, ratio, relation: '<=', limit };
}

/**
 * How much of the baseline's throughput a case of the same group has. Samples are times, so it is
 * their ratio the other way round.
 */
export function throughputGoal(
  measured: readonly Measured[],
  group: string,
  name: string,
  baseline: string,
  limit: number,
): Goal {
  const ratio = ratioIn(measured, group, baseline, name);
  const text = `throughput of ${name} / ${baseline}, ${group}`;
  return ratio === null
    ? { text, value: null, relation: '>=', limit }
    : { text, value: ratio.median, ratio, relation: '>=', limit };
}

function ratioIn(
  measured: readonly Measured[],
  group: string,
  name: string,
  baseline: string,
): Ratio | null {
  const find = (wanted: string) =>
    measured.find((one) => one.group === group && one.name === wanted);
  const [subject, other] = [find(name), find(baseline)];
  if (subject === undefined || other === undefined) return null;
  return {
    ...pairedRatio(subject.samples, other.samples),
    best: Math.min(...subject.samples) / Math.min(...other.samples),
  };
}

export function rowsOf(measured: readonly Measured[], baseline: string): readonly Row[] {
  return measured.map(({ group, name, samples }) => {
    const { median, p10, p90 } = spreadOf(samples);
    return {
      group,
      name,
      ratio: ratioIn(measured, group, name, baseline),
      medianNs: median,
      minNs: quantile(samples, 0),
      p10Ns: p10,
      p90Ns: p90,
    };
  });
}

/** One table per group: the ratios first, because only they travel to another machine. */
export function renderRows(rows: readonly Row[], baseline: string): string {
  if (rows.length === 0) return 'no case matches the filter';
  const groups = [...new Set(rows.map(({ group }) => group))];
  return groups
    .map((group) =>
      renderGroup(
        group,
        rows.filter((row) => row.group === group),
        baseline,
      ),
    )
    .join('\n\n');
}

function renderGroup(group: string, rows: readonly Row[], baseline: string): string {
  const header = [
    group,
    `× ${baseline}`,
    'p10–p90',
    'of the best',
    'median ns',
    'min ns',
    'p10–p90 ns',
  ];
  return `${renderTable(header, rows.map(cellsOf))}${noteOnNoise(rows, baseline)}`;
}

const NOISY = 1.5;

/**
 * The baseline repeats the same work: when its own samples differ, the machine was doing something
 * else.
 */
function noteOnNoise(rows: readonly Row[], baseline: string): string {
  const row = rows.find(({ name }) => name === baseline);
  if (row === undefined || row.p90Ns / row.p10Ns < NOISY) return '';
  return `\nnoisy: the baseline's own samples differ by ${times(row.p90Ns / row.p10Ns)}; run it again on a quiet machine`;
}

function cellsOf({ name, ratio, medianNs, minNs, p10Ns, p90Ns }: Row): readonly string[] {
  const whole = (ns: number) => ns.toFixed(0);
  const ratioCells =
    ratio === null ? ['–', '–', '–'] : [times(ratio.median), rangeOf(ratio), times(ratio.best)];
  return [name, ...ratioCells, whole(medianNs), whole(minNs), `${whole(p10Ns)}–${whole(p90Ns)}`];
}

const times = (ratio: number): string => `${ratio.toFixed(2)}×`;
const rangeOf = ({ p10, p90 }: Spread): string => `${p10.toFixed(2)}–${p90.toFixed(2)}`;

/** First column to the left, the others to the right. */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = header.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [
    line(header),
    widths.map((width) => '─'.repeat(width)).join('  '),
    ...rows.map(line),
  ].join('\n');
}

export function renderGoal(goal: Goal): string {
  const { text, value, ratio, relation, limit } = goal;
  if (value === null) return `SKIP  ${text}: not measured (goal ${relation} ${limit})`;
  const range =
    ratio === undefined ? '' : ` (${rangeOf(ratio)}, of the best samples ${ratio.best.toFixed(2)})`;
  return `${verdictOn(goal) === true ? 'PASS' : 'FAIL'}  ${text}: ${figure(value)}${range}, goal ${relation} ${limit}`;
}

const figure = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(2);

export function renderReport({ bench, text, goals }: Report): string {
  return [`■ ${bench}`, '', text, '', ...goals.map(renderGoal)].join('\n');
}
