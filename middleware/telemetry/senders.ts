/** From the options of the layer to what takes spans away. */

import type { SpanAttributes } from './attributes.ts';
import { langfuseSender } from './langfuse-sink.ts';
import type { Sender } from './outlet.ts';
import { stderrSender } from './stderr-sink.ts';
import type { TelemetryOptions, TelemetrySink, TelemetrySinkName } from './telemetry.ts';
import { clip, MAX_TEXT } from './text.ts';

/** The sinks as listed, each name once. */
export function sinksOf({
  sink,
  sinks,
}: TelemetryOptions): readonly (TelemetrySink | TelemetrySinkName)[] {
  if (sink === undefined && sinks === undefined) return ['otel'];
  return [...new Set([...(sink === undefined ? [] : [sink]), ...(sinks ?? [])])];
}

/** The sinks that get records. `otel` makes its own spans, and `noop` gets nothing: not even a record is built for it. */
export function sendersOf(options: TelemetryOptions): readonly Sender[] {
  return sinksOf(options).flatMap((sink, index): readonly Sender[] => {
    if (typeof sink === 'function')
      return [
        { name: `sink ${index + 1}`, maxBatch: 1, send: ([record]) => record && sink(record) },
      ];
    if (sink === 'stderr') return [stderrSender()];
    if (sink === 'langfuse') return [langfuseSender(options, process.env)];
    return [];
  });
}

const NAMED = ['project', 'environment', 'release', 'persona', 'mode'] as const;

/** What the host wants on every span; `null` for nothing. */
export function attachedAttributes(options: TelemetryOptions): Readonly<SpanAttributes> | null {
  const named = NAMED.flatMap((name) =>
    options[name] === undefined ? [] : [[`allium.${name}`, options[name]] as const],
  );
  const all = [...Object.entries(options.attributes ?? {}), ...named];
  if (all.length === 0) return null;
  return Object.freeze(
    Object.fromEntries(
      all.map(([name, value]) => [name, typeof value === 'string' ? clip(value, MAX_TEXT) : value]),
    ),
  );
}
