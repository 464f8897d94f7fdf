/** Calls that wait for a person: kept when they stop, resumed once after the decision. */

import { type Conditions, type Guard, linkOf, type Refusal } from '../../core/onion/pass.ts';
import { consultationIn, type EarlierDecision } from '../../approvals/consultation.ts';
import { fail, refuse } from '../../core/onion/results.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { stateOf } from '../../core/onion/own-call.ts';
import type { ToolCall, Turn } from '../../core/contract/call.ts';
import { type Clock, isoTime } from '../../core/time/clock.ts';
import {
  AlliumError,
  describeThrown,
  type ErrorDetails,
  isAlliumError,
  oneLine,
} from '../../core/contract/errors.ts';
import { cancelled } from '../../core/onion/frame.ts';
import { snapshotObject } from '../../core/json/json.ts';
import { NO_CONDITIONS, conditionsFor } from '../../core/onion/conditions.ts';
import type { Stage } from '../../core/onion/stage.ts';
import { type ToolResult } from '../../core/contract/result.ts';
import { waitWithin } from '../../core/time/abort.ts';
import { outcomeOf } from '../../core/contract/status.ts';
import {
  alreadyResolved,
  type ApprovalChange,
  changeApproval,
  readReply,
} from '../../approvals/store/answer-approval.ts';
import type { Approval, ApprovalReply, ApprovalStore } from '../../approvals/store/approval.ts';
import { decisionOf, endedWith, takenUp } from '../../approvals/store/approval-rules.ts';
import { isYes } from '../../approvals/read-answer.ts';
import { definitionObjection } from '../../approvals/staleness.ts';
import { describeProblems, validateJson } from '../../tools/schema/validator.ts';
import type { Logger, ToolRequest } from '../../tools/tool.ts';
import type { Opening, Resumption } from '../intake/open-call.ts';
import { recordOf } from '../record.ts';
import type { ShownTools } from '../intake/shown-tools.ts';

export interface ApprovalParts {
  readonly approvals: ApprovalStore;
  readonly shown: ShownTools;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How a call goes through the stack once more. */
export interface Reentry {
  readonly request: ToolRequest;
  readonly turn: Turn;
  readonly opening: Pick<Opening, 'resumption' | 'conditions'>;
  /**
   * Which approval a process took up and died with: the call may have run, must not run again, and
   * only who records is told.
   */
  readonly lost: JsonObject | null;
}

export interface Approvals {
  /**
   * Keeps a call whose result says that it waits; other results are handed on. Inside of the layers
   * that observe, which have to hear of a question that could not be kept.
   */
  readonly stage: Stage;
  /**
   * Notes with a kept question where its call is recorded, which is known when the observing layers
   * are done.
   */
  readonly noteReceipt: (result: ToolResult) => ToolResult | Promise<ToolResult>;
  /** Takes a call up with this decision, or with one that was written down elsewhere. */
  resume(
    id: string,
    decision: object | undefined,
    reenter: (reentry: Reentry) => Promise<ToolResult>,
    signal?: AbortSignal,
  ): Promise<ToolResult>;
}

export function createApprovals(parts: ApprovalParts): Approvals {
  const { approvals: store, shown, clock } = parts;
  return {
    stage: {
      name: 'approvals',
      leave(call, result) {
        const approval = approvalOf(call, result, clock);
        return approval === null ? result : keep(store, approval, call, result);
      },
    },
    noteReceipt(result) {
      const { interruption, audit } = result;
      const receiptUri = audit?.receiptUri;
      if (interruption === undefined || receiptUri === undefined) return result;
      const { state } = linkOf(result);
      if (consultationIn(state).question === null || state.nesting > 0) return result;
      return noteReceipt(parts, interruption.id, receiptUri, result);
    },
    async resume(id, decision, reenter, signal) {
      const reply = decision === undefined ? null : readReply(decision, clock.now());
      const taken = await storeSteps(() =>
        changeApproval(store, id, clock, taking(id, reply, { shown, clock }), signal),
      ).catch(asMissing);
      if (taken instanceof ToolMissing) return reenter(withoutTool(taken, clock.now()));
      const { before, after } = taken;
      if (after.ended !== null) return reenter(lostCall(before));
      const result = await reenter(reentryOf(before, reply ?? before.reply, clock.now())).catch(
        asRaised((raised) => noteEnding(parts, after, raised, signal)),
      );
      await noteEnding(parts, after, result, signal);
      return result;
    },
  };
}

async function keep(
  store: ApprovalStore,
  approval: Approval,
  call: ToolCall,
  result: ToolResult,
): Promise<ToolResult> {
  try {
    await waitWithin(call.signal, () => store.add(approval));
    return result;
  } catch (thrown) {
    if (call.signal.aborted) return cancelled(call);
    if (isAlliumError(thrown, 'ERR_STORE_FULL')) return tooManyWait(call, thrown.details);
    return fail(call, 'exception', thrown, NOT_KEPT);
  }
}

async function noteReceipt(
  { approvals, clock, logger }: ApprovalParts,
  id: string,
  receiptUri: string,
  result: ToolResult,
): Promise<ToolResult> {
  const change: ApprovalChange = (approval, state) => {
    // Who took the call up holds this revision.
    if (state !== 'pending' && state !== 'answered') throw alreadyResolved(id);
    return Object.freeze({ ...approval, receiptUri, revision: approval.revision + 1 });
  };
  try {
    await changeApproval(approvals, id, clock, change);
  } catch (thrown) {
    logger.debug(
      { approvalId: id, error: describeThrown(thrown) },
      'where a call that waits is recorded could not be noted',
    );
  }
  return result;
}

/**
 * Whether the tool ran is on record already; a note that is missing makes a later question end as
 * unknown.
 */
async function noteEnding(
  { approvals, clock, logger }: ApprovalParts,
  approval: Approval,
  { status, executed }: ToolResult,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await waitWithin(signal, () =>
      approvals.replace(endedWith(approval, { status, executed }, clock.now())),
    );
  } catch (thrown) {
    logger.warn(
      { approvalId: approval.id, error: describeThrown(thrown) },
      'how an approved call ended could not be noted',
    );
  }
}

const tooManyWait = (call: ToolCall, { retryAfterMs }: ErrorDetails): ToolResult =>
  refuse(call, 'rate_limited', TOO_MANY_WAIT, retryAfterMs === undefined ? {} : { retryAfterMs });

const TOO_MANY_WAIT =
  'The call needs an approval, and too many calls wait for one already, so nobody was asked. It did not run. Wait until some of them are answered.';

const NOT_KEPT =
  'The call needs an approval, and the question could not be kept, so nobody can answer it. It did not run.';

/**
 * What a call that waits is kept as. `null` for calls that do not, and for those that a tool made:
 * taken up alone, they would be free of what holds that tool.
 */
function approvalOf(call: ToolCall, result: ToolResult, clock: Clock): Approval | null {
  const { interruption } = result;
  if (interruption === undefined) return null;
  const { state } = linkOf(result);
  const { question } = consultationIn(state);
  const isAlone = stateOf(call).nesting === 0 && conditionsFor(null) === null;
  if (question === null || outcomeOf(result) !== 'interrupted' || !isAlone) return null;
  const { id, kind, fingerprint, shown, options, expiresAt = null } = interruption;
  const { toolName, callId, turn } = call;
  return Object.freeze({
    id,
    kind,
    toolName,
    callId,
    fingerprint,
    shown,
    options,
    expiresAt,
    trace: state.trace,
    ...question,
    revision: 0,
    arguments: recordOf(call).opened,
    reply: null,
    taken: null,
    ended: null,
    turn: snapshotObject(turn) as unknown as Turn, // A copy of a turn is one.
    requestedAt: isoTime(clock.now()),
    earlier: recordOf(call).decisions,
    receiptUri: null,
  });
}

/**
 * One step from waiting to resumed. Throws what the caller of `resume` has to hear; nothing is
 * changed then.
 */
function taking(
  id: string,
  reply: ApprovalReply | null,
  { shown, clock }: Pick<ApprovalParts, 'shown' | 'clock'>,
): ApprovalChange {
  return (approval, state) => {
    const now = clock.now();
    if (state === 'ended' || state === 'taken' || (reply !== null && approval.reply !== null))
      throw alreadyResolved(id);
    if (state === 'lost')
      return endedWith(approval, { status: 'outcome_unknown', executed: 'unknown' }, now);
    const decided = reply ?? approval.reply;
    if (decided === null && state === 'pending')
      throw new AlliumError(
        'ERR_APPROVAL_PENDING',
        `nobody has decided about approval "${oneLine(id)}" yet`,
      );
    // Before anything is changed: a host that has the tool must still be able to take the call up.
    if (shown.get(approval.toolName) === undefined) throw new ToolMissing(approval, decided);
    if (decided?.supplied !== undefined)
      demandFit(shown, approval.toolName, decided.supplied.value);
    return takenUp(approval, decided, now);
  };
}

/** Thrown by `taking` for an approval of a tool that is not here, which stays as it is. */
class ToolMissing extends Error {
  override readonly name = 'ToolMissing';
  readonly approval: Approval;
  readonly decided: ApprovalReply | null;
  constructor(approval: Approval, decided: ApprovalReply | null) {
    super('the tool is not here');
    this.approval = approval;
    this.decided = decided;
  }
}

function asMissing(thrown: unknown): ToolMissing {
  if (thrown instanceof ToolMissing) return thrown;
  throw thrown;
}

/**
 * The call as `tool_not_found`, for the record. The guard holds where the tool comes back in
 * between: no process has resumed the call.
 */
function withoutTool({ approval, decided }: ToolMissing, now: number): Reentry {
  const { opening, ...reentry } = reentryOf(approval, decided, now);
  const refusal: Refusal = {
    status: 'tool_not_found',
    message: 'The tool was not here when the call was taken up.',
    blockedBy: 'approvals',
  };
  return {
    ...reentry,
    opening: {
      ...opening,
      conditions: guardedBy(() => refusal),
    },
  };
}

function demandFit(shown: ShownTools, toolName: string, value: JsonValue): void {
  const schema = shown.get(toolName)?.outputSchema;
  const problems = schema === undefined ? [] : validateJson(schema, value);
  if (problems.length === 0) return;
  throw new AlliumError(
    'ERR_INVALID_DECISION',
    `the result does not have the form that the tool promises: ${describeProblems(problems)}`,
  );
}

/**
 * A store that fails lets nothing run, and says no more than that: its error may speak of what it
 * keeps.
 */
async function storeSteps<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (isAlliumError(thrown) || thrown instanceof ToolMissing) throw thrown;
    throw new AlliumError(
      'ERR_APPROVALS_UNAVAILABLE',
      'the store that keeps approvals failed, so nothing was run',
      {},
      { cause: thrown },
    );
  }
}

function reentryOf(approval: Approval, reply: ApprovalReply | null, now: number): Reentry {
  const { toolName: name, callId: id, turn, trace, earlier } = approval;
  const decision = decisionOf(approval, reply, now);
  const decisions = Object.freeze([...earlier, decision]);
  const resumption: Resumption = {
    resumes: resumesOf(turn),
    decisions,
    trace,
    executedBefore: 'no',
  };
  // The rules may have changed and ask no more: a no of the approval counts all the same, and its
  // yes counts for the definition it was given for.
  const guard: Guard = isYes(decision.decision)
    ? (call) => definitionObjection(call, name, decisions)
    : () => refusalOf(decision);
  return {
    request: { name, arguments: approval.arguments ?? {}, id },
    turn,
    opening: { resumption, conditions: guardedBy(guard) },
    lost: null,
  };
}

const guardedBy = (run: Guard): Conditions =>
  Object.freeze({
    ...NO_CONDITIONS,
    checks: Object.freeze([Object.freeze({ at: 'guard', run, owner: null } as const)]),
  });

const resumesOf = ({ resumes = 0 }: Turn): number => resumes + 1;

/**
 * Said in the place of a gate that would be asked after the guards, or that does not ask any more:
 * with the reason, which the model is owed.
 */
function refusalOf({ decision, reason }: EarlierDecision): Refusal {
  if (decision === 'expired')
    return {
      status: 'consent_expired',
      message: 'Nobody decided about the call in time, so it did not run.',
      blockedBy: 'approvals',
    };
  const why = reason === undefined ? '' : `: ${withoutDot(oneLine(reason))}`;
  return {
    status: 'consent_denied',
    message: `The call was not approved${why}. Do not repeat it unchanged.`,
    blockedBy: 'approvals',
  };
}

const withoutDot = (text: string): string => text.replace(/\.+$/, '');

function lostCall(approval: Approval): Reentry {
  const { turn, trace, gate, fingerprint, requestedAt, receiptUri } = approval;
  const resumption: Resumption = {
    resumes: resumesOf(turn),
    decisions: [],
    trace,
    executedBefore: 'unknown',
  };
  const lost = {
    id: approval.id,
    gate,
    fingerprint,
    requestedAt,
    ...(receiptUri === null ? {} : { receiptUri }),
  };
  return {
    request: { name: approval.toolName, arguments: {}, id: approval.callId },
    turn,
    opening: { resumption, conditions: null },
    lost,
  };
}

/** A call that is refused by raising has ended too. */
const asRaised =
  (ended: (result: ToolResult) => Promise<void>) =>
  async (thrown: unknown): Promise<never> => {
    if (isAlliumError(thrown) && thrown.result !== undefined) await ended(thrown.result);
    throw thrown;
  };
