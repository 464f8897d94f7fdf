/**
 * Build a span and hand it to the sink. What is naive: a sink that throws fails the call and keeps
 * the others from their record, nobody looks how many records are on their way, arguments and
 * errors always go along, and attributes of the host replace those of the layer.
 */

import {
  clockOf,
  defineLayer,
  hashCanonical,
  type JsonObject,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

type Sink = ((record: JsonObject) => unknown) | string;

interface Options {
  readonly sink?: Sink;
  readonly sinks?: readonly Sink[];
  readonly attributes?: JsonObject;
  readonly persona?: string;
  readonly traceId?: string;
  readonly parentSpanId?: string;
}

export function naiveTelemetry(given: Options | Sink = {}): ToolLayer {
  const options: Options =
    typeof given === 'function' || typeof given === 'string' ? { sink: given } : given;
  const sinks = [...(options.sink === undefined ? [] : [options.sink]), ...(options.sinks ?? [])];
  return defineLayer({
    name: 'telemetry',
    observes: true,
    async caller(call, next) {
      const startMs = clockOf(call).now();
      const result = await next(call);
      const record = recordOf(call, result, startMs, options);
      for (const sink of sinks) if (typeof sink === 'function') sink(record);
      return result;
    },
  });
}

function recordOf(
  call: ToolCall,
  result: ToolResult,
  startMs: number,
  options: Options,
): JsonObject {
  const endMs = clockOf(call).now();
  const { toolName, callId, turn, toolArgs } = call;
  const times = {
    start_time_ms: startMs,
    end_time_ms: endMs,
    start_time_iso: isoOf(startMs),
    end_time_iso: isoOf(endMs),
  };
  const events = [
    { name: 'dispatched', time_ms: startMs },
    { name: 'result_returned', time_ms: endMs },
  ];
  return {
    name: `tool_call.${toolName}`,
    kind: 'tool_call',
    span_id: callId,
    trace_id: options.traceId ?? turn.sessionId,
    parent_span_id: options.parentSpanId ?? null,
    ...times,
    duration_ms: endMs - startMs,
    status: result.status,
    events,
    attributes: attributesOf(call, result, options),
    child_spans: (result.audit?.layers ?? []).map(({ name, status }) => ({
      name: `tool_call.${name}`,
      status,
    })),
    arguments: toolArgs,
  };
}

function attributesOf(call: ToolCall, result: ToolResult, options: Options): JsonObject {
  const { toolName, callId, turn, toolArgs, declaredExecutor, description } = call;
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.id': callId,
    'gen_ai.conversation.id': turn.sessionId,
    'gen_ai.tool.description': description,
    'gen_ai.tool.type': 'function',
    'allium.iteration': turn.iteration,
    'allium.executor': declaredExecutor,
    'allium.status': result.status,
    'allium.ok': result.ok,
    'allium.executed': result.executed,
    'allium.args_hash': hashCanonical(toolArgs),
    ...(result.error === null ? {} : { error: result.error, 'error.type': result.errorCategory }),
    ...(options.persona === undefined ? {} : { 'allium.persona': options.persona }),
    ...options.attributes,
  };
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

export default createSubject({ name: 'naive telemetry', factories: { telemetry: naiveTelemetry } });

export const fails: readonly string[] = [
  'telemetry.a-call-without-a-session-has-a-trace',
  'telemetry.a-failing-sink-changes-nothing',
  'telemetry.a-hanging-sink-is-not-waited-for',
  'telemetry.attributes-replace-nothing',
  'telemetry.captured-content-is-redacted',
  'telemetry.captures-errors',
  'telemetry.captures-texts',
  'telemetry.consent-is-on-the-span',
  'telemetry.failures-have-a-type',
  'telemetry.five-seconds-by-default',
  'telemetry.layers-become-children',
  'telemetry.mcp-tools-are-extensions',
  'telemetry.must-not-capture-outside-redaction',
  'telemetry.nothing-said-is-on-a-span',
  'telemetry.one-record-per-call',
  'telemetry.refuses-wrong-options',
  'telemetry.says-where-it-comes-from',
  'telemetry.scope-violations-are-an-event',
  'telemetry.takes-the-time',
  'telemetry.too-many-on-their-way-are-dropped',
  'telemetry.whoever-is-told-may-fail-too',
];
