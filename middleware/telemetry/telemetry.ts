/** Tells observability systems about every call: spans, metrics and plain records. */

import {
  checkOptions,
  defineLayer,
  must,
  type OrderRule,
  type ToolLayer,
} from '../../src/layer.ts';
import {
  createReporter,
  type TelemetrySink,
  type TelemetrySinkName,
} from '../../src/telemetry/index.ts';
import { OPTIONS, type TelemetryOptions } from './options.ts';

export type { TelemetryOptions, TelemetrySink, TelemetrySinkName };

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
  checkOptions('telemetry', options, OPTIONS);
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
  must.insideOf('redaction', 'outside it, captured arguments would leave as the model sent them'),
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
