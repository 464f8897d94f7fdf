/** Grants and calls to try them on. */

import { testClock } from '../../../conformance/index.ts';
import { createGrant, type GrantRequest } from './create-grant.ts';
import type { Grant, GrantQuery } from './grant.ts';

export const HOUR_MS = 3_600_000;

/** What `grantOf()` is for. */
export const QUERY: GrantQuery = Object.freeze({
  toolName: 'read_file',
  args: Object.freeze({ path: 'src/a.ts' }),
  definition: 'sha256:one',
  sessionId: 'session-1',
  workspace: '/work',
});

let made = 0;

/** A grant for the session, for an hour from the beginning of a test clock. */
export function grantOf(changes: Partial<GrantRequest> = {}, clock = testClock()): Grant {
  made += 1;
  const request = {
    ...QUERY,
    decision: 'allow',
    scope: 'session',
    grantedBy: 'ana',
    shown: 'read src/a.ts',
    ttlMs: HOUR_MS,
  } as const;
  return createGrant({ ...request, ...changes }, { clock, createId: () => `grant-${made}` });
}
