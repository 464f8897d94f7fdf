/**
 * One OpenTelemetry span per call, with a child for every layer. A host that registers an SDK gets
 * them; without one, none is made.
 */

import {
  type Context,
  context,
  type HrTime,
  isSpanContextValid,
  type Span,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import type { ToolCall } from '../../core/contract/call.ts';
import { traceWith } from '../../core/onion/account.ts';
import { contentAttributes, contentOf } from '../content.ts';
import {
  closingAttributes,
  type EndedCall,
  ERROR_TYPE,
  EXECUTE_TOOL,
  type HumanWait,
  isScopeViolation,
  openingAttributes,
  type SpanAttributes,
  TOOL_NAME,
  WAIT_SPAN,
  waitAttributes,
  workOf,
} from '../ended-call.ts';
import { failed, type Otel } from './otel.ts';
import { remoteParentage } from './parent-context.ts';

/**
 * A span under way, and the context in which the tool runs, so that what the tool does itself
 * becomes part of it.
 */
export interface OpenSpan {
  readonly span: Span;
  readonly context: Context;
  readonly tracer: Tracer;
  /** What the span itself is under. */
  readonly parent: Context;
}

/**
 * Starts the span of a call. Times are given in parts: a bare number may be taken for a time since
 * the process began. `null` where a provider failed.
 */
export function openSpan(
  otel: Otel,
  tracer: Tracer,
  call: ToolCall,
  startMs: number,
): OpenSpan | null {
  const { counts, settings } = otel;
  counts.generated += 1;
  try {
    const attributes = openingAttributes(call, settings.attached);
    const active = context.active();
    const remote =
      call.metadata === undefined ? null : remoteParentage(call, active, settings.parent);
    const above = remote?.parent ?? settings.parent;
    const parent = above === null ? active : trace.setSpanContext(active, above);
    const links = remote?.links ?? [];
    const options = { kind: SpanKind.INTERNAL, attributes, startTime: hrTime(startMs), links };
    const span = tracer.startSpan(
      `${EXECUTE_TOOL} ${String(attributes[TOOL_NAME])}`,
      options,
      parent,
    );
    const own = span.spanContext();
    const flags = own.traceFlags & TraceFlags.SAMPLED ? '01' : '00';
    if (isSpanContextValid(own)) traceWith(call, `00-${own.traceId}-${own.spanId}-${flags}`);
    const open = { span, context: trace.setSpan(parent, span), tracer, parent };
    counts.pending += 1;
    return open;
  } catch (thrown) {
    failed(otel, thrown);
    counts.dropped += 1;
    return null;
  }
}

/** Ends the span. Nothing is worked out for a span that does not record. */
export function endSpan(otel: Otel, open: OpenSpan, ended: EndedCall): void {
  const { span, context: own, tracer, parent } = open;
  const { result, errorType, wait } = ended;
  otel.counts.pending -= 1;
  try {
    const endTime = hrTime(ended.endMs);
    if (span.isRecording()) {
      span.setAttributes(closingAttributes(ended));
      if (otel.settings.captureContent) describeContent(span, ended);
      else if (errorType !== null) span.setStatus(failedWith(errorType));
      span.addEvent('dispatched', hrTime(ended.startMs));
      span.addEvent('result_returned', endTime);
      if (result.errorCategory !== null && isScopeViolation(result))
        span.addEvent('scope_violation', { [ERROR_TYPE]: errorType ?? result.status }, endTime);
      for (const line of ended.lines) {
        const { name, status, startMs, endMs, counts } = workOf(line, ended);
        const attributes: SpanAttributes = { [LAYER_NAME]: name, [LAYER_STATUS]: status };
        for (const key in counts) attributes[`allium.layer.${key}`] = counts[key] ?? 0;
        const options = { kind: SpanKind.INTERNAL, attributes, startTime: hrTime(startMs) };
        tracer.startSpan(`layer ${name}`, options, own).end(hrTime(endMs));
      }
      // Beside the pass that follows it: both are what became of the one that ended with the
      // question.
      if (wait !== null)
        waitSpan(tracer, trace.getSpanContext(parent) === undefined ? own : parent, wait);
    }
    span.end(endTime);
    otel.counts.delivered += 1;
  } catch (thrown) {
    failed(otel, thrown);
    otel.counts.dropped += 1;
  }
}

const LAYER_NAME = 'allium.layer.name';
const LAYER_STATUS = 'allium.layer.status';

const failedWith = (message: string): SpanStatus => ({ code: SpanStatusCode.ERROR, message });

function waitSpan(tracer: Tracer, parent: Context, wait: HumanWait): void {
  const options = {
    kind: SpanKind.INTERNAL,
    attributes: waitAttributes(wait),
    startTime: hrTime(wait.startMs),
  };
  tracer.startSpan(WAIT_SPAN, options, parent).end(hrTime(wait.endMs));
}

function describeContent(span: Span, ended: EndedCall): void {
  const content = contentOf(ended);
  span.setAttributes(contentAttributes(content));
  if (ended.errorType !== null) span.setStatus(failedWith(content.error ?? ended.errorType));
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.trunc((ms - seconds * 1000) * 1_000_000)];
}
