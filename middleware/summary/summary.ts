/** One line for people about every call. */

import {
  AlliumError,
  annotate,
  defineLayer,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';

/** Says in one line what happened. Nothing, or a blank, leaves the record as it is. */
export type SummaryFormat = (call: ToolCall, result: ToolResult) => string | null | undefined;

/**
 * Writes `audit.summary`. A formatter that fails changes nothing: a line for people is not worth a
 * call. It does not touch `audit.reason`, which is the model's own.
 */
export function summary(format: SummaryFormat): ToolLayer {
  if (typeof format !== 'function') {
    const got = format === null ? 'null' : typeof format;
    throw new AlliumError(
      'ERR_INVALID_OPTION',
      `summary: "format" must be a function, got ${got}`,
      {
        layer: 'summary',
        option: 'format',
        expected: 'a function',
        got,
      },
    );
  }
  return defineLayer({
    name: 'summary',
    observes: true,
    order: [
      should.outsideOf(
        'requiredReason',
        'inside it, the reason replaces the line written for people',
      ),
    ],
    async caller(call, next) {
      const result = await next(call);
      const line = lineOf(format, call, result);
      return line === null ? result : annotate(result, { summary: line });
    },
  });
}

function lineOf(format: SummaryFormat, call: ToolCall, result: ToolResult): string | null {
  try {
    const line = format(call, result);
    return typeof line === 'string' && line.trim() !== '' ? line.trim().replace(/\s+/g, ' ') : null;
  } catch {
    return null;
  }
}
