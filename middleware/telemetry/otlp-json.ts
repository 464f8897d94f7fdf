/** Span records as OTLP/JSON, for receivers that speak OpenTelemetry over HTTP. */

import { createHash } from 'node:crypto';
import { EXECUTE_TOOL, type SpanAttributes, TOOL_NAME } from './attributes.ts';
import { contentAttributes } from './content.ts';
import { WAIT_SPAN } from './human-wait.ts';
import type { ApprovalWaitRecord, ChildSpanRecord, SpanRecord } from './span-record.ts';

interface KeyValue {
  readonly key: string;
  readonly value: object;
}

/** The body of an export request. `extra` adds what a receiver wants besides. */
export function otlpTraces(
  batch: readonly SpanRecord[],
  serviceName: string,
  extra: (record: SpanRecord) => SpanAttributes,
): object {
  const spans = batch.flatMap((record) => spansOf(record, extra(record)));
  const resource = { attributes: keyValues({ 'service.name': serviceName }) };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'allium' }, spans }] }] };
}

function spansOf(record: SpanRecord, extra: SpanAttributes): readonly object[] {
  const traceId = traceIdOf(record.trace_id);
  const own = [record.trace_id, record.span_id, record.start_time_ms];
  const spanId = hexId(own, 16);
  const { arguments: args, result } = record;
  const content =
    args === undefined
      ? {}
      : contentAttributes(result === undefined ? { arguments: args } : { arguments: args, result });
  const failure = record.attributes['error.type'];
  const span = {
    traceId,
    spanId,
    ...(record.parent_span_id !== null && isHexId(record.parent_span_id, 16)
      ? { parentSpanId: record.parent_span_id }
      : {}),
    name: `${EXECUTE_TOOL} ${String(record.attributes[TOOL_NAME])}`,
    kind: INTERNAL,
    startTimeUnixNano: nanos(record.start_time_ms),
    endTimeUnixNano: nanos(record.end_time_ms),
    attributes: keyValues({ ...record.attributes, ...content, ...extra }),
    events: record.events.map(({ name, time_ms, attributes = {} }) => ({
      name,
      timeUnixNano: nanos(time_ms),
      attributes: keyValues(attributes),
    })),
    status: failure === undefined ? {} : { code: ERROR, message: String(failure) },
  };
  const wait =
    record.approval_wait === undefined
      ? []
      : [waitOf(record.approval_wait, traceId, spanId, hexId([...own, 'wait'], 16))];
  return [
    span,
    ...wait,
    ...record.child_spans.map((child, index) =>
      childOf(child, traceId, spanId, hexId([...own, index], 16)),
    ),
  ];
}

const INTERNAL = 1;
const ERROR = 2;

function childOf(
  child: ChildSpanRecord,
  traceId: string,
  parentSpanId: string,
  spanId: string,
): object {
  const name = child.name.slice('tool_call.'.length);
  const counts = Object.entries(child.attributes ?? {}).map(
    ([key, value]): [string, string | number | boolean] => [`allium.layer.${key}`, value],
  );
  return {
    traceId,
    spanId,
    parentSpanId,
    name: `layer ${name}`,
    kind: INTERNAL,
    startTimeUnixNano: nanos(Date.parse(child.started_at)),
    endTimeUnixNano: nanos(Date.parse(child.ended_at)),
    attributes: keyValues({
      'allium.layer.name': name,
      'allium.layer.status': child.status,
      ...Object.fromEntries(counts),
    }),
  };
}

const waitOf = (
  wait: ApprovalWaitRecord,
  traceId: string,
  parentSpanId: string,
  spanId: string,
): object => ({
  ...{ traceId, spanId, parentSpanId, name: WAIT_SPAN, kind: INTERNAL },
  startTimeUnixNano: nanos(Date.parse(wait.started_at)),
  endTimeUnixNano: nanos(Date.parse(wait.ended_at)),
  attributes: keyValues(wait.attributes),
});

function keyValues(attributes: Readonly<SpanAttributes>): readonly KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Nanoseconds since 1970 do not fit a number: whole milliseconds and the rest are counted apart. */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000)));
}

/** A trace id as it is, where it is one; otherwise one made from it, the same for every record of a session. */
const traceIdOf = (id: string): string => (isHexId(id, 32) ? id : hexId([id], 32));

const isHexId = (id: string, length: number): boolean =>
  id.length === length && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id);

const hexId = (parts: readonly (string | number)[], length: number): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, length);
