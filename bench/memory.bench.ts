/**
 * Whether a call leaves anything behind on a signal that outlives it. A host hands the same
 * AbortSignal to every call of a session; whoever derives a signal per call must let go of it
 * again. Measures the heap after collection at points along the way and the slope of a straight
 * line through them; a single before-and-after would mistake a cache that fills for a leak.
 *
 * The naive twin in the same run leaks on purpose: a measurement that cannot fail proves nothing.
 *
 * Then what calls weigh while their tool is at work, and whether receipts of very many sessions
 * take memory or file handles: each session makes some calls and never comes again.
 * `SESSIONS=2000` makes fewer of them.
 */

import { strict as assert } from 'node:assert';
import { getEventListeners } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { createRegistry, defineTool, governTools, type JsonObject, type ToolCaller } from 'allium';
import { auditLog } from 'allium/middleware';
import { reportFromChild } from './child.ts';
import { distinct } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { renderTable, type Report } from './report.ts';
import { alliumStack } from './stack-allium.ts';
import { argsAt, receiptFiles, rulesFor, shortAnswerTo } from './stack-scenario.ts';
import { leastSquaresSlope } from './statistics.ts';

const CALLS = 1_000_000;
const NAIVE_CALLS = 200_000;
const WARM_UP_CALLS = 100_000;
const POINTS = 20;
const LAYERS = 4;
/** A loop that only awaits would never reach the finalizers that release weakly held signals. */
const CALLS_PER_TURN = 500;
const MAX_SLOPE = 1;

const IN_FLIGHT = 10_000;
const MAX_IN_FLIGHT_KB = 6;
const SESSIONS = Number(process.env.SESSIONS ?? 100_000);
const CALLS_PER_SESSION = 10;
const SESSIONS_AT_A_TIME = 50;
/** Two for each of the 64 sessions that may be open, and those that are being opened. */
const MAX_HANDLES = 200;

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
  onProgress(`holding ${IN_FLIGHT} calls in flight`);
  const inFlight = await inFlightBytes(gc);
  onProgress(`making ${SESSIONS * CALLS_PER_SESSION} calls in ${SESSIONS} sessions`);
  const sessions = await sessionGrowth(gc);
  const facts = [
    ['bytes of a call in flight', inFlight.toFixed(0)],
    ['bytes a session leaves behind', sessions.bytesPerSession.toFixed(1)],
    ['file handles at most', String(sessions.mostHandles ?? 'not known here')],
  ];
  return {
    bench: 'memory',
    text: `${render([allium, naive])}\n\n${renderTable(['calls and sessions', ''], facts)}`,
    data: [allium, naive, { inFlight }, sessions],
    goals: [
      {
        text: `KB of each of ${IN_FLIGHT} calls in flight through the captain stack`,
        value: inFlight / 1000,
        relation: '<=',
        limit: MAX_IN_FLIGHT_KB,
      },
      {
        text: `heap growth in bytes per call over ${SESSIONS} sessions with receipts`,
        value: sessions.bytesPerSession / CALLS_PER_SESSION,
        relation: '<',
        limit: MAX_SLOPE,
      },
      {
        text: `file handles for the receipts of ${SESSIONS} sessions`,
        value: sessions.mostHandles,
        relation: '<=',
        limit: MAX_HANDLES,
      },
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

/** Heap of each of many calls through the captain stack whose tool has not answered. */
async function inFlightBytes(gc: () => void): Promise<number> {
  const waiting: (() => void)[] = [];
  const answer = (args: JsonObject): Promise<JsonObject> =>
    new Promise((resolve) => waiting.push(() => resolve(shortAnswerTo(args))));
  const { call, close } = alliumStack({ ...rulesFor(shortAnswerTo), answer });
  const entered = async (from: number, count: number): Promise<readonly Promise<unknown>[]> => {
    const calls = Array.from({ length: count }, (_, nth) => call(argsAt(from + nth)));
    while (waiting.length < count) await turnOfTheLoop();
    return calls;
  };
  const answered = async (calls: readonly Promise<unknown>[]): Promise<void> => {
    for (const answerNow of waiting.splice(0)) answerNow();
    await Promise.all(calls);
  };
  await answered(await entered(0, IN_FLIGHT / 10));
  const before = await collectedHeap(gc);
  const calls = await entered(IN_FLIGHT, IN_FLIGHT);
  const during = await collectedHeap(gc);
  await answered(calls);
  await close();
  return (during - before) / IN_FLIGHT;
}

interface SessionGrowth {
  readonly bytesPerSession: number;
  readonly mostHandles: number | null;
}

/** Sessions that come and never come again, each with its receipts in files of its own. */
async function sessionGrowth(gc: () => void): Promise<SessionGrowth> {
  const { sink, remove } = receiptFiles();
  const echo = defineTool({
    name: 'echo',
    description: 'Answers with its number.',
    inputSchema: { type: 'object' },
    execute: async ({ index }) => ({ index }),
  });
  const governed = governTools({
    tools: [echo],
    layers: [auditLog({ sink, durability: 'background' })],
  });
  const callIn = async (session: number, index: number): Promise<void> => {
    const turn = { sessionId: `session-${session}` };
    const { ok } = await governed.call({ name: 'echo', arguments: { index } }, { turn });
    assert.ok(ok);
  };
  const points: [number, number][] = [];
  const step = SESSIONS / POINTS;
  let mostHandles: number | null = null;
  for (let from = 0; from < SESSIONS; from += SESSIONS_AT_A_TIME) {
    const sessions = Array.from({ length: SESSIONS_AT_A_TIME }, (_, nth) => from + nth);
    for (let index = 0; index < CALLS_PER_SESSION; index += 1)
      await Promise.all(sessions.map((session) => callIn(session, index)));
    const handles = openHandles();
    if (handles !== null) mostHandles = Math.max(mostHandles ?? 0, handles);
    await turnOfTheLoop();
    // The first tenth fills what is bounded.
    if (from % step === 0 && from >= SESSIONS / 10) points.push([from, await collectedHeap(gc)]);
  }
  await governed.close();
  await remove();
  return { bytesPerSession: leastSquaresSlope(points), mostHandles };
}

const openHandles = (): number | null =>
  existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : null;

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
