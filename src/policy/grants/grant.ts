/** A standing approval: one answer of a person that holds for further calls, never wider than what they were shown. */

import { randomUUID } from 'node:crypto';
import { type Clock, isoTime, systemClock } from '../../core/clock.ts';
import { AlliumError, oneLine } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { checkOptions, expected } from '../../core/options.ts';
import { type ArgumentPattern, checkPattern, covers, patternFor } from './argument-pattern.ts';
import { describePattern } from './describe-grant.ts';
import { MAX_TTL_MS } from './grant-rules.ts';

export const GRANT_SCOPES = Object.freeze(['call', 'session', 'workspace'] as const);
/** `call`: the next such call of the session. `session`: that session. `workspace`: every session there. */
export type GrantScope = (typeof GRANT_SCOPES)[number];

/** A grant as it is kept. It holds no arguments where its pattern is exact, except for what `shown` says of them. */
export interface Grant {
  readonly id: string;
  readonly decision: 'allow' | 'reject';
  readonly toolName: string;
  /** `null` once the grant has been revoked or used up: it then covers nothing, and no arguments are kept. */
  readonly pattern: ArgumentPattern | null;
  /** Hash of the tool's definition. A tool that changed is another tool. */
  readonly definition: string;
  readonly scope: GrantScope;
  readonly sessionId: string;
  readonly workspace: string;
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

export interface GrantRequest {
  readonly decision: 'allow' | 'reject';
  readonly toolName: string;
  /** The arguments the person decided about. They are not kept. */
  readonly args: JsonObject;
  /**
   * Covers more than these arguments. `shown` must then hold the text of `describePattern`.
   * @default exactly these arguments
   */
  readonly pattern?: ArgumentPattern;
  readonly definition: string;
  readonly scope: GrantScope;
  readonly sessionId: string;
  readonly workspace: string;
  readonly grantedBy: string;
  /** What the person saw. Kept as one line of at most 500 characters while the grant lives: clean it of secrets before. */
  readonly shown: string;
  /** How long it holds; a year at most. */
  readonly ttlMs: number;
  /** @default 1 for the scope `call`, otherwise no limit */
  readonly maxUses?: number;
  /** @default none */
  readonly reason?: string;
}

export interface CreateGrantOptions {
  /** @default the system's */
  readonly clock?: Clock;
  /** @default random UUIDs */
  readonly createId?: () => string;
}

const text = expected.required(expected.string);

const REQUEST = Object.freeze({
  decision: expected.required(expected.oneOf('allow', 'reject')),
  toolName: text,
  args: expected.required(expected.object),
  pattern: expected.object,
  definition: text,
  scope: expected.required(expected.oneOf(...GRANT_SCOPES)),
  sessionId: text,
  workspace: text,
  grantedBy: text,
  shown: text,
  ttlMs: expected.required({
    text: `a whole number from 1 to ${MAX_TTL_MS}`,
    test: (value) =>
      Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_TTL_MS,
    numeric: true,
  }),
  maxUses: expected.integer(1),
  reason: expected.string,
});

/**
 * Makes a grant of what a person decided. Refuses one that is wider than what they saw: the pattern must cover the arguments, and
 * one that covers more must have been shown in the words of `describePattern`. Trusts `shown` and `grantedBy` to be true.
 */
export function createGrant(request: GrantRequest, options: CreateGrantOptions = {}): Grant {
  checkOptions('createGrant', request, REQUEST);
  checkOptions('createGrant', options, { clock: expected.object, createId: expected.function });
  const { clock = systemClock, createId = randomUUID } = options;
  const {
    args,
    decision,
    toolName,
    definition,
    scope,
    sessionId,
    workspace,
    grantedBy,
    shown,
    ttlMs,
    reason,
  } = request;
  const maxUses = request.maxUses ?? (scope === 'call' ? 1 : null);
  if (scope === 'call' && maxUses !== 1) throw refused('maxUses', 'must be 1 for the scope "call"');
  const now = clock.now();
  return Object.freeze({
    id: createId(),
    decision,
    toolName,
    pattern: checkedPattern(request, patternFor(args)),
    definition,
    scope,
    sessionId,
    workspace,
    grantedBy,
    grantedAt: isoTime(now),
    expiresAt: isoTime(now + ttlMs),
    maxUses,
    uses: 0,
    reason: reason === undefined ? null : oneLine(reason),
    shown: oneLine(shown),
    revoked: null,
  });
}

function checkedPattern(
  { pattern: given, args, shown }: GrantRequest,
  exact: ArgumentPattern,
): ArgumentPattern {
  if (given === undefined) return exact;
  // Copied: whoever made the pattern must not be able to widen it afterwards.
  const pattern: unknown = structuredClone(given);
  checkPattern('createGrant', pattern);
  if (!covers(pattern, args))
    throw refused('pattern', 'does not cover the arguments that were shown');
  if (!('exact' in pattern) && !shown.includes(describePattern(pattern))) {
    throw refused(
      'pattern',
      'covers more than one call, and "shown" does not say so: show the text of describePattern',
    );
  }
  return deepFrozen(pattern);
}

function deepFrozen<T extends object>(value: T): T {
  for (const item of Object.values<unknown>(value as Record<string, unknown>))
    if (typeof item === 'object' && item !== null) deepFrozen(item);
  return Object.freeze(value);
}

const refused = (option: string, problem: string): AlliumError =>
  new AlliumError('ERR_INVALID_OPTION', `createGrant: "${option}" ${problem}`, {
    layer: 'createGrant',
    option,
  });
