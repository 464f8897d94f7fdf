/** The limit's spans, made with the OpenTelemetry API as any program makes them. */

import {
  type Context,
  context,
  type HrTime,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { type Caps, type Pass, tellLayers, type ToolFacts } from './limit-record.ts';

export interface OpenSpan {
  readonly tracer: Tracer;
  readonly span: Span;
  /** What the tool runs in, so that its own spans are inside. */
  readonly own: Context;
  /** Without an SDK there is nobody to tell anything. */
  readonly isRecording: boolean;
}

export function openSpan({ id, turn, startMs }: Pass, tool: ToolFacts): OpenSpan {
  const tracer = trace.getTracer('allium');
  const parent = context.active();
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool.name,
    'gen_ai.tool.call.id': id,
    'gen_ai.conversation.id': turn.sessionId,
    'allium.iteration': turn.iteration,
    'gen_ai.tool.description': tool.description,
    'gen_ai.tool.type': 'function',
    'allium.executor': 'local',
  };
  const options = { kind: SpanKind.INTERNAL, attributes, startTime: hrTime(startMs) };
  const span = tracer.startSpan(`execute_tool ${tool.name}`, options, parent);
  const isRecording = span.isRecording();
  return { tracer, span, own: isRecording ? trace.setSpan(parent, span) : parent, isRecording };
}

/** Ends the span, with a child for every layer inside. */
export function endSpan({ tracer, span, own }: OpenSpan, pass: Pass, caps: Caps): void {
  const { status, category, approval, blockedBy } = pass;
  const endTime = hrTime(Math.max(pass.endMs, pass.startMs + pass.durationMs));
  span.setAttributes({
    'allium.status': status,
    'allium.ok': status === 'ok',
    'allium.executed': pass.hasRun ? (status === 'ok' ? 'yes' : 'unknown') : 'no',
    'allium.args_hash': pass.requested.hash,
  });
  if (approval !== null) span.setAttribute('allium.consent.decision', approval.decision);
  if (blockedBy !== null) span.setAttribute('allium.blocked_by', blockedBy);
  if (category !== null) {
    span.setAttribute('error.type', category);
    span.setStatus({ code: SpanStatusCode.ERROR, message: category });
  }
  span.addEvent('dispatched', hrTime(pass.startMs));
  span.addEvent('result_returned', endTime);
  tellLayers(pass, caps, (name, said, startMs, endMs, details) => {
    const attributes: Record<string, string | number> = {
      'allium.layer.name': name,
      'allium.layer.status': said,
    };
    if (typeof details?.count === 'number') attributes['allium.layer.count'] = details.count;
    if (typeof details?.cap === 'number') attributes['allium.layer.cap'] = details.cap;
    if (typeof details?.limitMs === 'number') attributes['allium.layer.limit_ms'] = details.limitMs;
    const options = { kind: SpanKind.INTERNAL, attributes, startTime: hrTime(startMs) };
    tracer.startSpan(`layer ${name}`, options, own).end(hrTime(endMs));
  });
  span.end(endTime);
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.trunc((ms - seconds * 1000) * 1_000_000)];
}
