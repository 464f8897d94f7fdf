/** The rules every grant store goes by, without where the grants are kept. */

import { isoTime } from '../../core/time/clock.ts';
import { snapshot } from '../../core/json/json.ts';
import { hasFields, isCount, isText, isTime } from '../../system/record-fields.ts';
import { covers, patternFor, patternProblem } from './argument-pattern.ts';
import type { Grant, GrantFilter, GrantQuery, GrantScope } from './grant.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { words } from '../../system/words.ts';

/** No grant holds for longer than a year: a person has to decide again. */
export const MAX_TTL_MS = 366 * 86_400_000;

type GrantState = 'live' | 'revoked' | 'used_up' | 'expired';

/**
 * Where a grant stands. Where `now` lies before `grantedAt` the clock is wrong, and counts against
 * running: a grant that allows does not hold then, one that rejects does.
 */
export function grantState(grant: Grant, now: number): GrantState {
  const { revoked, maxUses, uses, decision, grantedAt, expiresAt } = grant;
  if (revoked !== null) return 'revoked';
  if (maxUses !== null && uses >= maxUses) return 'used_up';
  const isOver = now >= Date.parse(expiresAt);
  if (decision === 'reject') return isOver ? 'expired' : 'live';
  return !isOver && now >= Date.parse(grantedAt) ? 'live' : 'expired';
}

/**
 * The grant that decides about a call, or `null`. Among those that allow, the narrowest and then
 * the one that ends first is spent.
 */
export function deciding(grants: readonly Grant[], query: GrantQuery, now: number): Grant | null {
  const fitting = grants.filter(
    (grant) => grantState(grant, now) === 'live' && isFor(grant, query),
  );
  const rejecting = fitting.find(({ decision }) => decision === 'reject');
  return rejecting ?? fitting.toSorted(bySpending)[0] ?? null;
}

function isFor(
  { toolName, definition, workspace, scope, sessionId, pattern }: Grant,
  query: GrantQuery,
): boolean {
  if (
    toolName !== query.toolName ||
    definition !== query.definition ||
    workspace !== query.workspace
  )
    return false;
  if (scope !== 'workspace' && sessionId !== query.sessionId) return false;
  return pattern !== null && covers(pattern, query.args);
}

/**
 * Whether a value is a live grant for exactly this call, as a store answers it: with one use taken,
 * and without a pattern where that was the last one.
 */
export function isUseFor(value: unknown, query: GrantQuery, now: number): value is Grant {
  if (!isGrant(value) || value.uses < 1) return false;
  const before = {
    ...value,
    uses: value.uses - 1,
    pattern: value.pattern ?? patternFor(query.args),
  };
  return grantState(before, now) === 'live' && isFor(before, query);
}

const bySpending = (a: Grant, b: Grant): number =>
  width(a) - width(b) || compared(a.expiresAt, b.expiresAt) || compared(a.id, b.id);

function width({ pattern }: Grant): number {
  if (pattern !== null && 'exact' in pattern) return 0;
  return pattern !== null && 'any' in pattern ? 2 : 1;
}

const compared = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Oldest first, as stores list them. */
export const listed = (
  grants: readonly Grant[],
  { toolName, ended = false }: GrantFilter,
  now: number,
): readonly Grant[] =>
  grants
    .filter((grant) => toolName === undefined || grant.toolName === toolName)
    .filter((grant) => ended || grantState(grant, now) === 'live')
    .toSorted((a, b) => compared(a.grantedAt, b.grantedAt) || compared(a.id, b.id));

/** With one use taken. */
export const used = (grant: Grant): Grant => Object.freeze({ ...grant, uses: grant.uses + 1 });

/** `null` where it was revoked before. */
export const revokedBy = (grant: Grant, by: string, now: number): Grant | null =>
  grant.revoked === null
    ? Object.freeze({ ...grant, revoked: Object.freeze({ by, at: isoTime(now) }) })
    : null;

/** As it is kept: a grant that has ended needs no arguments any more. */
export function asKept(grant: Grant, now: number): Grant {
  const state = grantState(grant, now);
  return state === 'revoked' || state === 'used_up'
    ? Object.freeze({ ...grant, pattern: null, shown: null })
    : grant;
}

const FIELDS = words(`
    id decision toolName pattern definition scope sessionId workspace grantedBy grantedAt
    expiresAt maxUses uses reason shown revoked
  `);
const SCOPES: readonly GrantScope[] = ['call', 'session', 'workspace'];

/**
 * Whether a value is a grant, to the last field: what a file holds may have been written by
 * any program, or by half.
 */
export function isGrant(value: unknown): value is Grant {
  if (!hasFields(value, FIELDS)) return false;
  const texts = [
    value.id,
    value.toolName,
    value.definition,
    value.sessionId,
    value.workspace,
    value.grantedBy,
  ].every(isText);
  const names =
    (value.decision === 'allow' || value.decision === 'reject') &&
    SCOPES.some((scope) => scope === value.scope);
  const notes = [value.reason, value.shown].every(
    (note) => note === null || typeof note === 'string',
  );
  return texts && names && notes && hasTimes(value) && hasUses(value) && hasPattern(value);
}

function hasTimes({ grantedAt, expiresAt, revoked }: Record<string, unknown>): boolean {
  if (!isTime(grantedAt) || !isTime(expiresAt) || grantedAt >= expiresAt) return false;
  if (Date.parse(expiresAt) - Date.parse(grantedAt) > MAX_TTL_MS) return false;
  return (
    revoked === null ||
    (hasFields(revoked, ['by', 'at']) && isText(revoked.by) && isTime(revoked.at))
  );
}

function hasUses({ uses, maxUses, scope }: Record<string, unknown>): boolean {
  if (!isCount(uses) || (maxUses !== null && (!isCount(maxUses) || maxUses < 1 || uses > maxUses)))
    return false;
  return scope !== 'call' || maxUses === 1;
}

/**
 * Only a grant that has ended is without a pattern: otherwise one that rejects could be made to
 * vanish by half a file.
 */
const hasPattern = ({ pattern, revoked, uses, maxUses }: Record<string, unknown>): boolean =>
  pattern === null ? revoked !== null || uses === maxUses : patternProblem(pattern) === null;

/**
 * Which grants go so that another one can be kept. Those that have ended go first. A session may
 * hold as many live ones as it leaves free; beyond that it is refused with `ERR_STORE_FULL`, and a
 * person is asked again. Where many sessions fill the store, the one that holds most loses the
 * oldest grant that allows, which costs a question. Never one that rejects: a grant that allows the
 * same could come to count.
 */
export function demandGrantRoom(
  owner: string,
  kept: readonly Grant[],
  asking: Grant,
  max: number,
  now: number,
): readonly Grant[] {
  // No session can hold more than is left while the store is not half full.
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

/**
 * A frozen copy of what was added: a store takes only what it could read again, and what its caller
 * cannot widen afterwards.
 */
export function checkedGrant(owner: string, grant: unknown): Grant {
  const copy: unknown = snapshot(grant);
  if (!isGrant(copy))
    throw new AlliumError('ERR_INVALID_OPTION', `${owner}: what was added is no grant`, {
      layer: owner,
      option: 'grant',
    });
  return copy;
}
