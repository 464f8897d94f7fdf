/** Where in a trace a call belongs. */

import {
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  isValidSpanId,
  isValidTraceId,
  type SpanContext,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import type { ToolCall } from '../../src/index.ts';

/** The parent a host fixed; both ids are needed, and both in the form of W3C trace context. */
export function fixedParent(traceId: string | undefined, spanId: string | undefined): SpanContext | null {
  if (traceId === undefined || spanId === undefined || !isValidTraceId(traceId) || !isValidSpanId(spanId)) return null;
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** The parent a host fixed, or else the active span, or else the `traceparent` of the call's metadata. */
export function parentContextOf(call: ToolCall, fixed: SpanContext | null): Context {
  const active = context.active();
  if (fixed !== null) return trace.setSpanContext(active, fixed);
  const { metadata } = call;
  if (metadata === undefined || hasSpan(active)) return active;
  const remote = remoteParent(metadata.traceparent, metadata.tracestate);
  return remote === null ? active : trace.setSpanContext(active, remote);
}

function hasSpan(active: Context): boolean {
  const span = trace.getSpanContext(active);
  return span !== undefined && isSpanContextValid(span);
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_HEADER = 512;

/** Version `ff` is forbidden, and version `00` has exactly four parts. Anything unclear is no parent. */
function remoteParent(traceparent: unknown, tracestate: unknown): SpanContext | null {
  if (typeof traceparent !== 'string' || traceparent.length > MAX_HEADER) return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (!isValidTraceId(traceId) || !isValidSpanId(spanId)) return null;
  const isSampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
  const parent = { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
  const hasState = typeof tracestate === 'string' && tracestate.length <= MAX_HEADER;
  return hasState ? { ...parent, traceState: createTraceState(tracestate) } : parent;
}
