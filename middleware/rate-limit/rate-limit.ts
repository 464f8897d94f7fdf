/** Admits so many calls and no more. */

import { hash } from 'node:crypto';
import {
  annotate,
  checkOptions,
  clockOf,
  defineLayer,
  fail,
  outcomeOf,
  refuse,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { memoryCounters, type Taken } from '../../src/stores/index.ts';
import { type LimitPer, OPTIONS, type RateLimitOptions } from './options.ts';

export type { RateLimitOptions };

/**
 * Checks and takes in one step; a refused call takes nothing. What was taken is not given back,
 * whatever becomes of the call. A call that is taken up again after an interruption takes nothing
 * if it was admitted before. It does not make calls wait for their turn.
 */
export function rateLimit(options: RateLimitOptions): ToolLayer {
  checkOptions('rateLimit', options, OPTIONS);
  const {
    maxCalls: max,
    windowMs = null,
    per,
    store = memoryCounters(),
    message = 'rate limit exceeded',
  } = options;
  if (!Number.isSafeInteger(max * (windowMs ?? 1)))
    checkOptions('rateLimit', { windowMs }, { windowMs: SHORTER });
  const admitted = admittedCalls();
  // Tools are known, but of sessions and of what a function names there can be any number.
  const isMadeUp = per !== undefined && per !== 'tool';
  const take = async (call: ToolCall): Promise<Taken> => {
    const now = clockOf(call).monotonic();
    const owner = isMadeUp ? { owner: call.turn.sessionId } : {};
    const key = await limitKeyOf(call, per, [max, windowMs]);
    return checked(await store.take(key, { max, windowMs, now, ...owner }));
  };

  return defineLayer({
    name: 'rateLimit',
    order: [
      should.insideOf(
        'idempotency',
        'outside it, an answer that is given again would use up the limit',
      ),
    ],
    async caller(call, next) {
      if ((call.turn.resumes ?? 0) > 0 && admitted.has(call))
        return annotate(await next(call), {}, { status: 'ok', resumed: true, cap: max });
      let taken: Taken;
      try {
        taken = await take(call);
      } catch (cause) {
        return failed(call, cause);
      }
      if (!taken.admitted) return limited(call, taken, max, message);
      const result = await next(call);
      if (!result.ok && outcomeOf(result) === 'interrupted') admitted.add(call);
      return annotate(result, {}, { status: 'ok', count: taken.count, cap: max });
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

/** A store is the host's own, but what it says about admission is not taken for more than it is. */
function checked(taken: Taken): Taken {
  const { admitted, count, retryAfterMs } = taken;
  if (
    typeof admitted === 'boolean' &&
    Number.isFinite(count) &&
    (retryAfterMs === null || Number.isFinite(retryAfterMs))
  )
    return taken;
  throw new TypeError('the store did not say whether the call is admitted');
}

function limited(
  call: ToolCall,
  { count, retryAfterMs }: Taken,
  cap: number,
  message: string,
): ToolResult {
  const advice =
    retryAfterMs === null
      ? `Do not call ${call.toolName} again.`
      : `Wait ${Math.ceil(retryAfterMs)} ms before calling ${call.toolName} again.`;
  const text = `${message} (cap: ${cap}, count: ${count}). ${advice}`;
  const line = { status: 'blocked', count, cap };
  if (retryAfterMs !== null)
    return annotate(
      refuse(call, 'rate_limited', text, { retryAfterMs: Math.ceil(retryAfterMs) }),
      {},
      line,
    );
  // What never refills must not look worth another try.
  return annotate(
    withResult(refuse(call, 'rate_limited', text), { errorClass: 'fatal' }),
    {},
    line,
  );
}

const failed = (call: ToolCall, cause: unknown): ToolResult =>
  annotate(
    fail(
      call,
      'tool_middleware_exception',
      cause,
      'Whether this call is within its limit could not be told, so it did not run.',
    ),
    {},
    { status: 'failed' },
  );

/**
 * A key for the store. Limits of another size have other counters, so that layers can share a
 * store.
 */
function limitKeyOf(
  call: ToolCall,
  per: LimitPer | undefined,
  limit: readonly unknown[],
): string | Promise<string> {
  if (per === undefined) return textOf([...limit, 'all']);
  if (per === 'tool') return textOf([...limit, per, call.toolName]);
  if (per === 'session') return textOf([...limit, per, call.turn.sessionId]);
  const name = per(call);
  return typeof name === 'string'
    ? ownKey(name, limit)
    : Promise.resolve(name).then((awaited) => ownKey(awaited, limit));
}

function ownKey(name: unknown, limit: readonly unknown[]): string {
  if (typeof name === 'string' && name !== '') return textOf([...limit, 'own', name]);
  throw new TypeError(
    `"per" must answer a non-empty string, got ${name === '' ? 'an empty one' : typeof name}`,
  );
}

const MAX_KEY_LENGTH = 200;

function textOf(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts);
  return text.length > MAX_KEY_LENGTH ? `sha256:${hash('sha256', text)}` : text;
}

interface AdmittedCalls {
  add(call: ToolCall): void;
  has(call: ToolCall): boolean;
}

const MAX_REMEMBERED = 10_000;

/**
 * Calls that were counted, for when they come again after an interruption. One that was forgotten
 * is counted anew.
 */
function admittedCalls(): AdmittedCalls {
  const seen = memoryCounters({ maxKeys: MAX_REMEMBERED });
  const take = ({ turn, callId }: ToolCall, max: number) =>
    seen.take(textOf([turn.sessionId, callId]), {
      max,
      windowMs: null,
      now: 0,
      owner: turn.sessionId,
    });
  // A counter that may admit nothing tells its count.
  return { add: (call) => void take(call, 1), has: (call) => take(call, 0).count > 0 };
}
