/** Makes a standing approval of one answer of a person, never wider than what they were shown. */

import { randomUUID } from 'node:crypto';
import { type Clock, isoTime, systemClock } from '../../core/time/clock.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { type ArgumentPattern, checkPattern, covers, patternFor } from './argument-pattern.ts';
import { describePattern } from './describe-grant.ts';
import { type Grant, GRANT_SCOPES, type GrantQuery } from './grant.ts';
import { MAX_TTL_MS } from './grant-rules.ts';

/** What a person decided, and how far it is to hold. The arguments are not kept. */
export interface GrantRequest extends GrantQuery, Pick<Grant, 'decision' | 'scope' | 'grantedBy'> {
  /**
   * Covers more than these arguments. `shown` must then hold the text of `describePattern`.
   * @default exactly these arguments
   */
  readonly pattern?: ArgumentPattern;
  /**
   * What the person saw. Kept as one line of at most 500 characters while the grant lives: clean it
   * of secrets before.
   */
  readonly shown: string;
  /** How long it holds; a year at most. */
  readonly ttlMs: number;
  /** @default 1 for the scope `call`, otherwise no limit */
  readonly maxUses?: number;
  /** @default none */
  readonly reason?: string;
}

/** Where `createGrant` takes time and ids from. */
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
 * Makes a grant of what a person decided. Refuses one that is wider than what they saw: the pattern
 * must cover the arguments, and one that covers more must have been shown in the words of
 * `describePattern`. Trusts `shown` and `grantedBy` to be true.
 */
export function createGrant(request: GrantRequest, options: CreateGrantOptions = {}): Grant {
  checkOptions('createGrant', request, REQUEST);
  checkOptions('createGrant', options, { clock: expected.object, createId: expected.function });
  const { clock = systemClock, createId = randomUUID } = options;
  const { scope, reason } = request;
  const maxUses = request.maxUses ?? (scope === 'call' ? 1 : null);
  if (scope === 'call' && maxUses !== 1) throw refused('maxUses', 'must be 1 for the scope "call"');
  const now = clock.now();
  return Object.freeze({
    id: createId(),
    decision: request.decision,
    toolName: request.toolName,
    pattern: checkedPattern(request, patternFor(request.args)),
    definition: request.definition,
    scope,
    sessionId: request.sessionId,
    workspace: request.workspace,
    grantedBy: request.grantedBy,
    grantedAt: isoTime(now),
    expiresAt: isoTime(now + request.ttlMs),
    maxUses,
    uses: 0,
    reason: reason === undefined ? null : oneLine(reason),
    shown: oneLine(request.shown),
    revoked: null,
  });
}

function checkedPattern(
  { pattern: given, args, shown }: GrantRequest,
  exact: ArgumentPattern,
): ArgumentPattern {
  if (given === undefined) return exact;
  // Copied, so that the caller cannot widen `given` afterwards.
  const pattern: unknown = structuredClone(given);
  checkPattern('createGrant', pattern);
  if (!covers(pattern, args))
    throw refused('pattern', 'does not cover the arguments that were shown');
  if (!('exact' in pattern) && !shown.includes(describePattern(pattern)))
    throw refused(
      'pattern',
      'covers more than one call, and "shown" does not say so: show the text of describePattern',
    );
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
