/**
 * Spans of the proxy by the conventions for MCP: one for the request it serves, one for each that
 * it makes.
 */

import {
  type Attributes,
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import type { JsonObject } from '../../core/json/json-value.ts';
import { oneLine } from '../../core/contract/errors.ts';
import { METHODS, objectAt, type RequestId } from '../wire.ts';

/** What is known of a request. */
export interface SpanFacts {
  readonly toolName: string;
  readonly request: RequestId | null;
  readonly meta: JsonObject;
  readonly transport: 'pipe' | 'tcp';
  readonly protocol: string | null;
  readonly sessionId: string;
}

/** How a request ended, for a span. */
export interface SpanEnd {
  readonly isError?: boolean;
  readonly code?: number;
}

export interface ProxySpans {
  /** Without a tracer provider no span is made, and there is nothing to put around work. */
  areMade(): boolean;
  /** Around what the proxy does for a client's call. */
  server<T>(facts: SpanFacts, work: () => Promise<T>, endOf: (value: T) => SpanEnd): Promise<T>;
  /** Around what it asks of the server. The request carries the span in its `_meta`. */
  client<T>(
    facts: SpanFacts,
    work: (meta: JsonObject) => Promise<T>,
    endOf: (value: T) => SpanEnd,
  ): Promise<T>;
}

const KEYS = ['traceparent', 'tracestate', 'baggage'];

export function proxySpans(): ProxySpans {
  return {
    areMade: isTraced,
    server(facts, work, endOf) {
      const carrier = Object.fromEntries(
        KEYS.flatMap((key) =>
          typeof facts.meta[key] === 'string' ? [[key, facts.meta[key]]] : [],
        ),
      );
      const parent = propagation.extract(context.active(), carrier, defaultTextMapGetter);
      const span = tracer().startSpan(
        nameOf(facts),
        { kind: SpanKind.SERVER, attributes: attributesOf(facts) },
        parent,
      );
      return context.with(trace.setSpan(parent, span), () => ended(span, work, endOf));
    },
    client(facts, work, endOf) {
      const span = tracer().startSpan(nameOf(facts), {
        kind: SpanKind.CLIENT,
        attributes: attributesOf(facts),
      });
      const own = trace.setSpan(context.active(), span);
      const carrier: Record<string, string> = {};
      propagation.inject(own, carrier, defaultTextMapSetter);
      const { traceparent: _parent, tracestate: _state, baggage: _baggage, ...meta } = facts.meta;
      return context.with(own, () => ended(span, () => work({ ...meta, ...carrier }), endOf));
    },
  };
}

const tracer = (): Tracer => trace.getTracer('allium');

/** Before a provider is registered, spans are recorded nowhere. */
function isTraced(): boolean {
  const provider: TracerProvider & { getDelegateTracer?(name: string): unknown } =
    trace.getTracerProvider();
  return (
    provider.getDelegateTracer === undefined || provider.getDelegateTracer('allium') !== undefined
  );
}

const nameOf = ({ toolName }: SpanFacts): string => `tools/call ${oneLine(toolName)}`;

function attributesOf({
  toolName,
  request,
  transport,
  protocol,
  sessionId,
}: SpanFacts): Attributes {
  return {
    'mcp.method.name': METHODS.callTool,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': oneLine(toolName),
    'network.transport': transport,
    'mcp.session.id': sessionId,
    ...(request === null ? {} : { 'jsonrpc.request.id': String(request) }),
    ...(protocol === null ? {} : { 'mcp.protocol.version': protocol }),
  };
}

async function ended<T>(
  span: Span,
  work: () => Promise<T>,
  endOf: (value: T) => SpanEnd,
): Promise<T> {
  try {
    const value = await work();
    const { isError = false, code } = endOf(value);
    if (code !== undefined)
      span.setAttributes({ 'rpc.response.status_code': String(code), 'error.type': String(code) });
    else if (isError) span.setAttribute('error.type', 'tool_error');
    if (code !== undefined || isError) span.setStatus({ code: SpanStatusCode.ERROR });
    return value;
  } catch (thrown) {
    // The message of the thrown error may quote the call's contents.
    span.setAttribute('error.type', '_OTHER').setStatus({ code: SpanStatusCode.ERROR });
    throw thrown;
  } finally {
    span.end();
  }
}

/** How an answer is told in a span. */
export function endOfAnswer(answer: JsonObject): SpanEnd {
  const { code } = objectAt(answer, 'error');
  return typeof code === 'number'
    ? { code }
    : { isError: objectAt(answer, 'result').isError === true };
}
