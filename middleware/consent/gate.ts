/** From a call to a decision: what rules and deciders say, what a person says, and what becomes of edited arguments. */

import {
  APPROVAL_ANSWERS,
  type ApprovalPrompt,
  type ApprovalQuestion,
  canonicalJson,
  clockOf,
  promptsOf,
  type ToolCall,
  withCall,
} from '../../src/index.ts';
import { askPeople, type PersonsAnswer } from './ask-people.ts';
import { fingerprintOf } from './fingerprint.ts';
import { plainLine } from './plain-text.ts';
import type { StandingAnswers } from './standing-answers.ts';
import { NOT_UNDERSTOOD, readMembers, type Verdict } from './verdict.ts';

/** A decision, stamped when it was made. */
export interface Settled {
  /** Of the question, also where it did not have to be asked. */
  readonly id: string;
  readonly decision: 'approved' | 'auto' | 'denied' | 'expired';
  readonly decidedBy: string;
  readonly decidedAt: string;
  readonly reason?: string;
  /** The call it is about, with other arguments than the one that came in where somebody edited them. */
  readonly call: ToolCall;
  readonly remembered?: true;
}

/** A question that nobody could be asked. */
export interface Pending {
  readonly question: Omit<ApprovalQuestion, 'signal'>;
}

export interface GateParts {
  readonly judge: (call: ToolCall, signal: AbortSignal) => Promise<Verdict>;
  readonly prompts: readonly ApprovalPrompt[];
  readonly standing: StandingAnswers | null;
  readonly expiresMs: number | undefined;
}

/** What belongs to deciding about one call. */
export interface Decider {
  readonly id: string;
  readonly startedAt: number;
  /** Once it has aborted, nothing that still comes in counts or is kept. */
  readonly signal: AbortSignal;
}

/** Decides about one call. */
export async function passGate(call: ToolCall, decider: Decider, parts: GateParts): Promise<Settled | Pending> {
  const { id, signal } = decider;
  const verdict = await parts.judge(call, signal);
  // Nobody is asked for a caller that has gone.
  signal.throwIfAborted();
  if (verdict.decision === 'denied') return settle(id, call, verdict);
  const edited = edit(call, verdict.args);
  const again = edited === call ? verdict : await judgeEdited(edited, signal, parts);
  if (again.decision === 'denied') return settle(id, edited, again);
  if (verdict.decision !== 'ask' && again.decision !== 'ask') return settle(id, edited, verdict);
  return askAbout(edited, decider, parts, again.reason ?? verdict.reason);
}

async function askAbout(call: ToolCall, decider: Decider, parts: GateParts, why: string | undefined): Promise<Settled | Pending> {
  const { id, signal } = decider;
  const standing = parts.standing?.get(call);
  if (standing !== undefined) return { ...standing, call, remembered: true };
  const question = questionAbout(call, decider, parts, why);
  const prompts = [...new Set([...parts.prompts, ...promptsOf(call)])];
  const answer = await askPeople(question, prompts, signal);
  signal.throwIfAborted();
  if (answer === null) return { question };
  const { always, ...verdict } = readAnswer(answer);
  const edited = verdict.decision === 'denied' ? call : edit(call, verdict.args);
  const again = edited === call ? verdict : await judgeEdited(edited, signal, parts);
  const settled = settle(id, edited, again.decision === 'denied' ? again : verdict);
  // What was edited was never asked for like that, so there is nothing to ask less often.
  if (always && edited === call) parts.standing?.keep(settled);
  return settled;
}

/** Edits are decided about like any call. A person's edit needs no second question; an edit of an edit is refused. */
async function judgeEdited(call: ToolCall, signal: AbortSignal, { judge }: GateParts): Promise<Verdict> {
  const verdict = await judge(call, signal);
  signal.throwIfAborted();
  if (verdict.decision === 'denied' || edit(call, verdict.args) === call) return verdict;
  return { decision: 'denied', by: verdict.by, reason: 'the edited arguments would have been edited again' };
}

/** The call with other arguments, or the same call where they are no others. Throws for what is not JSON. */
function edit(call: ToolCall, args: object | undefined): ToolCall {
  if (args === undefined) return call;
  const edited = withCall(call, { toolArgs: args });
  return canonicalJson(edited.toolArgs) === canonicalJson(call.toolArgs) ? call : edited;
}

function readAnswer({ said, channel }: PersonsAnswer): Verdict & { readonly always: boolean } {
  const answer = readMembers(said);
  const decision = APPROVAL_ANSWERS.find((known) => known === answer?.decision);
  if (answer === null || decision === undefined) return { decision: 'denied', by: channel, reason: NOT_UNDERSTOOD, always: false };
  const { decidedBy, reason, args } = answer;
  return {
    decision: decision === 'allow_once' || decision === 'allow_always' ? 'approved' : 'denied',
    by: decidedBy ?? channel,
    always: decision === 'allow_always' || decision === 'reject_always',
    ...(reason === undefined ? {} : { reason }),
    ...(args === undefined ? {} : { args }),
  };
}

function settle(id: string, call: ToolCall, { decision, by, reason }: Verdict): Settled {
  return Object.freeze({
    id,
    // No ask gets here; one that did would be a question nobody has answered.
    decision: decision === 'ask' ? 'denied' : decision,
    decidedBy: plainLine(by, 200),
    decidedAt: new Date(clockOf(call).now()).toISOString(),
    ...(reason === undefined ? {} : { reason: plainLine(reason) }),
    call,
  });
}

function questionAbout(
  call: ToolCall,
  { id, startedAt }: Decider,
  { expiresMs, standing }: GateParts,
  why: string | undefined,
): Pending['question'] {
  const { toolName, callId, turn, annotations, toolArgs: args } = call;
  return Object.freeze({
    ...{ id, toolName, callId, turn, annotations },
    fingerprint: fingerprintOf(call),
    shown: Object.freeze({ toolName, args, ...(why === undefined ? {} : { reason: plainLine(why) }) }),
    // What would not be kept is not offered.
    options: standing === null ? ONCE : APPROVAL_ANSWERS,
    ...(expiresMs === undefined ? {} : { expiresAt: new Date(startedAt + expiresMs).toISOString() }),
  });
}

const ONCE = Object.freeze(['allow_once', 'reject_once'] as const);
