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
    caller: (call, next) =>
      next(call).then((result) => {
        const line = lineOf(format, call, result);
        return line === null ? result : annotate(result, { summary: line });
      }),
  });
}

/** More than one blank in a row, or a blank that is no space. */
const UNEVEN = /\s\s|[^\S ]/;

function lineOf(format: SummaryFormat, call: ToolCall, result: ToolResult): string | null {
  try {
    const given = format(call, result);
    const line = typeof given === 'string' ? given.trim() : '';
    if (line === '') return null;
    return UNEVEN.test(line) ? line.replace(/\s+/g, ' ') : line;
  } catch {
    return null;
  }
}
