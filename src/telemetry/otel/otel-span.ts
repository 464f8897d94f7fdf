/**
 * One OpenTelemetry span per call, with a child for every layer. A host that registers an SDK gets
 * them; without one, none is made.
 */

import {
  type Context,
  type HrTime,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import type { ToolCall } from '../../core/contract/call.ts';
import { traceWith } from '../../core/onion/account.ts';
import {
  closingAttributes,
  ERROR_TYPE,
  EXECUTE_TOOL,
  openingAttributes,
  type SpanAttributes,
  TOOL_NAME,
} from '../attributes.ts';
import { contentAttributes, contentOf } from '../content.ts';
import {
  type EndedCall,
  errorTypeOf,
  isScopeViolation,
  layersOf,
  type LayerWork,
} from '../ended-call.ts';
import { type HumanWait, WAIT_SPAN, waitAttributes } from '../ended-call.ts';
import { parentContextOf, traceparentOf } from './parent-context.ts';

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

export interface SpanSettings {
  readonly parent: SpanContext | null;
  readonly attached: Readonly<SpanAttributes> | null;
  readonly captureContent: boolean;
}

/**
 * Gives the tracer of the registered provider, or `null` where there is none. Asked for every call,
 * because a provider may come late, or be replaced.
 */
export function tracerFinder(): () => Tracer | null {
  let known: TracerProvider | null = null;
  let tracer: Tracer | null = null;
  return () => {
    const provider = trace.getTracerProvider();
    if (provider === known) return tracer;
    if (!isRegistered(provider)) return null;
    tracer = provider.getTracer('allium');
    known = provider;
    return tracer;
  };
}

/** Before a provider is registered, the API gives a stand-in that has nothing to delegate to. */
const isRegistered = (
  provider: TracerProvider & { getDelegateTracer?(name: string): unknown },
): boolean =>
  provider.getDelegateTracer === undefined || provider.getDelegateTracer('allium') !== undefined;

/**
 * Starts the span of a call. Times are given in parts: a bare number may be taken for a time since
 * the process began.
 */
export function openSpan(
  tracer: Tracer,
  call: ToolCall,
  startMs: number,
  { parent, attached }: SpanSettings,
): OpenSpan {
  const attributes = openingAttributes(call, attached);
  const { context: parentContext, links } = parentContextOf(call, parent);
  const name = `${EXECUTE_TOOL} ${String(attributes[TOOL_NAME])}`;
  const options = {
    kind: SpanKind.INTERNAL,
    attributes,
    startTime: hrTime(startMs),
    ...(links.length === 0 ? {} : { links: [...links] }),
  };
  const span = tracer.startSpan(name, options, parentContext);
  const traceparent = traceparentOf(span.spanContext());
  if (traceparent !== null) traceWith(call, traceparent);
  return { span, context: trace.setSpan(parentContext, span), tracer, parent: parentContext };
}

/** Ends the span. A span that does not record costs no more than this question. */
export function endSpan(
  { span, context: own, tracer, parent }: OpenSpan,
  ended: EndedCall,
  captureContent: boolean,
): void {
  if (!span.isRecording()) return span.end();
  span.setAttributes(closingAttributes(ended));
  const errorType = errorTypeOf(ended.result);
  if (captureContent) describeContent(span, ended, errorType);
  else if (errorType !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: errorType });
  const endTime = hrTime(ended.endMs);
  span.addEvent('dispatched', hrTime(ended.startMs));
  span.addEvent('result_returned', endTime);
  if (isScopeViolation(ended.result))
    span.addEvent('scope_violation', { [ERROR_TYPE]: errorType ?? ended.result.status }, endTime);
  for (const work of layersOf(ended)) childSpan(tracer, own, work);
  // Beside the pass that follows it: both are what became of the one that ended with the question.
  if (ended.wait !== null)
    waitSpan(tracer, trace.getSpanContext(parent) === undefined ? own : parent, ended.wait);
  span.end(endTime);
}

function waitSpan(tracer: Tracer, parent: Context, wait: HumanWait): void {
  const options = {
    kind: SpanKind.INTERNAL,
    attributes: waitAttributes(wait),
    startTime: hrTime(wait.startMs),
  };
  tracer.startSpan(WAIT_SPAN, options, parent).end(hrTime(wait.endMs));
}

function describeContent(span: Span, ended: EndedCall, errorType: string | null): void {
  const content = contentOf(ended);
  span.setAttributes(contentAttributes(content));
  if (errorType !== null)
    span.setStatus({ code: SpanStatusCode.ERROR, message: content.error ?? errorType });
}

function childSpan(
  tracer: Tracer,
  parent: Context,
  { name, status, startMs, endMs, counts }: LayerWork,
): void {
  const attributes: SpanAttributes = { 'allium.layer.name': name, 'allium.layer.status': status };
  for (const key of Object.keys(counts)) attributes[`allium.layer.${key}`] = counts[key] ?? 0;
  tracer
    .startSpan(
      `layer ${name}`,
      { kind: SpanKind.INTERNAL, attributes, startTime: hrTime(startMs) },
      parent,
    )
    .end(hrTime(endMs));
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.trunc((ms - seconds * 1000) * 1_000_000)];
}
