/**
 * Whether a call leaves anything behind on a signal that outlives it. A host hands the same
 * AbortSignal to every call of a session; whoever derives a signal per call must let go of it
 * again. Measures the heap after collection at points along the way and the slope of a straight
 * line through them; a single before-and-after would mistake a cache that fills for a leak.
 *
 * The naive twin in the same run leaks on purpose: a measurement that cannot fail proves nothing.
 */

import { strict as assert } from 'node:assert';
import { getEventListeners } from 'node:events';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { createRegistry, defineTool, governTools, type ToolCaller } from 'allium';
import { reportFromChild } from './child.ts';
import { distinct } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { renderTable, type Report } from './report.ts';
import { leastSquaresSlope } from './statistics.ts';

const CALLS = 1_000_000;
const NAIVE_CALLS = 200_000;
const WARM_UP_CALLS = 100_000;
const POINTS = 20;
const LAYERS = 4;
/** A loop that only awaits would never reach the finalizers that release weakly held signals. */
const CALLS_PER_TURN = 500;
const MAX_SLOPE = 1;

interface Growth {
  readonly name: string;
  readonly calls: number;
  readonly heapBytes: readonly number[];
  readonly bytesPerCall: number;
  readonly listenersLeft: number;
}

/** One call of the series; the number makes its arguments differ. */
type Operation = (signal: AbortSignal, index: number) => Promise<unknown>;

/** Measures here when the collector can be called, else in a process of its own where it can. */
export function memoryBench(options: BenchOptions): Promise<Report> {
  const { gc } = globalThis;
  return gc === undefined
    ? reportFromChild(['memory'], ['--expose-gc'])
    : measureHere(() => gc(), options);
}

async function measureHere(gc: () => void, { onProgress }: BenchOptions): Promise<Report> {
  const governed = governedOperation();
  onProgress(`making ${CALLS} calls on one signal`);
  const allium = await growthOf('allium', governed.operation, CALLS, gc);
  await governed.close();
  onProgress(`making ${NAIVE_CALLS} calls on one signal the naive way`);
  const naive = await growthOf('naive AbortSignal.any', naiveOperation(), NAIVE_CALLS, gc);
  return {
    bench: 'memory',
    text: render([allium, naive]),
    data: [allium, naive],
    goals: [
      {
        text: 'heap growth of allium in bytes per call',
        value: allium.bytesPerCall,
        relation: '<',
        limit: MAX_SLOPE,
      },
      {
        text: 'abort listeners allium left on the signal',
        value: allium.listenersLeft,
        relation: '=',
        limit: 0,
      },
      {
        text: 'heap growth of the naive twin, so that this can fail',
        value: naive.bytesPerCall,
        relation: '>',
        limit: MAX_SLOPE,
      },
    ],
  };
}

function governedOperation(): {
  readonly operation: Operation;
  readonly close: () => Promise<void>;
} {
  const echo = defineTool({
    name: 'echo',
    description: 'Answers with its number.',
    inputSchema: {
      type: 'object',
      properties: { index: { type: 'integer' } },
      required: ['index'],
    },
    execute: async ({ index }) => ({ index }),
  });
  const layers = Array.from({ length: LAYERS }, (_, layer) => ({
    name: `layer ${layer + 1}`,
    caller: distinct<ToolCaller>(
      'async (call, next) => { const result = await next(call); return result; }',
    ),
  }));
  const governed = governTools({ tools: createRegistry([echo]), layers });
  return {
    operation: async (signal, index) => {
      const { ok, result } = await governed.call(
        { name: 'echo', arguments: { index }, id: `call-${index}` },
        { signal },
      );
      assert.ok(ok);
      return result;
    },
    close: () => governed.close(),
  };
}

/** What one would write first: a signal for each call that follows the host's. */
const naiveOperation = (): Operation => async (signal, index) => {
  const own = new AbortController();
  const linked = AbortSignal.any([signal, own.signal]);
  return { index, aborted: linked.aborted };
};

async function growthOf(
  name: string,
  operation: Operation,
  calls: number,
  gc: () => void,
): Promise<Growth> {
  const { signal } = new AbortController();
  await makeCalls(operation, signal, 0, WARM_UP_CALLS);
  const step = calls / POINTS;
  const points: [number, number][] = [];
  for (let point = 0; point < POINTS; point++) {
    await makeCalls(operation, signal, WARM_UP_CALLS + point * step, step);
    points.push([(point + 1) * step, await collectedHeap(gc)]);
  }
  return {
    name,
    calls,
    heapBytes: points.map(([, bytes]) => bytes),
    bytesPerCall: leastSquaresSlope(points),
    listenersLeft: getEventListeners(signal, 'abort').length,
  };
}

async function makeCalls(
  operation: Operation,
  signal: AbortSignal,
  from: number,
  count: number,
): Promise<void> {
  for (let index = from; index < from + count; index++) {
    await operation(signal, index);
    if (index % CALLS_PER_TURN === 0) await turnOfTheLoop();
  }
}

/** Twice, with turns in between: the first collection finds what finalizers then release. */
async function collectedHeap(gc: () => void): Promise<number> {
  for (let pass = 0; pass < 2; pass++) {
    await turnOfTheLoop();
    gc();
  }
  return process.memoryUsage().heapUsed;
}

function render(growths: readonly Growth[]): string {
  const kib = (bytes: number | undefined) => ((bytes ?? 0) / 1024).toFixed(0);
  return renderTable(
    ['series', 'bytes per call', 'calls', 'first KiB', 'last KiB', 'listeners left'],
    growths.map(({ name, calls, heapBytes, bytesPerCall, listenersLeft }) => [
      name,
      bytesPerCall.toFixed(3),
      String(calls),
      kib(heapBytes[0]),
      kib(heapBytes.at(-1)),
      String(listenersLeft),
    ]),
  );
}
