/**
 * `allium receipts stats`: what the receipts of a place add up to, in memory that does not grow
 * with them.
 */

import { type CliIo, writeLine } from '../io/io.ts';
import { durationText, jsonOf } from './receipts-format.ts';
import { type FilterOptions, openSource, placeOf } from './receipts-source.ts';
import { renderTable, safeText } from '../io/text-table.ts';

/** Options of `stats`. */
export interface StatsOptions extends FilterOptions {
  readonly json?: true;
}

/** Names that are told apart. Those that come later are counted together. */
const MAX_NAMES = 1000;
const SHOWN_NAMES = 20;
/** Longer names are cut: they are held in memory. */
const MAX_NAME = 200;

interface Tally {
  readonly counts: Map<string, number>;
  others: number;
}

const newTally = (): Tally => ({ counts: new Map(), others: 0 });

function add(tally: Tally, name: string | null): void {
  if (name === null) return;
  // A copy: a part of a text keeps all of it in memory.
  const key = name.length > MAX_NAME ? `${Buffer.from(name.slice(0, MAX_NAME)).toString()}…` : name;
  const count = tally.counts.get(key);
  if (count === undefined && tally.counts.size >= MAX_NAMES) tally.others += 1;
  else tally.counts.set(key, (count ?? 0) + 1);
}

/** Everything that is counted. Intents are only counted: they have come to nothing yet. */
interface Stats {
  receipts: number;
  intents: number;
  first: string | null;
  last: string | null;
  readonly tool: Tally;
  readonly status: Tally;
  readonly session: Tally;
  readonly blockedBy: Tally;
  readonly durations: Sketch;
}

/** Prints the counts. */
export async function statsCommand(
  path: string | undefined,
  options: StatsOptions,
  io: CliIo,
): Promise<number> {
  const source = openSource(placeOf(path, options, io), options, io);
  const stats: Stats = {
    receipts: 0,
    intents: 0,
    first: null,
    last: null,
    durations: createSketch(),
    tool: newTally(),
    status: newTally(),
    session: newTally(),
    blockedBy: newTally(),
  };
  for await (const { receipt } of source.found) {
    stats.first = earlier(stats.first, receipt.emitted_at, 1);
    stats.last = earlier(stats.last, receipt.emitted_at, -1);
    if (receipt.record === 'intent') {
      stats.intents += 1;
      continue;
    }
    stats.receipts += 1;
    add(stats.tool, receipt.tool_name);
    add(stats.status, receipt.status);
    add(stats.session, receipt.session_id);
    add(stats.blockedBy, receipt.blocked_by);
    stats.durations.add(receipt.duration_ms);
  }
  await writeLine(
    io.stdout,
    options.json === true ? jsonOf(plain(stats)) : render(stats, io.stdout.columns),
  );
  return source.report();
}

/** Times that cannot be read do not count. */
function earlier(known: string | null, time: string, sign: 1 | -1): string | null {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return known;
  return known === null || sign * (at - Date.parse(known)) < 0 ? new Date(at).toISOString() : known;
}

const byCount = ({ counts }: Tally): readonly (readonly [string, number])[] =>
  [...counts].sort(([, a], [, b]) => b - a);

function plain({ receipts, intents, first, last, durations, ...tallies }: Stats): object {
  const counts = ({ others, ...tally }: Tally): object => ({
    counts: byCount({ others, ...tally }).map(([name, count]) => ({ name, count })),
    others,
  });
  return {
    receipts,
    intents,
    first,
    last,
    duration_ms: {
      p50: durations.quantile(0.5),
      p95: durations.quantile(0.95),
      relative_error: durations.relativeError,
    },
    tool: counts(tallies.tool),
    status: counts(tallies.status),
    session: counts(tallies.session),
    blocked_by: counts(tallies.blockedBy),
  };
}

function render(stats: Stats, width: number | undefined): string {
  const { receipts, intents, first, last, durations } = stats;
  const quantile = (share: number): string => {
    const ms = durations.quantile(share);
    return ms === null ? 'none' : `${durationText(Number(ms.toPrecision(3)))} ms`;
  };
  const head = [
    `receipts  ${receipts}, and ${intents} intents`,
    `first     ${safeText(first ?? 'none')}`,
    `last      ${safeText(last ?? 'none')}`,
    `duration  p50 ${quantile(0.5)}, p95 ${quantile(0.95)} (within ${durations.relativeError * 100} %)`,
  ];
  const tables = Object.entries({
    tool: stats.tool,
    status: stats.status,
    session: stats.session,
    'blocked by': stats.blockedBy,
  });
  return [
    ...head,
    ...tables
      .filter(([, { counts }]) => counts.size > 0)
      .map(([title, tally]) => `\n${tableOf(title, tally, width)}`),
  ].join('\n');
}

function tableOf(title: string, tally: Tally, width: number | undefined): string {
  const all = byCount(tally);
  const shown = all
    .slice(0, SHOWN_NAMES)
    .map(([name, count]) => [String(count), name === '' ? '(none)' : name]);
  const hidden = all.slice(SHOWN_NAMES).reduce((sum, [, count]) => sum + count, tally.others);
  const rows = hidden === 0 ? shown : [...shown, [String(hidden), '(others)']];
  return renderTable(
    [{ title: 'count', align: 'right' }, { title }],
    rows,
    width === undefined ? {} : { width },
  );
}

/** What was added so far. */
interface Sketch {
  add(ms: number): void;
  /** The value below which a share of the durations lies. `null` where there are none. */
  quantile(share: number): number | null;
  /**
   * How far off a quantile may be, as a share of it. For durations from a microsecond to a month.
   */
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
function createSketch(): Sketch {
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
