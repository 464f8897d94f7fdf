/** Admits so many calls and no more. */

import {
  annotate,
  type Awaitable,
  checkOptions,
  clockOf,
  type CounterStore,
  defineLayer,
  expected,
  fail,
  inSteps,
  memoryCounters,
  outcomeOf,
  refuse,
  type Stepped,
  type Taken,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/index.ts';
import { admittedCalls, limitKeyOf, type LimitPer } from './limit-key.ts';

export interface RateLimitOptions {
  /** How many calls are admitted, in all or per window. 0 admits none. */
  readonly maxCalls: number;
  /** The window in milliseconds. @default none: the count never goes down */
  readonly windowMs?: number;
  /** What has a limit of its own: each tool, each session, or what the function names. @default the layer as a whole */
  readonly per?: LimitPer;
  /** Where calls are counted. @default a `memoryCounters()` of its own */
  readonly store?: CounterStore;
  /** How the error begins. @default 'rate limit exceeded' */
  readonly message?: string;
}

/**
 * Checks and takes in one step; a refused call takes nothing. What was taken is not given back, whatever becomes of the
 * call. A call that is taken up again after an interruption takes nothing if it was admitted before. It does not make
 * calls wait for their turn.
 */
export function rateLimit(options: RateLimitOptions): ToolLayer {
  checkOptions('rateLimit', options, EXPECTED);
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
  const take = (call: ToolCall): Awaitable<Taken> => {
    const key = limitKeyOf(call, per, [max, windowMs]);
    const request = {
      max,
      windowMs,
      now: clockOf(call).monotonic(),
      ...(isMadeUp ? { owner: call.turn.sessionId } : {}),
    };
    return typeof key === 'string'
      ? store.take(key, request)
      : key.then((awaited) => store.take(awaited, request));
  };

  const decided = (call: ToolCall, answer: Taken): Stepped => {
    const taken = checked(answer);
    if (!taken.admitted) return limited(call, taken, max, message);
    return {
      call,
      leave(result) {
        if (!result.ok && outcomeOf(result) === 'interrupted') admitted.add(call);
        return annotate(result, {}, { status: 'ok', count: taken.count, cap: max });
      },
    };
  };

  return defineLayer({
    name: 'rateLimit',
    order: [
      {
        insideOf: 'idempotency',
        level: 'should',
        because: 'outside it, an answer that is given again would use up the limit',
      },
    ],
    caller: inSteps((call) => {
      if ((call.turn.resumes ?? 0) > 0 && admitted.has(call)) {
        return {
          call,
          leave: (result) => annotate(result, {}, { status: 'ok', resumed: true, cap: max }),
        };
      }
      try {
        const taken = take(call);
        return taken instanceof Promise
          ? taken
              .then((later) => decided(call, later))
              .catch((cause: unknown) => failed(call, cause))
          : decided(call, taken);
      } catch (cause) {
        return failed(call, cause);
      }
    }),
    // It happened, so it counts; a limit that is used up takes no more.
    async tooLate(call) {
      const { admitted: isWithin, count } = checked(await take(call));
      return { wouldHaveBeen: isWithin ? 'ok' : 'rate_limited', count, cap: max };
    },
  });
}

const NAMES = expected.oneOf('tool', 'session');

const EXPECTED = {
  maxCalls: expected.required(expected.integer(0)),
  windowMs: expected.integer(1),
  per: {
    text: `${NAMES.text} or a function`,
    test: (value: unknown) => NAMES.test(value) || expected.function.test(value),
  },
  store: {
    text: 'a store with take',
    test: (value: unknown) =>
      expected.object.test(value) && typeof (value as Partial<CounterStore>).take === 'function',
  },
  message: expected.string,
};

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
