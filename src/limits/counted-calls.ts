/** What limits share: whose counter a call takes from, and which calls and questions count. */

import { hash } from 'node:crypto';
import {
  annotate,
  clockOf,
  type EntryPatch,
  fail,
  limitAsking,
  type Refusal,
  type ToolCall,
  type ToolResult,
} from '../layer.ts';
import { type CounterStore, memoryCounters, type Taken } from '../stores/index.ts';

/**
 * Whose count it is. Calls that name no run are counted by session: leaving the name out must not
 * lift the limit.
 */
export type LimitScope = 'run' | 'session';

export const scopeOf = ({ turn }: ToolCall, scope: LimitScope): readonly [LimitScope, string] =>
  scope === 'run' && turn.runId !== undefined ? ['run', turn.runId] : ['session', turn.sessionId];

/** What has a limit of its own. A function must answer a non-empty string. */
export type LimitPer = 'tool' | 'session' | ((call: ToolCall) => string | Promise<string>);

/**
 * Takes one call from the counter that it belongs to, at once where the store does. Limits of
 * another size have other counters, so that layers can share a store.
 */
export function callCounter(
  store: CounterStore,
  per: LimitPer | undefined,
  max: number,
  windowMs: number | null,
): (call: ToolCall) => Taken | Promise<Taken> {
  const keyOf = limitKeys(per, [max, windowMs]);
  // Tools are known, but of sessions and of what a function names there can be any number.
  const isMadeUp = per !== undefined && per !== 'tool';
  const takeFrom = (call: ToolCall, key: string): Taken | Promise<Taken> => {
    const now = clockOf(call).monotonic();
    const { sessionId: owner } = call.turn;
    const request = isMadeUp ? { max, windowMs, now, owner } : { max, windowMs, now };
    const taken = store.take(key, request);
    return 'then' in taken ? Promise.resolve(taken).then(checkedTaken) : checkedTaken(taken);
  };
  const takeLater = async (call: ToolCall, key: Promise<string>): Promise<Taken> =>
    takeFrom(call, await key);
  return (call) => {
    const key = typeof keyOf === 'string' ? keyOf : keyOf(call);
    return typeof key === 'string' ? takeFrom(call, key) : takeLater(call, key);
  };
}

function limitKeys(
  per: LimitPer | undefined,
  limit: readonly unknown[],
): string | ((call: ToolCall) => string | Promise<string>) {
  if (per === undefined) return counterKey([...limit, 'all']);
  if (per === 'tool') return ({ toolName }) => counterKey([...limit, per, toolName]);
  if (per === 'session') return ({ turn }) => counterKey([...limit, per, turn.sessionId]);
  return (call) => {
    const name = per(call);
    return typeof name === 'string'
      ? ownKey(name, limit)
      : Promise.resolve(name).then((awaited) => ownKey(awaited, limit));
  };
}

function ownKey(name: unknown, limit: readonly unknown[]): string {
  if (typeof name === 'string' && name !== '') return counterKey([...limit, 'own', name]);
  throw new TypeError(
    `"per" must answer a non-empty string, got ${name === '' ? 'an empty one' : typeof name}`,
  );
}

const MAX_KEY_LENGTH = 200;

/** Short parts as they are, long ones by their hash. */
export function counterKey(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts);
  return text.length > MAX_KEY_LENGTH ? `sha256:${hash('sha256', text)}` : text;
}

/** A store is the host's own, but what it says about admission is not taken for more than it is. */
export function checkedTaken(taken: Taken): Taken {
  const { admitted, count, retryAfterMs } = taken;
  if (
    typeof admitted === 'boolean' &&
    Number.isFinite(count) &&
    (retryAfterMs === null || Number.isFinite(retryAfterMs))
  )
    return taken;
  throw new TypeError('the store did not say whether the call is admitted');
}

/** The store failed: the call does not run. */
export const untold = (call: ToolCall, cause: unknown): ToolResult =>
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

export interface AdmittedCalls {
  add(call: ToolCall): void;
  /** Whether this is a call that was counted before it was interrupted. */
  has(call: ToolCall): boolean;
}

const MAX_REMEMBERED = 10_000;

/**
 * Calls that were counted, for when they come again after an interruption. One that was forgotten
 * is counted anew.
 */
export function admittedCalls(): AdmittedCalls {
  const seen = memoryCounters({ maxKeys: MAX_REMEMBERED });
  const take = ({ turn, callId }: ToolCall, max: number) =>
    seen.take(counterKey([turn.sessionId, callId]), {
      max,
      windowMs: null,
      now: 0,
      owner: turn.sessionId,
    });
  return {
    add: (call) => void take(call, 1),
    // A counter that may admit nothing tells its count.
    has: (call) => (call.turn.resumes ?? 0) > 0 && take(call, 0).count > 0,
  };
}

/** The call under the budget, and what to say about it afterwards. */
export interface LimitedQuestions {
  readonly call: ToolCall;
  readonly line: () => EntryPatch;
}

/**
 * A budget of questions: people who are asked too often say yes to everything. Counts one for each
 * question that is about to be put, whatever becomes of it. Counted in memory and at once: the
 * layer that asks does not wait for a store, and two questions at a time cannot both be the last.
 */
export function limitQuestions(
  max: number,
  scope: LimitScope,
): (call: ToolCall) => LimitedQuestions {
  const counters = memoryCounters();
  return (call) => {
    let asked: EntryPatch = {};
    const guard = (about: ToolCall): Refusal | null => {
      // A call that the tool makes itself comes through the stack with a guard of its own, and
      // brings this one along.
      if (about.callId !== call.callId) return null;
      const key = counterKey(['callLimit', 'prompts', max, ...scopeOf(call, scope)]);
      const { admitted, count } = counters.take(key, {
        max,
        windowMs: null,
        now: 0,
        owner: call.turn.sessionId,
      });
      asked = { prompts: count, maxPrompts: max };
      return admitted ? null : enough(call, max, scope);
    };
    return { call: limitAsking(call, guard), line: () => asked };
  };
}

const enough = ({ toolName }: ToolCall, max: number, scope: LimitScope): Refusal => ({
  status: 'limit_exceeded',
  message: `${toolName} needs an approval, and in this ${scope} people are asked no more than ${max} times. Go on without it, or finish with what you have.`,
  blockedBy: 'callLimit',
});
