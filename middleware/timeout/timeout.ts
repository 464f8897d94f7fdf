/** Gives a call a limited time, and tells the truth about what may have happened in it. */

import {
  annotate,
  checkOptions,
  defineLayer,
  matchesTool,
  must,
  nextWithin,
  refuse,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import { OPTIONS, type TimeoutOptions } from './options.ts';

export type { TimeoutOptions };

/**
 * Aborts the signal, waits out the grace, then answers `timeout`, with `executed: 'unknown'` unless
 * the tool proved otherwise. It cannot stop a tool that ignores its signal; such a tool goes on in
 * the background, unheard. A tool's own `timeoutMs` holds as well: the smaller wins.
 */
export function timeout(options: TimeoutOptions): ToolLayer {
  checkOptions('timeout', options, OPTIONS);
  const { maxMs, perTool = {}, graceMs = 100, message } = options;
  const limits = Object.entries(perTool);
  const limitOf = (name: string) => {
    for (const [pattern, ms] of limits) if (matchesTool([pattern], name)) return ms;
    return maxMs;
  };
  return defineLayer({
    name: 'timeout',
    order: [
      must.insideOf(
        'consent',
        'outside it, the time a person takes to decide would count as the tool being slow',
      ),
    ],
    caller(call, next) {
      const timeoutMs = limitOf(call.toolName);
      return nextWithin(call, next, { timeoutMs, graceMs }, ({ by, ran }) => {
        if (by === 'timeout') return timedOut(call, timeoutMs, message);
        return ran !== null && 'value' in ran
          ? ran.value
          : refuse(call, 'cancelled', 'The call was cancelled while it ran.');
      });
    },
  });
}

function timedOut(
  call: ToolCall,
  limitMs: number,
  message = `${call.toolName} did not answer in time`,
): ToolResult {
  const text = `${message} (limit: ${limitMs} ms). It may have done its work; check before you try again.`;
  return annotate(refuse(call, 'timeout', text), {}, { status: 'timeout', limitMs });
}
