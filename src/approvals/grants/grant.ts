/**
 * A standing approval, and the port that keeps such approvals. A shared database can stand behind
 * it as well as a folder.
 */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { Awaitable } from '../../stores/claim-store.ts';
import type { ArgumentPattern } from './argument-pattern.ts';

/** Where a grant holds, narrowest first. */
export const GRANT_SCOPES = Object.freeze(['call', 'session', 'workspace'] as const);
/**
 * `call`: the next such call of the session. `session`: that session. `workspace`: every session
 * there.
 */
export type GrantScope = (typeof GRANT_SCOPES)[number];

/**
 * A grant as it is kept. It holds no arguments where its pattern is exact, except for what `shown`
 * says of them.
 */
export interface Grant extends Omit<GrantQuery, 'args'> {
  readonly id: string;
  readonly decision: 'allow' | 'reject';
  /**
   * `null` once the grant has been revoked or used up: it then covers nothing, and no arguments are
   * kept.
   */
  readonly pattern: ArgumentPattern | null;
  readonly scope: GrantScope;
  readonly grantedBy: string;
  readonly grantedAt: string;
  readonly expiresAt: string;
  /** `null`: as often as there is time for. */
  readonly maxUses: number | null;
  readonly uses: number;
  readonly reason: string | null;
  /** What the person saw, as one line; `null` once the grant has ended. */
  readonly shown: string | null;
  readonly revoked: { readonly by: string; readonly at: string } | null;
}

/** A call that a grant is wanted for. All of it must fit. */
export interface GrantQuery {
  readonly toolName: string;
  readonly args: JsonObject;
  /** Hash of the tool's definition. A tool that changed is another tool. */
  readonly definition: string;
  readonly sessionId: string;
  readonly workspace: string;
}

/** Which grants `list` answers. */
export interface GrantFilter {
  /** @default every tool */
  readonly toolName?: string;
  /** Also those that have expired, were revoked or are used up. @default false */
  readonly ended?: boolean;
}

/**
 * Every step is one step: of two callers of `use` that want the last use of a grant, one gets it;
 * what was revoked before `use` is not used. A store that fails throws; the caller must then go on
 * as if there were no grant that allows.
 */
export interface GrantStore {
  /** Throws when there is a grant of that id, or when what is given is no grant. */
  add(grant: Grant): Awaitable<void>;
  /**
   * Finds a live grant for the call and takes one use of it. One that rejects comes before all that
   * allow. Answers the grant as it is with that use taken, or `null`. Look at its `decision`: a
   * grant that is found need not allow.
   */
  use(query: GrantQuery): Awaitable<Grant | null>;
  /** Oldest first. */
  list(filter?: GrantFilter): Awaitable<readonly Grant[]>;
  get(id: string): Awaitable<Grant | null>;
  /** `false` where there is no such grant, or it was revoked before. */
  revoke(id: string, by: string): Awaitable<boolean>;
}
