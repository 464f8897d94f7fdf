/** The sinks that take span records: functions of the host, standard error, Langfuse. */

import type { EventEmitter } from 'node:events';
import { type LangfuseSettings, langfuseSender } from './langfuse-sink.ts';
import type { Sender } from './outlet.ts';
import type { SpanRecord } from './span-record.ts';

/**
 * Takes one record per call. What it returns is watched for its failure, never waited for by a
 * call.
 */
export type TelemetrySink = (record: SpanRecord) => unknown;

/** The sinks that come with the package. */
export type TelemetrySinkName = 'otel' | 'langfuse' | 'stderr' | 'noop';

/** Which sinks, in the order in which problems count them. */
export interface SenderSettings extends LangfuseSettings {
  readonly sinks: readonly (TelemetrySink | TelemetrySinkName)[];
}

/**
 * The sinks that get records. `otel` makes its own spans, and `noop` gets nothing: not even a
 * record is built for it.
 */
export function createSenders(settings: SenderSettings): readonly Sender[] {
  return settings.sinks.flatMap((sink, index): readonly Sender[] => {
    if (typeof sink === 'function')
      return [
        { name: `sink ${index + 1}`, maxBatch: 1, send: ([record]) => record && sink(record) },
      ];
    if (sink === 'stderr') return [stderrSender()];
    if (sink === 'langfuse') return [langfuseSender(settings, process.env)];
    return [];
  });
}

/**
 * Span records as JSON lines on standard error. pino is loaded with the first record, so that
 * stacks without this sink never pay for it. Writes without blocking, and counts a record as
 * delivered once the system has taken it: a reader that has stopped fills the outlet, not the
 * memory.
 */
export function stderrSender(descriptor = 2): Sender {
  let loading: Promise<(batch: readonly SpanRecord[]) => Promise<void>> | undefined;
  return {
    name: 'stderr',
    maxBatch: 64,
    send: async (batch) => (await (loading ??= openWriter(descriptor)))(batch),
  };
}

async function openWriter(
  descriptor: number,
): Promise<(batch: readonly SpanRecord[]) => Promise<void>> {
  const { pino } = await import('pino');
  const target = pino.destination({ dest: descriptor, sync: false });
  // A closed pipe is reported as an event, and one that nobody hears would end the process.
  target.on('error', () => {});
  const logger = pino({ name: 'allium' }, target);
  return (batch) => {
    // Not `flush`: it calls back before anything is written, or else syncs, which fails on a
    // terminal and on a pipe.
    const written = drained(target);
    for (const record of batch) logger.info({ span: record }, record.name);
    return written;
  };
}

function drained(target: EventEmitter): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown): void => {
      target.off('drain', settle).off('error', settle);
      if (error === undefined) resolve();
      else reject(error);
    };
    target.on('drain', settle).on('error', settle);
  });
}
