/**
 * From a call to a decision: what rules and deciders say, what a person says, and what becomes of
 * edited arguments.
 */

import { type ApprovalSaid, askApproval } from '../approvals/ask-approval.ts';
import type { ApprovalPrompt } from '../approvals/question.ts';
import { editCall } from '../approvals/edit-call.ts';
import { standingKeyOf, standingToolKeyOf } from '../approvals/fingerprint.ts';
import type { ToolCall } from '../core/contract/call.ts';
import type { Interruption, ToolResult } from '../core/contract/result.ts';
import { refuse } from '../core/onion/results.ts';
import type { Refusal } from '../core/onion/pass.ts';
import { fairTable } from '../stores/fair-table.ts';
import { type Settled, settleVerdict } from './judges.ts';
import { plainLine } from './plain-text.ts';
import type { Verdict } from './rules.ts';

/**
 * Not decided: a question that no person could be asked, or a call that ends here for another
 * reason.
 */
export type Open =
  | { readonly interruption: Interruption; readonly rule?: string }
  | { readonly ended: ToolResult };

/** What a gate decides by. */
export interface GateParts {
  readonly judge: (call: ToolCall, signal: AbortSignal) => Promise<Verdict>;
  readonly prompts: readonly ApprovalPrompt[];
  readonly standing: StandingAnswers | null;
  readonly expiresMs: number | undefined;
  /** A question without a person to ask stays open without an end. */
  readonly waitsForEver: boolean;
}

/** What belongs to deciding about one call. */
export interface Decider {
  readonly id: string;
  readonly startedAt: number;
  /** Once it has aborted, nothing that still comes in counts or is kept. */
  readonly signal: AbortSignal;
}

/** Decides about one call, of which `judged` is what rules and deciders say. */
export async function passGate(
  call: ToolCall,
  decider: Decider,
  parts: GateParts,
  judged: Verdict | Promise<Verdict>,
): Promise<Settled | Open> {
  const { id, signal } = decider;
  const verdict = await judged;
  // No person is asked once the caller has left.
  signal.throwIfAborted();
  if (verdict.decision === 'denied') return settleVerdict(id, call, verdict);
  const edited = editCall(call, verdict.args);
  if ('result' in edited) return { ended: edited.result };
  const again = edited.call === call ? verdict : await judgeEdited(edited.call, signal, parts);
  if (again.decision === 'denied') return settleVerdict(id, edited.call, again);
  if (verdict.decision !== 'ask' && again.decision !== 'ask')
    return settleVerdict(id, edited.call, verdict);
  // Either may have asked: of a call that was allowed as it came, the edited one is asked about.
  const asking = again.decision === 'ask' ? again : verdict;
  const outcome = await askAbout(edited.call, decider, parts, again.reason ?? verdict.reason);
  return asking.rule === undefined || 'ended' in outcome || outcome.rule !== undefined
    ? outcome
    : { ...outcome, rule: asking.rule };
}

async function askAbout(
  call: ToolCall,
  decider: Decider,
  parts: GateParts,
  why: string | undefined,
): Promise<Settled | Open> {
  const { id, startedAt, signal } = decider;
  const { prompts, standing, expiresMs, waitsForEver } = parts;
  const remembered = standing?.get(call);
  if (remembered !== undefined) return { ...remembered, call, remembered: true };
  const { toolName, toolArgs: args } = call;
  const outcome = await askApproval(call, {
    gate: 'consent',
    id,
    prompts,
    signal,
    shown: { toolName, args, ...(why === undefined ? {} : { reason: plainLine(why) }) },
    ...(standing === null ? {} : { keepsAnswers: true }),
    ...(expiresMs === undefined
      ? {}
      : { expiresAt: new Date(startedAt + expiresMs).toISOString() }),
    ...(waitsForEver ? { expiresAt: null } : {}),
  });
  if ('interruption' in outcome) return outcome;
  if ('refusal' in outcome) return { ended: refusedBy(call, outcome.refusal) };
  return answered(call, outcome.said, signal, parts);
}

const refusedBy = (call: ToolCall, { status, message }: Refusal): ToolResult =>
  refuse(call, status, message);

/** What a person said, with what they edited decided about once more. */
async function answered(
  call: ToolCall,
  said: ApprovalSaid,
  signal: AbortSignal,
  parts: GateParts,
): Promise<Settled | Open> {
  const { id, decision, by, reason, always } = said;
  const edited = decision === 'approved' ? editCall(call, said.args) : { call };
  if ('result' in edited) return { ended: edited.result };
  const again = edited.call === call ? null : await judgeEdited(edited.call, signal, parts);
  if (again?.decision === 'denied') return settleVerdict(id, edited.call, again);
  const settled = {
    ...settleVerdict(id, edited.call, {
      decision,
      by,
      ...(reason === undefined ? {} : { reason }),
    }),
    ...givenBy(said),
  };
  // What was edited was never asked for like that, so there is nothing to ask less often.
  if (always && edited.call === call && said.supplied === undefined)
    parts.standing?.keep(settled, said.anyArguments === true);
  return settled;
}

/** What a decision brings along that only a person's can. */
const givenBy = ({ at, standing, supplied, earlier }: ApprovalSaid): Partial<Settled> => ({
  decidedAt: at,
  ...(standing === true ? { remembered: standing } : {}),
  ...(supplied === undefined ? {} : { supplied }),
  ...(earlier === undefined ? {} : { earlier }),
});

/**
 * Edits are decided about like any call. A person's edit needs no second question; an edit of an
 * edit is refused.
 */
async function judgeEdited(
  call: ToolCall,
  signal: AbortSignal,
  { judge }: GateParts,
): Promise<Verdict> {
  const verdict = await judge(call, signal);
  signal.throwIfAborted();
  if (verdict.decision === 'denied') return verdict;
  const edited = editCall(call, verdict.args);
  if ('call' in edited && edited.call === call) return verdict;
  return {
    decision: 'denied',
    by: verdict.by,
    reason: 'the edited arguments would have been edited again',
  };
}

/** Answers that count again, by hashes of what was shown. */
export interface StandingAnswers {
  get(call: ToolCall): Omit<Settled, 'call'> | undefined;
  keep(settled: Settled, anyArguments: boolean): void;
  forget(): void;
}

const MAX_ANSWERS = 1000;

/** What was said, and the key of what would count in its place. */
interface Kept {
  readonly answer: Omit<Settled, 'call'>;
  readonly toolKey: string;
}

/**
 * Keeps hashes, never arguments. Of the session with most answers the one not used for longest goes
 * first, and is asked about again. With a no about exactly some arguments goes what was said about
 * any: a yes would come to cover them.
 */
export function createStandingAnswers(): StandingAnswers {
  let answers = fairTable<Kept>();
  const use = (key: string, { turn }: ToolCall): Omit<Settled, 'call'> | undefined => {
    const kept = answers.get(key);
    if (kept !== undefined) answers.set(key, turn.sessionId, kept);
    return kept?.answer;
  };
  const forgetOne = (): void => {
    const loser = answers.loser();
    if (loser === null) return;
    answers.delete(loser.key);
    if (loser.value.answer.decision === 'denied') answers.delete(loser.value.toolKey);
  };
  return {
    // What was said about exactly these arguments counts before what was said about any.
    get: (call) => use(standingKeyOf(call), call) ?? use(standingToolKeyOf(call), call),
    keep({ call, ...answer }, anyArguments) {
      const toolKey = standingToolKeyOf(call);
      answers.set(anyArguments ? toolKey : standingKeyOf(call), call.turn.sessionId, {
        answer,
        toolKey,
      });
      if (answers.size > MAX_ANSWERS) forgetOne();
    },
    forget: () => void (answers = fairTable<Kept>()),
  };
}
