/** One call under watch, and what a sink got of it. */

import {
  echoExecutor,
  makeCall,
  type PartialCall,
  recordingSink,
  testClock,
} from '../../conformance/index.ts';
import {
  composeToolCallers,
  defineLayer,
  type Next,
  refuse,
  type ToolLayer,
} from '../../src/index.ts';
import type { TelemetryProblem } from '../../src/telemetry/problem.ts';
import type { SpanRecord } from '../../src/telemetry/span-record.ts';
import { telemetry, type TelemetryOptions } from './telemetry.ts';

interface Setup {
  readonly options?: TelemetryOptions;
  readonly outer?: readonly ToolLayer[];
  readonly inner?: readonly ToolLayer[];
  readonly call?: PartialCall;
  readonly executor?: Next;
}

/** The recording sink is the first, whatever others the options name. */
export async function run({
  options = {},
  outer = [],
  inner = [],
  call = {},
  executor = echoExecutor(),
}: Setup) {
  const clock = testClock();
  const sink = recordingSink<SpanRecord>();
  const problems: TelemetryProblem[] = [];
  const layer = telemetry({
    onError: (problem) => void problems.push(problem),
    ...options,
    sinks: [sink, ...(options.sinks ?? [])],
  });
  const result = await composeToolCallers([...outer, layer, ...inner], { clock })(
    makeCall(call),
    executor,
  );
  return { result, records: sink.records, problems, layer, clock };
}

/** The same, for a call of which there must be a record. */
export async function recordOf(setup: Setup): Promise<SpanRecord> {
  const [record] = (await run(setup)).records;
  if (record === undefined) throw new Error('no record');
  return record;
}

/** A layer that turns every call away. */
export const refusing = (status: string): ToolLayer =>
  defineLayer({ name: 'no', caller: (call) => refuse(call, status, 'No.') });

/** A sink that never answers. */
export const never = () => new Promise(() => {});
