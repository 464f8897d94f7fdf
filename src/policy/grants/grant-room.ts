/** How grants share the room of a store: one session cannot take it all, nor what was granted in another one. */

import { AlliumError } from '../../core/errors.ts';
import type { Grant } from './grant.ts';
import { grantState } from './grant-rules.ts';

/**
 * Which grants go so that another one can be kept. Those that have ended go first. A session may hold as many live ones as it leaves free;
 * beyond that it is refused with `ERR_STORE_FULL`, and a person is asked again. Where many sessions fill the store, the one that holds most
 * loses the oldest grant that allows, which costs a question. Never one that rejects: a grant that allows the same could come to count.
 */
export function demandGrantRoom(
  owner: string,
  kept: readonly Grant[],
  asking: Grant,
  max: number,
  now: number,
): readonly Grant[] {
  // Nobody can hold more than is left, whoever holds what.
  if (kept.length * 2 < max) return [];
  const ended: Grant[] = [];
  const bySession = new Map<string, Grant[]>();
  for (const grant of kept) {
    if (grantState(grant, now) !== 'live') {
      ended.push(grant);
      continue;
    }
    const held = bySession.get(grant.sessionId);
    if (held === undefined) bySession.set(grant.sessionId, [grant]);
    else held.push(grant);
  }
  const own = bySession.get(asking.sessionId)?.length ?? 0;
  const free = max - (kept.length - ended.length);
  if (own > 0 && own >= free) throw full(owner);
  if (free > 0) return ended.slice(0, Math.max(0, kept.length + 1 - max));
  let most: readonly Grant[] = [];
  for (const held of bySession.values()) if (held.length > most.length) most = held;
  const loser = most.find(({ decision }) => decision === 'allow');
  if (loser === undefined) throw full(owner);
  return [...ended, loser];
}

const full = (owner: string): AlliumError =>
  new AlliumError(
    'ERR_STORE_FULL',
    `${owner}: too many live grants; revoke some, or raise "maxGrants"`,
  );
