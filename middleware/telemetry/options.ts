/** The options of `telemetry`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';
import type {
  TelemetryProblem,
  TelemetrySink,
  TelemetrySinkName,
} from '../../src/telemetry/index.ts';

export interface TelemetryOptions {
  /** Where the spans go. @default 'otel', unless `sinks` is given */
  readonly sink?: TelemetrySink | TelemetrySinkName;
  /** More places, each guarded by itself. An empty list is none. */
  readonly sinks?: readonly (TelemetrySink | TelemetrySinkName)[];
  /** On every span, as `allium.project`; names the service in Langfuse. */
  readonly project?: string;
  /** On every span, as `allium.environment`. */
  readonly environment?: string;
  /** On every span, as `allium.release`. */
  readonly release?: string;
  /** On every span, as `allium.persona`. */
  readonly persona?: string;
  /** On every span, as `allium.mode`. */
  readonly mode?: string;
  /** The span that all calls belong under; together with `traceId` it replaces the active one. */
  readonly parentSpanId?: string;
  /** The trace that all calls belong to. @default the active trace; in plain records the session */
  readonly traceId?: string;
  /** On every span, at most 64; they replace nothing the layer says itself. @default none */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  /** Whether arguments, results and error texts go along. @default false */
  readonly captureContent?: boolean;
  /** How long one delivery may take, and `close` may wait, in milliseconds. @default 5000 */
  readonly timeoutMs?: number;
  /** Hears what went wrong. @default a warning of the process, once for each sink and kind */
  readonly onError?: (problem: TelemetryProblem) => void;
  /** How many records may be on their way to one sink; more are dropped. @default 1024 */
  readonly maxPending?: number;
}

const { boolean, either, integer, listOf, oneOf, string } = expected;

const SINK = {
  ...either(
    'a function, "otel", "langfuse", "stderr" or "noop"',
    oneOf('otel', 'langfuse', 'stderr', 'noop'),
    expected.function,
  ),
  text: 'a function or one of "otel", "langfuse", "stderr", "noop"',
};

/** How many attributes a host may attach. */
const MAX_ATTRIBUTES = 64;
/** How long the name of one may be, in characters. */
const MAX_ATTRIBUTE_NAME = 128;

const isAttribute = ([name, value]: [string, unknown]): boolean =>
  name.length <= MAX_ATTRIBUTE_NAME &&
  (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value));

const ATTRIBUTES = {
  text: `an object of at most ${MAX_ATTRIBUTES} texts, numbers, true and false`,
  test: (value: unknown) =>
    expected.object.test(value) &&
    Object.keys(value as object).length <= MAX_ATTRIBUTES &&
    Object.entries(value as object).every(isAttribute),
  schema: {
    type: 'object',
    additionalProperties: {
      anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
      title: 'a text, a number, true or false',
    },
    title: 'an object',
  },
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<TelemetryOptions> = {
  sink: option(SINK, 'a function or one of the names above; it may also stand in place of the options', "`'otel'`, unless `sinks` is given"),
  sinks: option(listOf(SINK), 'more of them, each guarded by itself; an empty list is none', 'none'),
  project: option(string, 'on every span as `allium.project`; the service in Langfuse', 'none'),
  environment: option(string, 'on every span as `allium.environment`', 'none'),
  release: option(string, 'on every span as `allium.release`', 'none'),
  persona: option(string, 'on every span as `allium.persona`', 'none'),
  mode: option(string, 'on every span as `allium.mode`', 'none'),
  parentSpanId: option(string, 'the span all calls belong under, except those that are taken up again; OpenTelemetry takes it together with a `traceId`, both in hexadecimal', 'the active span, or else `metadata.traceparent` of the call'),
  traceId: option(string, 'the trace all calls belong to', 'the active trace; in records the session'),
  attributes: option(ATTRIBUTES, 'on every span: at most 64 texts, numbers, `true` and `false`; they replace nothing the layer says itself', 'none'),
  captureContent: option(boolean, 'whether arguments, results and error texts go along', '`false`'),
  timeoutMs: option(integer(1), 'how long one delivery may take, and `close` may wait', '5000'),
  onError: option(expected.function, 'hears of every problem: `{ sink, kind, message, counts }`', 'a warning of the process, once for each sink and kind'),
  maxPending: option(integer(1), 'how many records may be on their way to one sink', '1024'),
};
