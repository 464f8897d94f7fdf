/**
 * The conditions a call goes on under: what layers further out have laid down for everything below
 * them.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type ApprovedCall,
  type Check,
  type Conditions,
  type Frame,
  type Gate,
  type Guard,
  type HashValue,
  type Refusal,
  type Rewrite,
  slotOf,
  type SuppliedResult,
} from './pass.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { ownCall, recreate } from './own-call.ts';
import { type ToolCall } from '../contract/call.ts';
import { changedPaths } from '../json/changed-paths.ts';
import { AlliumError, isAlliumError } from '../contract/errors.ts';
import { hashCanonical } from '../json/hash-canonical.ts';
import { freezeParsed, hashBy, isObject } from '../json/json.ts';
import { statusRow } from '../contract/status.ts';

export const NO_CONDITIONS: Conditions = Object.freeze({
  checks: Object.freeze([]),
  policy: null,
  approved: null,
  supplied: null,
  hash: null,
});

export const conditionsOf = (call: ToolCall): Conditions =>
  slotOf(call).conditions ?? NO_CONDITIONS;

/** The same call under further conditions. */
export function withConditions(call: ToolCall, changes: Partial<Conditions>): ToolCall {
  const own = ownCall(call);
  return recreate(own, { conditions: changedConditions(conditionsOf(own), changes) });
}

/**
 * Member by member: every call passes here some times, and to spread what is frozen costs several
 * times as much.
 */
const changedConditions = (conditions: Conditions, changes: Partial<Conditions>): Conditions =>
  Object.freeze({
    checks: changes.checks ?? conditions.checks,
    policy: changes.policy === undefined ? conditions.policy : changes.policy,
    approved: changes.approved === undefined ? conditions.approved : changes.approved,
    supplied: changes.supplied === undefined ? conditions.supplied : changes.supplied,
    hash: changes.hash === undefined ? conditions.hash : changes.hash,
  });

const withCheck = (call: ToolCall, check: Check): ToolCall =>
  withConditions(call, {
    checks: Object.freeze([...conditionsOf(call).checks, Object.freeze(check)]),
  });

function demandFunction(name: string, run: unknown): void {
  if (typeof run !== 'function')
    throw new AlliumError('ERR_INVALID_CALL', `${name} takes a function`);
}

/**
 * Adds a check that is made right before the executor, and before that of every call the tool makes
 * itself. For layers that allow or forbid: what other layers do to the call in between cannot get
 * past it.
 */
export function guardCall(call: ToolCall, guard: Guard): ToolCall {
  demandFunction('guardCall', guard);
  return withCheck(call, { at: 'guard', run: guard, owner: null });
}

/**
 * Adds a check that is made right before the executor and may wait, below everything else. One that
 * is there already is not asked twice. Of a call that it turns away, records say that `owner` did.
 */
export function gateCall(call: ToolCall, gate: Gate, owner?: string): ToolCall {
  demandFunction('gateCall', gate);
  const check: Check = { at: 'gate', run: gate, owner: owner ?? null };
  return isIn(conditionsOf(call).checks, check) ? call : withCheck(call, check);
}

/** Adds a check that is made before a layer below puts a question about this call to a person. */
export function limitAsking(call: ToolCall, guard: Guard): ToolCall {
  demandFunction('limitAsking', guard);
  return withCheck(call, { at: 'ask', run: guard, owner: null });
}

/**
 * Why no person may be asked about this call, or `null`. To be asked once for each question, right
 * before it is put.
 */
export const objectionToAsking = (call: ToolCall): Refusal | null =>
  firstRefusal(conditionsOf(call).checks, 'ask', call);

/** The gates of a call, outermost first. */
export const gatesOf = (call: ToolCall): readonly (Check & { readonly at: 'gate' })[] =>
  conditionsOf(call).checks.filter((check) => check.at === 'gate');

/** The guards of a call, outermost first. */
export const guardsOf = (call: ToolCall): readonly Guard[] =>
  conditionsOf(call).checks.flatMap((check) => (check.at === 'guard' ? check.run : []));

/**
 * Binds an approval to exactly this call. Layers below that declare `rewrites` may change its
 * arguments, and what they changed is recorded; any other difference keeps the call from running.
 */
export function approveCall(call: ToolCall): ToolCall {
  const own = ownCall(call);
  const { toolName, toolArgs: args } = own;
  const { approved: before } = conditionsOf(own);
  // A second yes does not stand for the first: what the first one did not cover stays uncovered.
  if (before !== null && !covers(before, own)) return own;
  slotOf(own).state.approvedArgs = args;
  return withConditions(own, {
    approved: Object.freeze({
      toolName,
      args,
      covered: args,
      rewrites: before?.rewrites ?? NO_REWRITES,
    }),
  });
}

const NO_REWRITES: readonly Rewrite[] = Object.freeze([]);

/**
 * Right before the executor, where a person wrote other arguments: what they saw last is what they
 * approved.
 */
export function approveEdited(call: ToolCall, edited: ToolCall): ToolCall {
  const { toolName, toolArgs: args } = edited;
  const { approved } = conditionsOf(call);
  slotOf(edited).state.approvedArgs = args;
  return withConditions(edited, {
    approved: Object.freeze({
      toolName,
      args,
      covered: args,
      rewrites: approved?.rewrites ?? NO_REWRITES,
    }),
  });
}

/**
 * Answers the call with this value where the executor would be entered. Everything that guards the
 * executor guards it too.
 */
export const supplyResult = (call: ToolCall, supplied: SuppliedResult): ToolCall =>
  withConditions(call, { supplied });

const covers = (approved: ApprovedCall, call: ToolCall): boolean =>
  call.toolName === approved.toolName && sameArgs(call.toolArgs, approved.covered);

/**
 * Makes `hash` the one that everything below uses for its records, so that receipts and spans can
 * be joined.
 */
export const hashWith = (call: ToolCall, hash: HashValue): ToolCall =>
  withConditions(call, { hash });

/**
 * The hash of a value of this call for a record: `sha256:…`, or what a layer outside chose. Worked
 * out once for each snapshot.
 */
export const hashOf = (call: ToolCall, value: JsonValue): string =>
  hashBy(conditionsOf(call).hash ?? hashCanonical, value);

/**
 * What a call handed to `next` may run under, given the call its layer got. A declared rewrite is
 * noted on the handed call itself: its layer made it, and could hand it on as it is once more.
 */
export function followApproval({ layer, call }: Frame, handed: ToolCall): ToolCall {
  const passed = reattach(conditionsOf(call), handed);
  const conditions = conditionsOf(passed);
  const { approved } = conditions;
  if (approved === null || passed.toolArgs === approved.covered || layer.rewrites !== true)
    return passed;
  // A change on top of an undeclared one is not covered either.
  if (!sameArgs(call.toolArgs, approved.covered)) return passed;
  const paths = changedPaths(call.toolArgs, passed.toolArgs);
  const { toolName, args, rewrites } = approved;
  slotOf(passed).conditions = changedConditions(conditions, {
    approved: Object.freeze({
      toolName,
      args,
      covered: passed.toolArgs,
      rewrites:
        paths.length === 0 ? rewrites : freezeParsed([...rewrites, { layer: layer.name, paths }]),
    }),
  });
  return passed;
}

/**
 * A layer may pass `next` an older copy of the call, made before an outer layer added its checks.
 * Put back every check, the approval and the result that the copy lacks, so that keeping an old
 * call cannot shake them off.
 */
function reattach(laidDown: Conditions, call: ToolCall): ToolCall {
  const { checks, policy, approved, supplied } = conditionsOf(call);
  const hasChecks = hasAll(checks, laidDown.checks);
  const isComplete =
    hasChecks &&
    (approved !== null || laidDown.approved === null) &&
    (supplied !== null || laidDown.supplied === null);
  if (isComplete) return call;
  return withConditions(call, {
    checks: joined(laidDown.checks, checks),
    policy: hasChecks ? policy : laidDown.policy,
    approved: approved ?? laidDown.approved,
    supplied: supplied ?? laidDown.supplied,
  });
}

const isIn = (checks: readonly Check[], { at, run }: Check): boolean =>
  checks.some((other) => other.run === run && other.at === at);

/** A call that was handed down has the very list its layer got. */
const hasAll = (checks: readonly Check[], laidDown: readonly Check[]): boolean =>
  checks === laidDown || laidDown.every((check) => isIn(checks, check));

/** Both lists, the first one in front, no check twice. */
const joined = (first: readonly Check[], second: readonly Check[]): readonly Check[] =>
  Object.freeze([...first, ...second.filter((check) => !isIn(first, check))]);

/**
 * Whether the executor may be entered with this call: the approval still fits, and no guard
 * objects.
 */
export function breachOf(call: ToolCall, { approved, checks }: Conditions): Refusal | null {
  return approved !== null && !covers(approved, call)
    ? NOT_APPROVED
    : firstRefusal(checks, 'guard', call);
}

function firstRefusal(
  checks: readonly Check[],
  at: 'guard' | 'ask',
  call: ToolCall,
): Refusal | null {
  for (const check of checks) {
    const refusal = check.at === at ? verdictOf(check.run, call) : null;
    if (refusal !== null) return refusal;
  }
  return null;
}

const NOT_APPROVED: Refusal = Object.freeze({
  status: 'consent_denied',
  message:
    'The call was changed after it was approved, so it did not run. Ask for the call again as it should be.',
  blockedBy: 'consent',
});

function verdictOf(guard: Guard, call: ToolCall): Refusal | null {
  try {
    const verdict: unknown = guard(call);
    // The promise of an async guard is not waited for: its rejection must be handled here.
    if (verdict instanceof Promise) verdict.catch(() => {});
    return verdict === null || isRefusal(verdict) ? verdict : undecided('its guard gave no answer');
  } catch (thrown) {
    return undecided(isAlliumError(thrown) ? thrown.code : 'its guard failed');
  }
}

const undecided = (why: string): Refusal => ({
  status: 'permission_denied',
  message: `Whether the call is allowed could not be decided (${why}), so it did not run.`,
  blockedBy: 'guard',
});

/**
 * An async guard answers with a promise, and a forgotten return with nothing: neither of them
 * allows.
 */
function isRefusal(verdict: unknown): verdict is Refusal {
  if (!isObject(verdict)) return false;
  const { status, message, blockedBy } = verdict;
  const isStatus = typeof status === 'string' && status !== '' && statusRow(status)?.ok !== true;
  return isStatus && typeof message === 'string' && typeof blockedBy === 'string';
}

/** By structure and not by canonical text, which half a surrogate pair does not have. */
const sameArgs = (a: JsonObject, b: JsonObject): boolean =>
  a === b || changedPaths(a, b).length === 0;

const running = new AsyncLocalStorage<Conditions>();
/**
 * Every await costs more inside a storage, and asking it costs something too: it is left alone
 * until a call with guards is run.
 */
let inUse = false;

/** Runs an executor so that every call it makes, at once or later, is held to these conditions. */
export function runUnder<T>(conditions: Conditions, execute: () => T): T {
  inUse = true;
  return running.run(inherited(conditions), execute);
}

/** What a new call is held to: what it was given, and what the tool is held to that makes it. */
export function conditionsFor(given: Conditions | null): Conditions | null {
  const outer = inUse ? running.getStore() : undefined;
  if (outer === undefined) return given;
  if (given === null) return outer;
  return Object.freeze({ ...given, checks: joined(outer.checks, given.checks) });
}

/** Guards hold for calls made inside; an approval was given for one call only. */
export const inherited = ({ checks, policy }: Conditions): Conditions =>
  Object.freeze({ checks, policy, approved: null, supplied: null, hash: null });
