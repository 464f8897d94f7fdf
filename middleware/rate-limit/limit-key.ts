/** Which counter a call takes from, and which calls have taken already. */

import { hash } from 'node:crypto';
import { memoryCounters, type ToolCall } from '../../src/index.ts';

/** What has a limit of its own. A function must answer a non-empty string. */
export type LimitPer = 'tool' | 'session' | ((call: ToolCall) => string | Promise<string>);

/** A key for the store. Limits of another size have other counters, so that layers can share a store. */
export function limitKeyOf(
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

export interface AdmittedCalls {
  add(call: ToolCall): void;
  has(call: ToolCall): boolean;
}

const MAX_REMEMBERED = 10_000;

/** Calls that were counted, for when they come again after an interruption. One that was forgotten is counted anew. */
export function admittedCalls(): AdmittedCalls {
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
