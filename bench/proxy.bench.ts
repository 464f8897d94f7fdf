/**
 * What it costs to put a process between an MCP client and a server: one that copies bytes, the
 * proxy without layers and with the captain stack, and gateways as they are usually built. Real
 * processes, the echo tool of the server that everybody tests with, and the SDK's client in front
 * of all of them. All are up at the same time and take turns, so that every round gives pairs.
 *
 * Latency is the median of calls made one after another, throughput is taken with 64 calls on their
 * way, both by the wall clock: waiting is what is measured. On a machine with few cores the
 * processes of one way stand in each other's light, so the processor time of all of them together
 * is beside it.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measured } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { burst, connect, type Connection, latencyNs } from './proxy-connection.ts';
import { inProcessBench } from './proxy-in-process.ts';
import {
  BYTES,
  DIRECT,
  EMPTY,
  FULL,
  NAIVE,
  SDK,
  type Topology,
  topologiesIn,
} from './proxy-topologies.ts';
import { type Goal, ratioGoal, renderRows, type Report, rowsOf, throughputGoal } from './report.ts';

const AT_A_TIME = 64;
const LATENCY = 'MCP echo, one call at a time';
const THROUGHPUT = `MCP echo, ${AT_A_TIME} at a time`;
const PROCESSOR = `MCP echo, ${AT_A_TIME} at a time, processor time of all processes`;
const LATENCY_CALLS = 100;
const BURST_CALLS = 960;
/** Not recorded: some thousand calls, after which the compilers of all processes are done. */
const WARM_UP_ROUNDS = 6;
/** On a busy machine fewer rounds are made than were asked for. */
const MAX_MS = 120_000;

export async function proxyBench(options: BenchOptions): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'allium-bench-proxy-'));
  try {
    const { measured, leftOut } = await measureWays(topologiesIn(folder), options);
    const inProcess = await inProcessBench(join(folder, 'in-process'), options);
    const rows = rowsOf(measured, DIRECT);
    const missing = [...leftOut, ...inProcess.leftOut];
    return {
      bench: 'proxy',
      text: [
        rows.length > 0 || inProcess.text === '' ? renderRows(rows, DIRECT) : '',
        inProcess.text,
        ...missing,
      ]
        .filter(Boolean)
        .join('\n\n'),
      data: [...rows, ...inProcess.data],
      goals: [
        ...goalsFor(measured),
        ...inProcess.goals,
        { text: 'ways that could not be measured', value: missing.length, relation: '=', limit: 0 },
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const goalsFor = (measured: readonly Measured[]): readonly Goal[] => [
  ratioGoal(measured, LATENCY, EMPTY, BYTES, 1.1),
  ratioGoal(measured, LATENCY, FULL, DIRECT, 3),
  throughputGoal(measured, THROUGHPUT, FULL, DIRECT, 0.45),
  throughputGoal(measured, THROUGHPUT, FULL, SDK, 0.75),
  throughputGoal(measured, THROUGHPUT, FULL, NAIVE, 3),
];

/** A way from the client to the server that is up, and what was measured on it. */
interface Way {
  readonly topology: Topology;
  readonly connection: Connection;
  readonly series: ReadonlyMap<string, number[]>;
}

async function measureWays(
  topologies: readonly Topology[],
  options: BenchOptions,
): Promise<{ readonly measured: readonly Measured[]; readonly leftOut: readonly string[] }> {
  const ways: Way[] = [];
  const leftOut: string[] = [];
  try {
    for (const topology of topologies) {
      const groups = [LATENCY, THROUGHPUT, PROCESSOR].filter((group) =>
        options.matches({ group, name: topology.name }),
      );
      if (groups.length === 0) continue;
      const connection = await connect(topology.args).catch((error: unknown) => String(error));
      if (typeof connection === 'string') leftOut.push(`left out: ${topology.name}: ${connection}`);
      else ways.push({ topology, connection, series: new Map(groups.map((group) => [group, []])) });
    }
    if (ways.length > 0) await takeTurns(ways, options);
  } finally {
    await Promise.all(ways.map(({ connection }) => connection.close()));
  }
  for (const { topology, connection } of ways) topology.prove?.(connection.calls());
  return { measured: ways.flatMap(measuredOn), leftOut };
}

async function takeTurns(
  ways: readonly Way[],
  { rounds, onProgress }: BenchOptions,
): Promise<void> {
  onProgress(`MCP echo: ${ways.length} ways, ${WARM_UP_ROUNDS} rounds to warm up, then ${rounds}`);
  const startedAt = performance.now();
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    if (round > 0 && performance.now() - startedAt > MAX_MS)
      return onProgress(`MCP echo: time is up after ${round} rounds`);
    for (let i = 0; i < ways.length; i++) {
      const way = ways[(round + WARM_UP_ROUNDS + i) % ways.length];
      if (way === undefined) continue;
      const sample = await sampleOf(way);
      if (round >= 0)
        for (const [group, samples] of way.series) samples.push(sample.get(group) ?? Number.NaN);
    }
  }
}

async function sampleOf({ connection, series }: Way): Promise<ReadonlyMap<string, number>> {
  const latency = series.has(LATENCY) ? await latencyNs(connection, LATENCY_CALLS) : Number.NaN;
  if (!series.has(THROUGHPUT) && !series.has(PROCESSOR)) return new Map([[LATENCY, latency]]);
  const { wallNs, processorNs } = await burst(connection, BURST_CALLS, AT_A_TIME);
  return new Map([
    [LATENCY, latency],
    [THROUGHPUT, wallNs],
    [PROCESSOR, processorNs],
  ]);
}

const measuredOn = ({ topology: { name }, series }: Way): readonly Measured[] =>
  [...series].map(([group, samples]) => ({ group, name, samples }));
