/** The port that keeps grants. A shared database can stand behind it as well as a folder. */

import type { JsonObject } from '../../core/json.ts';
import type { Awaitable } from '../../stores/claim-store.ts';
import type { Grant } from './grant.ts';

/** The call that a grant is wanted for. All of it must fit. */
export interface GrantQuery {
  readonly toolName: string;
  readonly args: JsonObject;
  /** Hash of the tool's definition as it is now. */
  readonly definition: string;
  readonly sessionId: string;
  readonly workspace: string;
}

export interface GrantFilter {
  /** @default every tool */
  readonly toolName?: string;
  /** Also those that have expired, were revoked or are used up. @default false */
  readonly ended?: boolean;
}

/**
 * Every step is one step: of two callers of `use` that want the last use of a grant, one gets it; what was revoked before `use` is not
 * used. A store that fails throws; whoever asked must then go on as if there were no grant that allows.
 */
export interface GrantStore {
  /** Throws when there is a grant of that id, or when what is given is no grant. */
  add(grant: Grant): Awaitable<void>;
  /**
   * Finds a live grant for the call and takes one use of it. One that rejects comes before all that allow. Answers the grant as it
   * is with that use taken, or `null`. Look at its `decision`: a grant that is found need not allow.
   */
  use(query: GrantQuery): Awaitable<Grant | null>;
  /** Oldest first. */
  list(filter?: GrantFilter): Awaitable<readonly Grant[]>;
  get(id: string): Awaitable<Grant | null>;
  /** `false` where there is no such grant, or it was revoked before. */
  revoke(id: string, by: string): Awaitable<boolean>;
}
