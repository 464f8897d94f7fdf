/** The logging port's default: pino on standard error, loaded when there is something to say. */

import type { Logger } from '../tools/tool.ts';

type Level = keyof Logger;

/**
 * Logs JSON lines from a level on. Loading waits for the first line, so that quiet programs never
 * pay for it.
 */
export function defaultLogger(lowest: Level = 'warn'): Logger {
  let loading: Promise<Logger> | undefined;
  const log = (level: Level) => (fields: object, message: string) => {
    loading ??= import('pino').then(({ pino }) =>
      pino({ name: 'allium', level: lowest }, pino.destination(2)),
    );
    // A logger that cannot be loaded must not break a call.
    loading.then((logger) => logger[level](fields, message)).catch(() => {});
  };
  return Object.freeze({
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
  });
}
