/**
 * What a stack written by hand needs besides itself: hashes, the scan, spans and receipts, made
 * with what allium makes them with. For the stacks of LangChain middleware.
 */

import {
  type Context,
  context,
  type HrTime,
  type Span,
  SpanKind,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { hashCanonical, type JsonObject, type JsonValue } from 'allium';
import { canonicalHasher } from 'allium/layer';
import type { Receipt, ReceiptFields } from 'allium/receipts';
import { compileRules, textCleaner } from 'allium/redaction';
import { DESCRIPTION, KEY, SCHEMA, SESSION, TOOL } from './stack-scenario.ts';

export const hashed: (value: JsonValue) => string = canonicalHasher({ key: KEY });

/** What an approval of a call is bound to. */
export const fingerprintOf = (args: JsonObject, callId: string): string =>
  hashed({ toolName: TOOL, args, callId, sessionId: SESSION, definition: DEFINITION });

const DEFINITION = hashCanonical({ schema: SCHEMA, description: DESCRIPTION });

/** A layer's line, as it is in memory. */
export interface Line {
  readonly [detail: string]: JsonValue;
  readonly name: string;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string;
}

/** A line with its details in front, where there are any, as the framework writes it. */
export function lineOf(
  name: string,
  status: string,
  startedMs: number,
  endedMs: number,
  details?: JsonObject,
): Line {
  const [startedAt, endedAt] = [isoTime(startedMs), isoTime(endedMs)];
  return details === undefined
    ? { name, status, startedAt, endedAt }
    : { status, ...details, name, startedAt, endedAt };
}

const newest = { ms: Number.NaN, iso: '' };
const older = { ms: Number.NaN, iso: '' };

/**
 * Formatting costs more than ten clock reads, and the lines of one call share a few milliseconds.
 */
export function isoTime(ms: number): string {
  if (ms === newest.ms) return newest.iso;
  if (ms === older.ms) return older.iso;
  older.ms = newest.ms;
  older.iso = newest.iso;
  newest.ms = ms;
  newest.iso = new Date(ms).toISOString();
  return newest.iso;
}

/** The scan of the redaction layer, for one text. */
export const cleanText: (text: string) => string = textCleaner(
  compileRules({ detectors: ['secrets'], strategies: {}, paths: [], patterns: [] }),
);

/** The same for a value, by its text. */
export function cleanValue<T extends JsonValue>(value: T): T {
  const text = JSON.stringify(value);
  const clean = cleanText(text);
  return clean === text ? value : (JSON.parse(clean) as T); // A cleaned text has the same form.
}

export interface OpenSpan {
  readonly tracer: Tracer;
  readonly span: Span;
  readonly own: Context;
  readonly startMs: number;
  readonly startTick: number;
}

const hrTime = (ms: number): HrTime => {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.trunc((ms - seconds * 1000) * 1_000_000)];
};

/** The span of a call, begun. */
export function openSpan(callId: string): OpenSpan {
  const [startMs, startTick] = [Date.now(), performance.now()];
  const tracer = trace.getTracer('allium');
  const parent = context.active();
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': TOOL,
    'gen_ai.tool.call.id': callId,
    'gen_ai.conversation.id': SESSION,
    'allium.iteration': 3,
    'gen_ai.tool.description': DESCRIPTION,
    'gen_ai.tool.type': 'function',
    'allium.executor': 'local',
  };
  const span = tracer.startSpan(
    `execute_tool ${TOOL}`,
    { kind: SpanKind.INTERNAL, attributes, startTime: hrTime(startMs) },
    parent,
  );
  return { tracer, span, own: trace.setSpan(parent, span), startMs, startTick };
}

/** Ends the span, with a child for every layer inside. */
export function endSpan(
  { tracer, span, own, startMs, startTick }: OpenSpan,
  argsHash: string,
  lines: readonly Line[],
): void {
  const endMs = Math.max(Date.now(), startMs + performance.now() - startTick);
  span.setAttributes({
    'allium.status': 'ok',
    'allium.ok': true,
    'allium.executed': 'yes',
    'allium.args_hash': argsHash,
    'allium.consent.decision': 'auto',
  });
  span.addEvent('dispatched', undefined, hrTime(startMs));
  span.addEvent('result_returned', undefined, hrTime(endMs));
  for (const { name, status, startedAt, endedAt, count, cap } of lines) {
    const attributes = {
      'allium.layer.name': name,
      'allium.layer.status': status,
      ...(count === undefined
        ? {}
        : { 'allium.layer.count': Number(count), 'allium.layer.cap': Number(cap) }),
    };
    const startTime = hrTime(Date.parse(startedAt));
    tracer
      .startSpan(`layer ${name}`, { kind: SpanKind.INTERNAL, attributes, startTime }, own)
      .end(hrTime(Date.parse(endedAt)));
  }
  span.end(hrTime(endMs));
}

/** What the layers said, as far as it is not the same for every call. */
export interface Said {
  readonly layers: readonly Line[];
  readonly summary: string;
  readonly reason: string;
  readonly consent: {
    readonly decision: string;
    readonly decidedBy: string;
    readonly decidedAt: string;
  };
}

/** What a receipt is made of. */
interface ReceiptParts {
  readonly callId: string;
  readonly requestedHash: string;
  readonly executedHash: string;
  readonly resultHash: string;
  readonly durationMs: number;
  readonly said: Said;
}

const HINTS: JsonObject = {
  read_only: true,
  destructive: false,
  idempotent: false,
  open_world: true,
};

/** The receipt in the form in which it is written, put together member by member. */
export function receiptOf(parts: ReceiptParts, uri: string): Receipt {
  const { layers, summary, reason, consent } = parts.said;
  return {
    ...fieldsOf(parts),
    audit: {
      kind: 'search',
      hints: HINTS,
      layers: layers.map(wireLine),
      rewrites: [{ layer: 'requiredReason', paths: ['reason'] }],
      summary,
      reason,
      consent: {
        decision: consent.decision,
        decided_by: consent.decidedBy,
        decided_at: consent.decidedAt,
      },
      receipt_uri: uri,
    },
    emitted_at: isoTime(Date.now()),
  };
}

/** What comes before the record. */
const fieldsOf = ({
  callId,
  requestedHash,
  executedHash,
  resultHash,
  durationMs,
  said,
}: ReceiptParts): ReceiptFields => ({
  schema_version: 1,
  record: 'receipt',
  session_id: SESSION,
  run_id: 'run-1',
  tool_call_id: callId,
  tool_name: TOOL,
  iteration: 3,
  turn_index: 2,
  emit_order: 0,
  reason: said.reason,
  kind: 'search',
  executor: 'local',
  status: 'ok',
  error_category: null,
  executed: 'yes',
  blocked_by: null,
  duration_ms: Math.round(durationMs * 1000) / 1000,
  requested_hash: requestedHash,
  approved_hash: requestedHash,
  executed_hash: executedHash,
  args_hash: requestedHash,
  result_hash: resultHash,
  model: 'model-1',
  provider: 'provider-1',
});

function wireLine({ name, status, startedAt, endedAt, decidedBy, ...details }: Line): JsonObject {
  const times = { started_at: startedAt, ended_at: endedAt };
  if (decidedBy !== undefined) return { status, decided_by: decidedBy, name, ...times };
  return Object.keys(details).length === 0
    ? { name, status, ...times }
    : { status, ...details, name, ...times };
}
