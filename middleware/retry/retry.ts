/** Tries again what failed for a moment, and only what may be repeated. */

import {
  annotate,
  checkOptions,
  clockOf,
  defineLayer,
  matchesTool,
  pause,
  refuse,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { isFinal, OPTIONS, type RetryOptions } from './options.ts';

export type { RetryOptions };

/**
 * Repeats a call that failed as `retryable`, if its tool is idempotent or reads only, or if nothing
 * has run. A write that may have happened is never repeated, and its error tells the model to look
 * first. Refusals of governance, interruptions and cancelled calls are final. It remembers nothing
 * between calls, and does not check whether a tool that calls itself idempotent is.
 */
export function retry(options: RetryOptions = {}): ToolLayer {
  checkOptions('retry', options, OPTIONS);
  const {
    only,
    except = [],
    on = ['retryable'],
    maxAttempts = 3,
    maxElapsedMs = Number.POSITIVE_INFINITY,
  } = options;
  const { backoffMs = 200, maxBackoffMs = 10_000, jitter = true, random = Math.random } = options;
  const isMeant = (name: string) =>
    (only === undefined || matchesTool(only, name)) && !matchesTool(except, name);
  const limits = { maxAttempts, maxBackoffMs, maxElapsedMs };
  return defineLayer({
    name: 'retry',
    order: [should.insideOf('consent', 'outside it, a person is asked again for every attempt')],
    async caller(call, next) {
      if (!isMeant(call.toolName)) return next(call);
      const startedAt = clockOf(call).monotonic();
      for (let attempts = 1, waitedMs = 0; ; attempts += 1) {
        const result = await next(call);
        const verdict = verdictOn(call, result, on);
        if (verdict === 'unsafe')
          return annotate(notRepeated(result), {}, { status: 'not_repeated', attempts, waitedMs });
        if (verdict === 'final')
          return attempts === 1 ? result : annotate(result, {}, { attempts, waitedMs });
        const waitMs = waitAfter(result, attempts, { backoffMs, maxBackoffMs, jitter, random });
        const gaveUp = whyStop(limits, attempts, waitMs, clockOf(call).monotonic() - startedAt);
        if (gaveUp !== null) return annotate(result, {}, { attempts, waitedMs, gaveUp });
        if (!(await pause(call, waitMs)))
          return annotate(refuse(call, 'cancelled', CANCELLED), {}, { attempts, waitedMs });
        waitedMs += waitMs;
      }
    },
  });
}

const CANCELLED = 'The call was cancelled before it was tried again.';

function verdictOn(
  call: ToolCall,
  result: ToolResult,
  on: readonly string[],
): 'final' | 'unsafe' | 'again' {
  const { ok, status, errorClass, interruption } = result;
  if (ok || isFinal(status) || interruption !== undefined) return 'final';
  const isWanted = on.includes(status) || (errorClass !== null && on.includes(errorClass));
  // Also where this layer would not try again by itself: the model must not be told to.
  if ((isWanted || errorClass === 'retryable') && !mayRepeat(call, result)) return 'unsafe';
  return isWanted ? 'again' : 'final';
}

function whyStop(
  limits: Limits,
  attempts: number,
  waitMs: number,
  elapsedMs: number,
): string | null {
  if (attempts >= limits.maxAttempts) return 'attempts';
  if (waitMs > limits.maxBackoffMs) return 'wait';
  return elapsedMs + waitMs > limits.maxElapsedMs ? 'elapsed' : null;
}

type Limits = Readonly<Record<'maxAttempts' | 'maxBackoffMs' | 'maxElapsedMs', number>>;

interface Backoff {
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  readonly jitter: boolean;
  readonly random: () => number;
}

/**
 * Beyond this the wait has long reached its maximum, and the power of two would run into infinity.
 */
const MAX_DOUBLINGS = 40;

/**
 * The wait after a number of attempts, in whole milliseconds. What the result itself asks for is
 * never cut short, so it can be more than the maximum.
 */
function waitAfter(
  result: ToolResult,
  attempts: number,
  { backoffMs, maxBackoffMs, jitter, random }: Backoff,
): number {
  const full = Math.min(maxBackoffMs, backoffMs * 2 ** Math.min(attempts - 1, MAX_DOUBLINGS));
  const wait = jitter ? Math.floor(full * share(random())) : full;
  return Math.max(wait, askedWait(result));
}

/** A source of chance that answers nonsense makes the wait longer, never shorter. */
const share = (chance: number): number => (chance >= 0 && chance <= 1 ? chance : 1);

function askedWait({ metadata }: ToolResult): number {
  const asked =
    metadata !== undefined && Object.hasOwn(metadata, 'retryAfterMs')
      ? metadata.retryAfterMs
      : undefined;
  return typeof asked === 'number' && asked > 0 ? Math.ceil(asked) : 0;
}

/** Whether a second run can do no harm: the tool says so, or there was no first one. */
const mayRepeat = ({ annotations }: ToolCall, { executed }: ToolResult): boolean =>
  executed === 'no' || annotations.idempotent === true || annotations.readOnly === true;

/**
 * An answer that does not lead the model to repeat what may have happened. The tool's own words
 * could, so they go.
 */
function notRepeated(result: ToolResult): ToolResult {
  const did = result.executed === 'yes' ? 'has run' : 'may have run';
  const error = `${result.toolName} ${did} and ended with ${result.status}. It is not safe to repeat: check what it did before you call it again.`;
  return withResult(result, { error, errorClass: 'fatal', content: [] });
}
