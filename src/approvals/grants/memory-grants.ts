/** Grants of one process, gone with it. */

import { type Clock, systemClock } from '../../core/time/clock.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { Grant, GrantStore } from './grant.ts';
import {
  checkedGrant,
  asKept,
  deciding,
  demandGrantRoom,
  listed,
  revokedBy,
  used,
} from './grant-rules.ts';

/** How many grants `memoryGrants` keeps. */
export interface MemoryGrantsOptions {
  /**
   * How many grants are kept. Those that have ended make room first; a session that holds as many
   * as it leaves free cannot add another one.
   * @default 1000
   */
  readonly maxGrants?: number;
  /** @default the system's */
  readonly clock?: Clock;
}

/**
 * Keeps grants in this process only: another process neither sees them nor what was revoked here.
 * Where many sessions fill it, the one with the most live grants loses the oldest that allows: a
 * person is asked again.
 */
export function memoryGrants(options: MemoryGrantsOptions = {}): GrantStore {
  checkOptions('memoryGrants', options, { maxGrants: expected.integer(1), clock: expected.object });
  const { maxGrants = 1000, clock = systemClock } = options;
  const grants = new Map<string, Grant>();
  const keep = (grant: Grant) => void grants.set(grant.id, asKept(grant, clock.now()));

  return Object.freeze<GrantStore>({
    add(given) {
      const grant = checkedGrant('memoryGrants', given);
      if (grants.has(grant.id)) throw new Error('memoryGrants: there is a grant of that id');
      for (const { id } of demandGrantRoom(
        'memoryGrants',
        [...grants.values()],
        grant,
        maxGrants,
        clock.now(),
      ))
        grants.delete(id);
      keep(grant);
    },
    use(query) {
      const found = deciding([...grants.values()], query, clock.now());
      if (found === null) return null;
      const after = used(found);
      keep(after);
      return after;
    },
    list: (filter = {}) => listed([...grants.values()], filter, clock.now()),
    get: (id) => grants.get(id) ?? null,
    revoke(id, by) {
      const grant = grants.get(id);
      const after = grant === undefined ? null : revokedBy(grant, by, clock.now());
      if (after !== null) keep(after);
      return after !== null;
    },
  });
}
