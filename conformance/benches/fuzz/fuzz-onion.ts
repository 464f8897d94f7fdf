/**
 * Random stacks of well and badly behaved layers, and what must hold for every call through them.
 */

import { isResult } from '../../../src/core/onion/make-result.ts';
import type { ToolCall } from '../../../src/core/contract/call.ts';
import { composeToolCallers } from '../../../src/core/onion/compose.ts';
import { isAlliumError } from '../../../src/core/contract/errors.ts';
import type { Next, ToolLayer } from '../../../src/core/contract/layer.ts';
import type { ToolResult } from '../../../src/core/contract/result.ts';
import { makeCall, settle } from '../../test-kit.ts';
import { type Behaviour, execute, JOINED_NAMES, pickBehaviour } from './behaviours.ts';
import { createRandom, type Random } from './random.ts';
import { inSteps, randomStep } from './random-steps.ts';
import { report, type Watched, watchedRun } from './watch-process.ts';

export type Composer = (
  layers: readonly ToolLayer[],
) => (call: ToolCall, next: Next) => Promise<ToolResult>;

export interface FuzzOptions {
  readonly calls: number;
  readonly seed: number;
  /** What is put to the test. @default composeToolCallers */
  readonly compose?: Composer;
  /** Told after every stack how many calls are done. */
  readonly onProgress?: (done: number) => void;
}

export interface FuzzFigures extends Watched {
  calls: number;
  stacks: number;
  layersEntered: number;
  executorRuns: number;
  raised: number;
  readonly statuses: Record<string, number>;
}

/** What was seen of one call. */
interface Trace {
  readonly id: string;
  readonly cancelled: boolean;
  readonly entered: number[];
  readonly accepted: number[];
  readonly left: number[];
  runs: number;
  ended: boolean;
  readonly oddities: string[];
}

const CALLS_PER_STACK = 50;
const MOST_LAYERS = 8;
/** Everything here goes on by microtasks, so that a call that takes longer never ends. */
const PATIENCE_TURNS = 50;

/** Runs the calls and counts. Never rejects for what it finds; look at `violations`. */
export async function fuzzOnion(options: FuzzOptions): Promise<FuzzFigures> {
  const figures: FuzzFigures = {
    calls: 0,
    stacks: 0,
    layersEntered: 0,
    executorRuns: 0,
    raised: 0,
    unhandled: 0,
    statuses: {},
    violations: {},
  };
  await watchedRun(figures, async () => {
    while (figures.calls < options.calls) {
      await runStack(options, figures);
      options.onProgress?.(figures.calls);
    }
  });
  return figures;
}

async function runStack(
  { calls, seed, compose = composeToolCallers }: FuzzOptions,
  figures: FuzzFigures,
): Promise<void> {
  const stack = figures.stacks;
  figures.stacks += 1;
  const random = createRandom(Math.imul(seed, 1_000_003) + stack);
  const traces = new Map<string, Trace>();
  const layers = Array.from({ length: random.below(MOST_LAYERS + 1) }, (_, index) =>
    layerAt(index, random, traces),
  );
  const caller = compose(layers);
  const executor: Next = async (call) => runExecutor(call, random, traces);
  const names = new Set([...layers.map(({ name }) => name), ...JOINED_NAMES]);
  const count = Math.min(CALLS_PER_STACK, calls - figures.calls);
  const work = runCalls(count, random, (index) => {
    const trace = openTrace(`${stack}-${index}`, layers.length, random.oneIn(25));
    traces.set(trace.id, trace);
    return runCall(trace, random, names, caller, executor, figures);
  });
  if (!(await finishes(work))) report(figures, 'was never answered', `stack ${stack}`);
  for (const trace of traces.values()) closeTrace(trace, figures);
  figures.calls += count;
}

/** Some one after another, some at once. */
async function runCalls(
  count: number,
  random: Random,
  run: (index: number) => Promise<void>,
): Promise<void> {
  for (let index = 0; index < count; ) {
    const group = Math.min(1 + random.below(4), count - index);
    await Promise.all(Array.from({ length: group }, (_, offset) => run(index + offset)));
    index += group;
  }
}

async function finishes(work: Promise<void>): Promise<boolean> {
  let done = false;
  void work.then(() => (done = true));
  for (let turn = 0; turn < PATIENCE_TURNS && !done; turn += 1) await settle();
  // What was left behind comes to its end here.
  await settle();
  return done;
}

const openTrace = (id: string, layers: number, cancelled: boolean): Trace => ({
  id,
  cancelled,
  runs: 0,
  ended: false,
  oddities: [],
  entered: new Array<number>(layers + 1).fill(0),
  accepted: new Array<number>(layers + 1).fill(0),
  left: new Array<number>(layers + 1).fill(0),
});

const bump = (counts: number[], index: number): void =>
  void (counts[index] = (counts[index] ?? 0) + 1);

/** One layer in three goes in, waits once, and comes out. */
function layerAt(index: number, random: Random, traces: ReadonlyMap<string, Trace>): ToolLayer {
  if (random.oneIn(3)) return stepsAt(index, random, traces);
  const behaviours: readonly Behaviour[] = Array.from({ length: 1 + random.below(3) }, () =>
    pickBehaviour(random),
  );
  return {
    name: `layer ${index}`,
    caller: (call, next) => {
      const trace = traces.get(call.callId);
      if (trace === undefined) throw new Error('a call came with an id that nobody gave it');
      bump(trace.entered, index);
      const counted: Next = (passed) => {
        bump(trace.accepted, index);
        return next(passed);
      };
      const lateNext: Next = async (passed) => {
        const result = await next(passed);
        if (!['tool_middleware_exception', 'cancelled'].includes(result.status))
          trace.oddities.push('a late next was accepted');
        return result;
      };
      return random.pick(behaviours)({ random, call, next: counted, lateNext });
    },
  };
}

function stepsAt(index: number, random: Random, traces: ReadonlyMap<string, Trace>): ToolLayer {
  const traceOf = (call: ToolCall): Trace => {
    const trace = traces.get(call.callId);
    if (trace === undefined) throw new Error('a call came with an id that nobody gave it');
    return trace;
  };
  const entered = (call: ToolCall) => {
    bump(traceOf(call).entered, index);
    bump(traceOf(call).accepted, index);
  };
  const left = (call: ToolCall) => {
    const { left: counts, entered: times, oddities } = traceOf(call);
    bump(counts, index);
    if ((counts[index] ?? 0) > (times[index] ?? 0))
      oddities.push('left a layer more often than it was entered');
  };
  return { name: `layer ${index}`, caller: inSteps(randomStep(random, entered, left)) };
}

function runExecutor(
  call: ToolCall,
  random: Random,
  traces: ReadonlyMap<string, Trace>,
): ToolResult | Promise<ToolResult> {
  const trace = traces.get(call.callId);
  if (trace === undefined) throw new Error('the executor was entered with an id that nobody gave');
  trace.runs += 1;
  if (trace.ended) trace.oddities.push('the executor was entered after the answer');
  if (!Object.isFrozen(call) || !Object.isFrozen(call.toolArgs))
    trace.oddities.push('the executor got something it could change');
  return execute(call, random);
}

async function runCall(
  trace: Trace,
  random: Random,
  names: ReadonlySet<string>,
  caller: ReturnType<Composer>,
  executor: Next,
  figures: FuzzFigures,
): Promise<void> {
  const signal = trace.cancelled ? AbortSignal.abort() : undefined;
  const call = makeCall({
    callId: trace.id,
    toolArgs: { n: random.below(100) },
    ...(signal === undefined ? {} : { signal }),
  });
  let answer: unknown;
  try {
    answer = await caller(call, executor);
  } catch (thrown) {
    figures.raised += 1;
    answer = isAlliumError(thrown, 'ERR_CALL_REFUSED')
      ? thrown.result
      : trace.oddities.push('threw something that is no raise');
  }
  trace.ended = true;
  if (!isResult(answer))
    return void trace.oddities.push('answered with something that is no result');
  figures.statuses[answer.status] = (figures.statuses[answer.status] ?? 0) + 1;
  trace.oddities.push(...wrongIn(answer, trace, names));
}

/** What does not hold for a result, in words. */
function wrongIn(result: ToolResult, trace: Trace, names: ReadonlySet<string>): readonly string[] {
  const lines = result.audit?.layers ?? [];
  const layers = trace.entered.length - 1;
  const rules: readonly (readonly [string, boolean])[] = [
    ['answers another id', result.toolCallId !== trace.id],
    ['is not frozen', !Object.isFrozen(result)],
    ['has a status that is no text', typeof result.status !== 'string' || result.status === ''],
    ['says the tool did not run, but it did', result.executed === 'no' && trace.runs > 0],
    ['says the tool ran, but it did not', result.executed === 'yes' && trace.runs === 0],
    ['ran the tool for a caller that had gone', trace.cancelled && trace.runs > 0],
    ['has a line of an unknown layer', lines.some(({ name }) => !names.has(name))],
    ['lacks the line of the outermost layer', layers > 0 && lines.at(-1)?.name !== 'layer 0'],
    [
      'has two lines of the outermost layer',
      lines.filter(({ name }) => name === 'layer 0').length > 1,
    ],
    [
      'has a line that times do not fit',
      lines.some(({ startedAt, endedAt }) => !(startedAt <= endedAt)),
    ],
    ['shows what a scrub took out', JSON.stringify(lines).includes('secret')],
  ];
  return rules.filter(([, broken]) => broken).map(([rule]) => rule);
}

/**
 * Every layer and the executor are entered at most once for each `next` that was accepted outside.
 */
function closeTrace(trace: Trace, figures: FuzzFigures): void {
  const { entered, accepted, runs, oddities } = trace;
  const bottom = entered.length - 1;
  entered[bottom] = runs;
  for (let index = 0; index <= bottom; index += 1) {
    const most = index === 0 ? 1 : (accepted[index - 1] ?? 0);
    if ((entered[index] ?? 0) > most)
      oddities.push(index === bottom ? 'ran the tool too often' : 'entered a layer too often');
  }
  figures.executorRuns += runs;
  figures.layersEntered += entered.slice(0, bottom).reduce((sum, count) => sum + count, 0);
  for (const oddity of oddities) report(figures, oddity, `call ${trace.id}`);
}
