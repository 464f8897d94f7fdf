/** Span records as JSON lines on standard error. */

import type { EventEmitter } from 'node:events';
import type { Sender } from './outlet.ts';
import type { SpanRecord } from './span-record.ts';

/**
 * pino is loaded with the first record, so that stacks without this sink never pay for it. Writes without blocking, and counts
 * a record as delivered once the system has taken it: a reader that has stopped fills the outlet, not the memory.
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
    // Not `flush`: it calls back before anything is written, or else syncs, which fails on a terminal and on a pipe.
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
