/** Where in a trace a call belongs. */

import {
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  isValidSpanId,
  isValidTraceId,
  type Link,
  type SpanContext,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import type { ToolCall } from '../../core/contract/call.ts';

/** The parent a host fixed; both ids are needed, and both in the form of W3C trace context. */
export function fixedParent(
  traceId: string | undefined,
  spanId: string | undefined,
): SpanContext | null {
  if (
    traceId === undefined ||
    spanId === undefined ||
    !isValidTraceId(traceId) ||
    !isValidSpanId(spanId)
  )
    return null;
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** Where a span belongs, and what else it has to do with. */
export interface Parentage {
  readonly context: Context;
  readonly links: readonly Link[];
}

/**
 * The parent a host fixed, or else the active span, or else the `traceparent` of the call's
 * metadata.
 */
export function parentContextOf(call: ToolCall, fixed: SpanContext | null): Parentage {
  const active = context.active();
  const here = fixed ?? spanOf(active);
  const { metadata } = call;
  if (metadata === undefined || (here !== null && !isResumed(call))) return under(active, fixed);
  const remote = remoteParent(metadata.traceparent, metadata.tracestate);
  if (remote === null) return under(active, fixed);
  // A resumed call goes on in the trace where it stopped, not in that of `resume`.
  return { ...under(active, remote), links: here === null ? [] : [{ context: here }] };
}

const under = (active: Context, parent: SpanContext | null): Parentage => ({
  context: parent === null ? active : trace.setSpanContext(active, parent),
  links: [],
});

const isResumed = ({ turn: { resumes = 0 } }: ToolCall): boolean => resumes > 0;

function spanOf(active: Context): SpanContext | null {
  const span = trace.getSpanContext(active);
  return span !== undefined && isSpanContextValid(span) ? span : null;
}

/** A span as it is named in other processes; `null` for one that is none. */
export const traceparentOf = (span: SpanContext): string | null =>
  isSpanContextValid(span)
    ? `00-${span.traceId}-${span.spanId}-${span.traceFlags & TraceFlags.SAMPLED ? '01' : '00'}`
    : null;

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_HEADER = 512;

/**
 * Version `ff` is forbidden, and version `00` has exactly four parts. Anything unclear is no
 * parent.
 */
function remoteParent(traceparent: unknown, tracestate: unknown): SpanContext | null {
  if (typeof traceparent !== 'string' || traceparent.length > MAX_HEADER) return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] =
    TRACEPARENT.exec(traceparent) ?? [];
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (!isValidTraceId(traceId) || !isValidSpanId(spanId)) return null;
  const isSampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
  const parent = {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  };
  const hasState = typeof tracestate === 'string' && tracestate.length <= MAX_HEADER;
  return hasState ? { ...parent, traceState: createTraceState(tracestate) } : parent;
}
