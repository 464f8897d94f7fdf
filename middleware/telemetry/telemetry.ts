/** Tells observability systems about every call: spans, metrics and plain records. */

import {
  checkOptions,
  defineLayer,
  type Expectation,
  expected,
  type OrderRule,
  type ToolLayer,
} from '../../src/layer.ts';
import {
  createReporter,
  type TelemetryProblem,
  type TelemetrySink,
  type TelemetrySinkName,
} from '../../src/telemetry/index.ts';

export type { TelemetrySink, TelemetrySinkName };

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
  /**
   * On every span. At most 64, of text, numbers, true and false. They cannot replace what the layer
   * says itself.
   */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  /** Whether arguments, results and error texts go along. @default false */
  readonly captureContent?: boolean;
  /** How long one delivery may take, and `close` may wait, in milliseconds. @default 5000 */
  readonly timeoutMs?: number;
  /** Hears what went wrong. @default a warning of the process, once for each sink and kind */
  readonly onError?: (problem: TelemetryProblem) => void;
  /**
   * How many records may be on their way to one sink; more are dropped and counted. @default 1024
   */
  readonly maxPending?: number;
}

/**
 * Makes one span per call, with a child for every layer inside, and never changes or delays a
 * result: sinks are not waited for, and one that fails is reported to `onError`. Arguments, results
 * and error texts stay out of it unless `captureContent` is set. It does not start OpenTelemetry:
 * without an SDK the `otel` sink does nothing.
 */
export function telemetry(
  config: TelemetrySink | TelemetrySinkName | TelemetryOptions = {},
): ToolLayer {
  const options =
    typeof config === 'function' || typeof config === 'string' ? { sink: config } : config;
  checkOptions('telemetry', options, EXPECTED);
  const { traceId, parentSpanId, captureContent = false, onError } = options;
  const { project, environment, release } = options;
  const reporter = createReporter({
    sinks: sinksIn(options),
    attributes: { ...options.attributes, ...namedAttributes(options) },
    traceId,
    parentSpanId,
    project,
    environment,
    release,
    captureContent,
    timeoutMs: options.timeoutMs ?? 5000,
    maxPending: options.maxPending ?? 1024,
    onError,
  });
  return defineLayer({
    name: 'telemetry',
    observes: true,
    ...(captureContent ? { order: CAPTURING } : {}),
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

/** The sinks as listed, each name once. */
function sinksIn({
  sink,
  sinks,
}: TelemetryOptions): readonly (TelemetrySink | TelemetrySinkName)[] {
  if (sink === undefined && sinks === undefined) return ['otel'];
  return [...new Set([...(sink === undefined ? [] : [sink]), ...(sinks ?? [])])];
}

/** Options that become attributes under their own names. */
const NAMED = ['project', 'environment', 'release', 'persona', 'mode'] as const;

const namedAttributes = (options: TelemetryOptions): Readonly<Record<string, string>> =>
  Object.fromEntries(
    NAMED.flatMap((name) =>
      options[name] === undefined ? [] : [[`allium.${name}`, options[name]]],
    ),
  );

/** How many attributes a host may attach. */
const MAX_ATTRIBUTES = 64;
/** How long the name of one may be, in characters. */
const MAX_ATTRIBUTE_NAME = 128;

const SINKS: readonly unknown[] = ['otel', 'langfuse', 'stderr', 'noop'];

const sink: Expectation = {
  text: 'a function or one of "otel", "langfuse", "stderr", "noop"',
  test: (value) => typeof value === 'function' || SINKS.includes(value),
};

const isAttribute = ([name, value]: [string, unknown]): boolean =>
  name.length <= MAX_ATTRIBUTE_NAME &&
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
