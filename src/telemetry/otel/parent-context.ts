/** Where in a trace a call belongs. */

import {
  type Context,
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

/** What a span is under, and what else it has to do with. */
export interface Parentage {
  readonly parent: SpanContext;
  readonly links: Link[];
}

/**
 * The `traceparent` of a call's metadata as the parent of its span. `null` where that is the parent
 * a host fixed, or else the active span.
 */
export function remoteParentage(
  { metadata, turn: { resumes = 0 } }: ToolCall,
  active: Context,
  fixed: SpanContext | null,
): Parentage | null {
  const here = fixed ?? spanOf(active);
  // A resumed call goes on in the trace where it stopped, not in that of `resume`.
  if (metadata === undefined || (here !== null && resumes === 0)) return null;
  const parent = remoteParent(metadata.traceparent, metadata.tracestate);
  return parent === null ? null : { parent, links: here === null ? [] : [{ context: here }] };
}

function spanOf(active: Context): SpanContext | null {
  const span = trace.getSpanContext(active);
  return span !== undefined && isSpanContextValid(span) ? span : null;
}

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
