/**
 * What tools and layers log during a call, on standard error: lines for people at a terminal, JSON
 * anywhere else.
 */

import { isObject } from '../core/json/json.ts';
import { defaultLogger } from '../dispatch/logger.ts';
import type { Logger } from '../tools/tool.ts';
import { colourFor, paint } from './io/colour.ts';
import type { LogFlags } from './io/flags.ts';
import type { CliIo } from './io/io.ts';
import { safeText } from './io/text-table.ts';

type Level = keyof Logger;

/** Nothing that is logged acts upon the terminal. JSON lines are those of the default logger. */
export function loggerFor(
  { stderr, env }: Pick<CliIo, 'stderr' | 'env'>,
  { verbose = false, logFormat }: LogFlags,
): Logger {
  const format = logFormat ?? (stderr.isTTY === true ? 'text' : 'json');
  if (format === 'json') return defaultLogger(verbose ? 'debug' : 'warn');
  const colour = colourFor(stderr, env);
  const log = (level: Level) => (fields: object, message: string) => {
    const [first = '', ...rest] = linesOf(fields, message);
    stderr.write(
      [
        `${paint(colour, 'bold', level.padEnd(5))} ${first}`,
        ...rest.map((line) => `      ${line}`),
        '',
      ].join('\n'),
    );
  };
  const nothing = (): void => {};
  return Object.freeze({
    debug: verbose ? log('debug') : nothing,
    info: verbose ? log('info') : nothing,
    warn: log('warn'),
    error: log('error'),
  });
}

/**
 * The tool and the text, then the traceback of a script, or the stack of a layer that threw. Other
 * fields are for machines.
 */
function linesOf(fields: object, message: string): readonly string[] {
  // Any object has unknown members.
  const { tool, toolName = tool, traceback, stack } = fields as Readonly<Record<string, unknown>>;
  const first = typeof toolName === 'string' ? `${toolName}: ${message}` : message;
  const places: readonly unknown[] = [traceback, stack].flat();
  return [first, ...places.map(placeText)].flatMap((text) =>
    text === '' ? [] : text.trimEnd().split('\n').map(safeText),
  );
}

/** A line of a stack, or where a call of a script stood. */
function placeText(place: unknown): string {
  if (!isObject(place)) return typeof place === 'string' ? place : '';
  const { name, file, line, column } = place;
  return `at ${[file, line, column].filter((part) => typeof part === 'string' || typeof part === 'number').join(':')} in ${String(name)}`;
}
