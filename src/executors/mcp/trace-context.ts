/** The trace that a call belongs to, for the server and on the span. */

import { context, isSpanContextValid, trace, TraceFlags } from '@opentelemetry/api';
import type { McpTarget } from './target.ts';

/** The active span as W3C trace context for `_meta`. Without baggage: it may hold anything, and a server is somebody else. */
export function traceMeta(): { readonly traceparent?: string; readonly tracestate?: string } {
  const span = trace.getSpanContext(context.active());
  if (span === undefined || !isSpanContextValid(span)) return {};
  const sampled = (span.traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01';
  const tracestate = span.traceState?.serialize();
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${sampled}`,
    ...(tracestate === undefined || tracestate === '' ? {} : { tracestate }),
  };
}

/** What the conventions want to know of a server, on the span that the call has already. The session is not among it: it opens doors. */
export function describeOnSpan(target: McpTarget, protocolVersion: string | undefined): void {
  const span = trace.getActiveSpan();
  if (span?.isRecording() !== true) return;
  if (protocolVersion !== undefined) span.setAttribute('mcp.protocol.version', protocolVersion);
  if ('command' in target) span.setAttribute('network.transport', 'pipe');
  if (!('url' in target)) return;
  const { hostname, port, protocol } = new URL(target.url);
  span.setAttributes({
    'network.transport': 'tcp',
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  });
}
