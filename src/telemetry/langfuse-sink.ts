/** Span records to Langfuse, over its OpenTelemetry endpoint, as OTLP/JSON. */

import { createHash } from 'node:crypto';
import { contentAttributes } from './content.ts';
import { EXECUTE_TOOL, type SpanAttributes, TOOL_NAME, WAIT_SPAN } from './ended-call.ts';
import type { Sender } from './outlet.ts';
import { sendFailure } from './problem.ts';
import type { ApprovalWaitRecord, ChildSpanRecord, SpanRecord } from './span-record.ts';

/**
 * Where Langfuse is and who may write to it: `LANGFUSE_BASE_URL`, `LANGFUSE_PUBLIC_KEY`,
 * `LANGFUSE_SECRET_KEY`.
 */
export type LangfuseEnvironment = Readonly<Record<string, string | undefined>>;

/** What Langfuse has places of its own for. */
export interface LangfuseSettings {
  /** Names the service. */
  readonly project?: string | undefined;
  readonly environment?: string | undefined;
  readonly release?: string | undefined;
}

const PATH = 'api/public/otel/v1/traces';

/**
 * Posts records with Basic authentication, up to 64 in a request. A failed request is not repeated.
 * Without credentials every record is dropped. Neither an address nor a key is ever told: a failed
 * `fetch` quotes the one it was given.
 */
export function langfuseSender(settings: LangfuseSettings, env: LangfuseEnvironment): Sender {
  const url = endpointOf(env.LANGFUSE_BASE_URL ?? '');
  const { LANGFUSE_PUBLIC_KEY: publicKey = '', LANGFUSE_SECRET_KEY: secretKey = '' } = env;
  const authorization = `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`;
  const isReady = url !== null && publicKey !== '' && secretKey !== '';
  return {
    name: 'langfuse',
    maxBatch: 64,
    send(batch, signal) {
      if (!isReady) throw UNCONFIGURED;
      const body = JSON.stringify(
        otlpTraces(batch, settings.project ?? 'allium', (record) => extrasOf(record, settings)),
      );
      return post(url, authorization, body, signal);
    },
  };
}

const UNCONFIGURED = sendFailure(
  'unconfigured',
  'set LANGFUSE_BASE_URL (http or https, without a user), LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY',
);

function endpointOf(base: string): URL | null {
  try {
    const url = new URL(PATH, base.endsWith('/') ? base : `${base}/`);
    return /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
      ? url
      : null;
  } catch {
    return null;
  }
}

async function post(
  url: URL,
  authorization: string,
  body: string,
  signal: AbortSignal | null,
): Promise<void> {
  const headers = { authorization, 'content-type': 'application/json' };
  // A redirect would take the credentials somewhere else.
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal,
    redirect: 'error',
  }).catch(() => null);
  if (response === null) throw sendFailure('failed', 'Langfuse could not be reached');
  await response.body?.cancel().catch(() => {});
  if (!response.ok) throw sendFailure('failed', `Langfuse answered with status ${response.status}`);
}

/** What makes the span a tool call of a session in Langfuse's own terms. */
function extrasOf(
  { attributes }: SpanRecord,
  { environment, release }: LangfuseSettings,
): SpanAttributes {
  const failure = attributes['error.type'];
  return {
    'langfuse.observation.type': 'tool',
    'langfuse.observation.level': failure === undefined ? 'DEFAULT' : 'ERROR',
    ...(failure === undefined ? {} : { 'langfuse.observation.status_message': failure }),
    ...(attributes['gen_ai.conversation.id'] === undefined
      ? {}
      : { 'session.id': attributes['gen_ai.conversation.id'] }),
    ...(environment === undefined ? {} : { 'langfuse.environment': environment }),
    ...(release === undefined ? {} : { 'langfuse.release': release }),
  };
}

interface KeyValue {
  readonly key: string;
  readonly value: object;
}

/** The body of an OTLP/JSON export request. `extra` adds what a receiver wants besides. */
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

/**
 * Nanoseconds since 1970 do not fit a number: whole milliseconds and the rest are counted apart.
 */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000)));
}

/**
 * A trace id as it is, where it is one; otherwise one made from it, the same for every record of a
 * session.
 */
const traceIdOf = (id: string): string => (isHexId(id, 32) ? id : hexId([id], 32));

const isHexId = (id: string, length: number): boolean =>
  id.length === length && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id);

const hexId = (parts: readonly (string | number)[], length: number): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, length);
