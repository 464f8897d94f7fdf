/**
 * Grants as the dispatcher uses them: a standing approval is looked for by call, and kept for
 * exactly what was shown.
 */

import type { Clock } from '../../core/time/clock.ts';
import type { StandingApprovals } from '../../approvals/consultation.ts';
import type { CreateId } from '../../core/contract/call.ts';
import { canonicalJson } from '../../core/json/canonical.ts';
import { snapshot } from '../../core/json/json.ts';
import { scrubFor } from '../../core/onion/audit.ts';
import type { GrantStore } from '../../approvals/grants/grant.ts';

/** An answer for always holds a month: then a person has to think again. */
const ALWAYS_MS = 30 * 86_400_000;

export function standingFrom(
  grants: GrantStore,
  workspace: string,
  clock: Clock,
  createId: CreateId,
): StandingApprovals {
  return {
    holds: 'in this session, for 30 days',
    async use({ toolName, toolArgs: args, turn: { sessionId } }, definition) {
      const query = { toolName, args, definition, sessionId, workspace };
      const found: unknown = await grants.use(query);
      if (found === null) return null;
      // A store is code of the host: what it found has to be a grant, and one for this call.
      const grant: unknown = snapshot(found);
      // Loaded when it is needed: patterns of grants know how to read a shell line.
      const { isUseFor } = await import('../../approvals/grants/grant-rules.ts');
      if (!isUseFor(grant, query, clock.now()))
        throw new Error('the store answered with something that is no grant for this call');
      const { id, decision, grantedBy: decidedBy, grantedAt: decidedAt, reason } = grant;
      return { id, decision, decidedBy, decidedAt, ...(reason === null ? {} : { reason }) };
    },
    async keep(call, definition, { decision, by, reason, anyArguments }) {
      const { toolName, toolArgs: args, turn } = call;
      const { createGrant } = await import('../../approvals/grants/create-grant.ts');
      const grant = createGrant(
        {
          ...{ toolName, args, definition, workspace, sessionId: turn.sessionId },
          decision: decision === 'allow_always' ? 'allow' : 'reject',
          ...{ scope: 'session', grantedBy: by, ttlMs: ALWAYS_MS },
          // What a person saw may hold what redaction knows to be secret; the note of it is for
          // lists and logs.
          shown:
            anyArguments === true
              ? `${toolName} with any arguments`
              : scrubFor(call, `${toolName} ${canonicalJson(args)}`),
          ...(anyArguments === true ? { pattern: { any: true } as const } : {}),
          ...(reason === undefined ? {} : { reason: scrubFor(call, reason) }),
        },
        { clock, createId: () => `grant_${createId()}` },
      );
      await grants.add(grant);
    },
  };
}
