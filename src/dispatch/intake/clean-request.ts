/**
 * What a model made up goes through the scrubs of the stack before anything repeats it: names of
 * tools, ids of calls, lines for the log.
 */

import { createHmac, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import type { Scrub, ToolLayer } from '../../core/contract/layer.ts';
import { scrub, scrubText } from '../../core/onion/audit.ts';
import type { Logger, ToolRequest } from '../../tools/tool.ts';

const scrubsOf = (layers: readonly ToolLayer[]): readonly Scrub[] =>
  layers.flatMap((layer) => layer.scrub ?? []);

/**
 * Cleans a request. The name of a tool that exists was chosen by the host and stays; a name that no
 * tool has comes from the model. An id that held something is made distinct again by a keyed
 * digest, because two calls must not become one.
 */
export function requestCleaner(
  layers: readonly ToolLayer[],
  isTool: (name: string) => boolean,
): (request: ToolRequest) => ToolRequest {
  const scrubs = scrubsOf(layers);
  if (scrubs.length === 0) return (request) => request;
  const key = randomBytes(32);
  const digest = (id: string) => createHmac('sha256', key).update(id).digest('hex').slice(0, 12);
  return (request) => {
    const name = isTool(request.name) ? request.name : scrubText(request.name, scrubs);
    const id = request.id === undefined ? undefined : scrubText(request.id, scrubs);
    if (name === request.name && id === request.id) return request;
    return {
      ...request,
      name,
      ...(id === undefined || id === request.id ? {} : { id: `${id}-${digest(request.id ?? '')}` }),
    };
  };
}

/** As deep as fields of a log line are read; what lies deeper is printed as text. */
const MAX_DEPTH = 6;

/**
 * The logger that tools get: every text of a line is scrubbed, of errors and other objects what a
 * log would show of them.
 */
export function scrubbingLogger(logger: Logger, layers: readonly ToolLayer[]): Logger {
  const scrubs = scrubsOf(layers);
  if (scrubs.length === 0) return logger;
  const at = (level: keyof Logger) => (fields: object, message: string) =>
    logger[level](scrub(plainOf(fields, MAX_DEPTH) as object, scrubs), scrubText(message, scrubs));
  return Object.freeze({
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  });
}

/**
 * Plain data in the place of whatever a tool logs: an error's message is no member that a walk
 * would find.
 */
function plainOf(value: unknown, room: number): unknown {
  if (
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null ||
    value === undefined
  )
    return value;
  if (typeof value !== 'object' || room === 0) return printed(value);
  try {
    if (value instanceof Error) {
      const { name, message, stack, cause } = value;
      return {
        name,
        message,
        stack,
        ...(cause === undefined ? {} : { cause: plainOf(cause, room - 1) }),
        ...membersOf(value, room),
      };
    }
    if (Array.isArray(value)) return value.map((item) => plainOf(item, room - 1));
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === Object.prototype || prototype === null
      ? membersOf(value, room)
      : printed(value);
  } catch {
    return '[unreadable]';
  }
}

const membersOf = (value: object, room: number): object =>
  Object.fromEntries(
    Object.entries(value).map(([name, item]: [string, unknown]) => [name, plainOf(item, room - 1)]),
  );

const printed = (value: unknown): string =>
  inspect(value, { depth: 4, customInspect: false, getters: false, maxStringLength: 10_000 });
