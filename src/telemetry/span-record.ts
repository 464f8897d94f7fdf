/**
 * The plain span record: what callable and stderr sinks get, in the form in which it leaves the
 * process.
 */

import type { JsonValue } from '../core/json/json-value.ts';
import { contentOf } from './content.ts';
import {
  clip,
  closingAttributes,
  type EndedCall,
  type HumanWait,
  isScopeViolation,
  type LayerWork,
  MAX_NAME,
  openingAttributes,
  type SpanAttributes,
  waitAttributes,
  workOf,
} from './ended-call.ts';

/**
 * One call. Frozen, because several sinks may get the same one. New fields may come: ignore what
 * you do not know.
 */
export interface SpanRecord {
  /** `tool_call.<tool>`. */
  readonly name: string;
  readonly kind: 'tool_call';
  /** The call's id: it joins the record with events and receipts. */
  readonly span_id: string;
  /** The option `traceId`, or else the session. */
  readonly trace_id: string;
  readonly parent_span_id: string | null;
  readonly start_time_ms: number;
  readonly end_time_ms: number;
  readonly start_time_iso: string;
  readonly end_time_iso: string;
  readonly duration_ms: number;
  readonly status: string;
  readonly attributes: Readonly<SpanAttributes>;
  readonly events: readonly SpanRecordEvent[];
  /** The layers inside telemetry, innermost first. */
  readonly child_spans: readonly ChildSpanRecord[];
  /** Of a resumed call: how long a person took to decide. */
  readonly approval_wait?: ApprovalWaitRecord;
  /** With `captureContent` only, like the next two. */
  readonly arguments?: JsonValue;
  readonly result?: JsonValue;
  readonly error?: string;
}

/** A moment within a call. */
export interface SpanRecordEvent {
  readonly name: 'dispatched' | 'result_returned' | 'scope_violation';
  readonly time_ms: number;
  readonly attributes?: Readonly<SpanAttributes>;
}

/** One layer at work. */
export interface ChildSpanRecord {
  /** `tool_call.<layer>`. */
  readonly name: string;
  readonly status: string;
  readonly started_at: string;
  readonly ended_at: string;
  readonly duration_ms: number;
  readonly attributes?: Readonly<SpanAttributes>;
}

/** The call was decided about before this pass over it. */
export interface ApprovalWaitRecord {
  readonly started_at: string;
  readonly ended_at: string;
  readonly duration_ms: number;
  readonly attributes: Readonly<SpanAttributes>;
}

/** What a host fixed for every record of a layer. */
export interface RecordSettings {
  readonly traceId: string | undefined;
  readonly parentSpanId: string | undefined;
  readonly attached: Readonly<SpanAttributes> | null;
  readonly captureContent: boolean;
}

/** Builds the record of a call that has ended. */
export function spanRecordOf(ended: EndedCall, settings: RecordSettings): SpanRecord {
  const { call, result, startMs, endMs, durationMs } = ended;
  return Object.freeze({
    name: `tool_call.${clip(call.toolName, MAX_NAME)}`,
    kind: 'tool_call',
    span_id: clip(call.callId, MAX_NAME),
    trace_id: settings.traceId ?? traceIdOf(call.turn.sessionId, call.callId),
    parent_span_id: settings.parentSpanId ?? null,
    start_time_ms: startMs,
    end_time_ms: endMs,
    start_time_iso: isoOf(startMs),
    end_time_iso: isoOf(endMs),
    duration_ms: durationMs,
    status: clip(result.status, MAX_NAME),
    attributes: Object.freeze(
      Object.assign(openingAttributes(call, settings.attached), closingAttributes(ended)),
    ),
    events: Object.freeze(eventsOf(ended)),
    child_spans: Object.freeze(ended.lines.map((line) => childOf(workOf(line, ended)))),
    ...(ended.wait === null ? {} : { approval_wait: waitOf(ended.wait) }),
    ...(settings.captureContent ? contentOf(ended) : {}),
  } as const);
}

const traceIdOf = (sessionId: string, callId: string): string =>
  clip(sessionId === '' ? `tool_call:${callId}` : sessionId, MAX_NAME);

const isoOf = (ms: number): string => new Date(ms).toISOString();

function eventsOf({ result, errorType, startMs, endMs }: EndedCall): readonly SpanRecordEvent[] {
  const events: SpanRecordEvent[] = [Object.freeze({ name: 'dispatched', time_ms: startMs })];
  events.push(Object.freeze({ name: 'result_returned', time_ms: endMs }));
  if (isScopeViolation(result)) {
    const attributes = Object.freeze({ 'error.type': errorType ?? result.status });
    events.push(Object.freeze({ name: 'scope_violation', time_ms: endMs, attributes }));
  }
  return events;
}

const childOf = ({ name, status, startMs, endMs, counts }: LayerWork): ChildSpanRecord =>
  Object.freeze({
    name: `tool_call.${name}`,
    status,
    started_at: isoOf(startMs),
    ended_at: isoOf(endMs),
    duration_ms: endMs - startMs,
    ...(Object.keys(counts).length === 0 ? {} : { attributes: Object.freeze(counts) }),
  });

const waitOf = (wait: HumanWait): ApprovalWaitRecord =>
  Object.freeze({
    started_at: isoOf(wait.startMs),
    ended_at: isoOf(wait.endMs),
    duration_ms: wait.endMs - wait.startMs,
    attributes: Object.freeze(waitAttributes(wait)),
  });
