/**
 * Count the calls of a window. What is naive: reading and counting are two steps, a refused call
 * counts too, windows are fixed, the counters are members of a plain object, nobody asks what the
 * name of a counter is, and what ran elsewhere is not counted.
 */

import { clockOf, defineLayer, refuse, type ToolCall, type ToolLayer } from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly maxCalls: number;
  readonly windowMs?: number;
  readonly per?: 'tool' | 'session' | ((call: ToolCall) => unknown);
  readonly message?: string;
}

export function naiveRateLimit({
  maxCalls,
  windowMs = Number.POSITIVE_INFINITY,
  per,
  message = 'rate limit exceeded',
}: Options): ToolLayer {
  const counts: Record<string, number> = {};
  const nameOf = async (call: ToolCall): Promise<string> => {
    if (per === undefined) return 'all';
    if (per === 'tool') return call.toolName;
    return per === 'session' ? call.turn.sessionId : String(await per(call));
  };
  return defineLayer({
    name: 'rateLimit',
    async caller(call, next) {
      const window = Math.floor(clockOf(call).monotonic() / windowMs);
      const name = `${await nameOf(call)} ${window}`;
      const count = counts[name] ?? 0;
      const isOver = count >= maxCalls;
      const result = isOver
        ? refuse(call, 'rate_limited', `${message} (cap: ${maxCalls}, count: ${count}).`)
        : await next(call);
      counts[name] = count + 1;
      return result;
    },
  });
}

export default createSubject({ name: 'naive rateLimit', factories: { rateLimit: naiveRateLimit } });

export const fails: readonly string[] = [
  'rate-limit.a-batch-is-so-many-calls',
  'rate-limit.a-refused-call-takes-nothing',
  'rate-limit.a-rested-window-admits-all-again',
  'rate-limit.a-store-may-take-its-time',
  'rate-limit.a-store-must-say-so',
  'rate-limit.admits-up-to-its-limit',
  'rate-limit.counts-what-it-admits',
  'rate-limit.message-begins-the-error',
  'rate-limit.nested-calls-count',
  'rate-limit.nobody-to-count-for-is-nobody-admitted',
  'rate-limit.parallel-calls-are-counted-exactly',
  'rate-limit.refuses-wrong-options',
  'rate-limit.tells-how-long-to-wait',
  'rate-limit.what-never-refills-is-fatal',
  'rate-limit.what-ran-elsewhere-counts',
];
