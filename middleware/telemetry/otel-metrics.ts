/** The metrics of tool calls, for whichever meter provider is registered at the time. */

import {
  type Counter,
  createNoopMeter,
  type Histogram,
  type MeterProvider,
  metrics,
} from '@opentelemetry/api';
import { ERROR_TYPE, EXECUTE_TOOL, OPERATION, STATUS, TOOL_NAME } from './attributes.ts';
import { type EndedCall, errorTypeOf } from './ended-call.ts';
import { clip, MAX_NAME } from './text.ts';

export interface Instruments {
  readonly duration: Histogram;
  readonly calls: Counter;
  readonly dropped: Counter;
}

/** Seconds, as the GenAI conventions advise for this histogram. */
const BUCKETS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/**
 * Gives the instruments of the registered provider, or `null` where there is none. Asked for every call: an instrument
 * made before a provider is registered does nothing for ever, because the API has no stand-in for meters.
 */
export function instrumentsFinder(): () => Instruments | null {
  let known: MeterProvider | null = null;
  let instruments: Instruments | null = null;
  return () => {
    const provider = metrics.getMeterProvider();
    if (provider === known) return instruments;
    instruments = instrumentsFrom(provider);
    known = provider;
    return instruments;
  };
}

function instrumentsFrom(provider: MeterProvider): Instruments | null {
  const meter = provider.getMeter('allium');
  if (meter === createNoopMeter()) return null;
  return {
    duration: meter.createHistogram('gen_ai.client.operation.duration', {
      unit: 's',
      description: 'How long a tool call took.',
      advice: { explicitBucketBoundaries: BUCKETS },
    }),
    calls: meter.createCounter('allium.tool.calls', {
      unit: '{call}',
      description: 'Tool calls by tool and status.',
    }),
    dropped: meter.createCounter('allium.telemetry.dropped', {
      unit: '{record}',
      description: 'Span records that no sink got.',
    }),
  };
}

/** Counts a call. A tool that was not found has a name that a model made up, and there are endlessly many of those. */
export function countCall(
  { duration, calls }: Instruments,
  { call, result, durationMs }: EndedCall,
): void {
  const tool = result.status === 'tool_not_found' ? '_OTHER' : clip(call.toolName, MAX_NAME);
  const errorType = errorTypeOf(result);
  const error = errorType === null ? {} : { [ERROR_TYPE]: errorType };
  duration.record(durationMs / 1000, { [OPERATION]: EXECUTE_TOOL, [TOOL_NAME]: tool, ...error });
  calls.add(1, { [TOOL_NAME]: tool, [STATUS]: clip(result.status, MAX_NAME) });
}
