/** Admits so many calls and no more. */

import {
  annotate,
  checkOptions,
  defineLayer,
  type Next,
  outcomeOf,
  refuse,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { admittedCalls, callCounter, untold } from '../../src/limits/index.ts';
import { memoryCounters, type Taken } from '../../src/stores/index.ts';
import { OPTIONS, type RateLimitOptions } from './options.ts';

export type { RateLimitOptions };

/**
 * Checks and takes in one step; a refused call takes nothing, and nothing is given back. A call
 * that is resumed takes nothing if it was admitted before. It does not make calls wait their turn.
 */
export function rateLimit(options: RateLimitOptions): ToolLayer {
  checkOptions('rateLimit', options, OPTIONS);
  const { maxCalls: max, windowMs = null, per, message = 'rate limit exceeded' } = options;
  const { store = memoryCounters() } = options;
  if (!Number.isSafeInteger(max * (windowMs ?? 1)))
    checkOptions('rateLimit', { windowMs }, { windowMs: SHORTER });
  const admitted = admittedCalls();
  const take = callCounter(store, per, max, windowMs);
  const resumed = (result: ToolResult): ToolResult =>
    annotate(result, {}, { status: 'ok', resumed: true, cap: max });
  const goOn = (call: ToolCall, next: Next, taken: Taken): ToolResult | Promise<ToolResult> => {
    if (!taken.admitted) return limited(call, taken, max, message);
    const { count } = taken;
    return next(call).then((result) => {
      if (!result.ok && outcomeOf(result) === 'interrupted') admitted.add(call);
      return annotate(result, {}, { status: 'ok', count, cap: max });
    });
  };
  const goOnLater = (call: ToolCall, next: Next, asked: Promise<Taken>): Promise<ToolResult> =>
    asked.then(
      (taken) => goOn(call, next, taken),
      (cause: unknown) => untold(call, cause),
    );
  return defineLayer({
    name: 'rateLimit',
    order: [
      should.insideOf(
        'idempotency',
        'outside it, an answer that is given again would use up the limit',
      ),
    ],
    caller(call, next) {
      if (admitted.has(call)) return next(call).then(resumed);
      let taken: Taken | Promise<Taken>;
      try {
        taken = take(call);
      } catch (cause) {
        return untold(call, cause);
      }
      // A store in memory has answered by now.
      return taken instanceof Promise ? goOnLater(call, next, taken) : goOn(call, next, taken);
    },
    // It happened, so it counts; a limit that is used up takes no more.
    async tooLate(call) {
      const { admitted: isWithin, count } = await take(call);
      return { wouldHaveBeen: isWithin ? 'ok' : 'rate_limited', count, cap: max };
    },
  });
}

/** Allowances are counted in whole numbers of call × millisecond. */
const SHORTER = { text: 'a shorter window for so many calls', test: () => false, numeric: true };

function limited(call: ToolCall, taken: Taken, cap: number, message: string): ToolResult {
  const { count, retryAfterMs } = taken;
  const figures = `${message} (cap: ${cap}, count: ${count}).`;
  const line = { status: 'blocked', count, cap };
  if (retryAfterMs === null) {
    const refusal = refuse(call, 'rate_limited', `${figures} Do not call ${call.toolName} again.`);
    // What never refills must not look worth another try.
    return annotate(withResult(refusal, { errorClass: 'fatal' }), {}, line);
  }
  const waitMs = Math.ceil(retryAfterMs);
  const text = `${figures} Wait ${waitMs} ms before calling ${call.toolName} again.`;
  return annotate(refuse(call, 'rate_limited', text, { retryAfterMs: waitMs }), {}, line);
}
