/** Tells observability systems about every call: spans, metrics and plain records. */

import {
  checkOptions,
  defineLayer,
  type Expectation,
  expected,
  type OrderRule,
  type ToolLayer,
} from '../../src/index.ts';
import type { TelemetryProblem } from './problem.ts';
import { createReporter } from './reporter.ts';
import type { SpanRecord } from './span-record.ts';
import { MAX_ATTRIBUTES, MAX_NAME } from './text.ts';

/** Takes one record per call. What it returns is watched for its failure, never waited for by a call. */
export type TelemetrySink = (record: SpanRecord) => unknown;

/** The sinks that come with the layer. */
export type TelemetrySinkName = 'otel' | 'langfuse' | 'stderr' | 'noop';

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
  /** On every span. At most 64, of text, numbers, true and false. They cannot replace what the layer says itself. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  /** Whether arguments, results and error texts go along. @default false */
  readonly captureContent?: boolean;
  /** How long one delivery may take, and `close` may wait, in milliseconds. @default 5000 */
  readonly timeoutMs?: number;
  /** Hears what went wrong. @default a warning of the process, once for each sink and kind */
  readonly onError?: (problem: TelemetryProblem) => void;
  /** How many records may be on their way to one sink; more are dropped and counted. @default 1024 */
  readonly maxPending?: number;
}

/**
 * Makes one span per call, with a child for every layer inside, and never changes or delays a result: sinks are not waited
 * for, and one that fails is reported to `onError`. Arguments, results and error texts stay out of it unless
 * `captureContent` is set. It does not start OpenTelemetry: without an SDK the `otel` sink does nothing.
 */
export function telemetry(
  config: TelemetrySink | TelemetrySinkName | TelemetryOptions = {},
): ToolLayer {
  const options =
    typeof config === 'function' || typeof config === 'string' ? { sink: config } : config;
  checkOptions('telemetry', options, EXPECTED);
  const reporter = createReporter(options);
  return defineLayer({
    name: 'telemetry',
    observes: true,
    ...(options.captureContent === true ? { order: CAPTURING } : {}),
    caller: reporter.watch,
    close: reporter.close,
  });
}

const CAPTURING: readonly OrderRule[] = [
  {
    insideOf: 'redaction',
    level: 'must',
    because: 'outside it, captured arguments would leave as the model sent them',
  },
];

const SINKS: readonly unknown[] = ['otel', 'langfuse', 'stderr', 'noop'];

const sink: Expectation = {
  text: 'a function or one of "otel", "langfuse", "stderr", "noop"',
  test: (value) => typeof value === 'function' || SINKS.includes(value),
};

const isAttribute = ([name, value]: [string, unknown]): boolean =>
  name.length <= MAX_NAME &&
  (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value));

const attributes: Expectation = {
  text: `an object of at most ${MAX_ATTRIBUTES} texts, numbers, true and false`,
  test: (value) =>
    expected.object.test(value) &&
    Object.keys(value as object).length <= MAX_ATTRIBUTES &&
    Object.entries(value as object).every(isAttribute),
};

const EXPECTED: Readonly<Record<keyof TelemetryOptions, Expectation>> = {
  sink,
  sinks: expected.listOf(sink),
  project: expected.string,
  environment: expected.string,
  release: expected.string,
  persona: expected.string,
  mode: expected.string,
  parentSpanId: expected.string,
  traceId: expected.string,
  attributes,
  captureContent: expected.boolean,
  timeoutMs: expected.integer(1),
  onError: expected.function,
  maxPending: expected.integer(1),
};
