/**
 * The one place where people are asked about a call: for layers that decide, and for the permission
 * check.
 */

import type { Refusal } from '../core/onion/pass.ts';
import { consultationOf, type EarlierDecision, promptsOf, servicesOf } from './consultation.ts';
import {
  alwaysCovers,
  APPROVAL_ANSWERS,
  type ApprovalPrompt,
  type ApprovalQuestion,
} from './question.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { clockOf, offTheClock } from '../core/onion/own-call.ts';
import { oneLine } from '../core/contract/errors.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { isoTime } from '../core/time/clock.ts';
import type { Interruption } from '../core/contract/result.ts';
import { objectionToAsking } from '../core/onion/conditions.ts';
import { askPeople, type PersonsAnswer } from './ask-people.ts';
import { definitionHashOf, fingerprintOf } from './fingerprint.ts';
import { openUntil } from './refusals.ts';
import { isForAlways, isYes, readAnswer, type ReadAnswer } from './read-answer.ts';
import { staleness } from './staleness.ts';

/** What a layer or a gate wants decided. */
export interface ApprovalAsk {
  /** Who asks: an answer that comes later is found again under this name. */
  readonly gate: string;
  /** Of the question. */
  readonly id: string;
  /** @default 'approval_required' */
  readonly kind?: Interruption['kind'];
  readonly shown: JsonObject;
  /** Channels beside those of the host. */
  readonly prompts?: readonly ApprovalPrompt[];
  /** Digest of the rules that made it ask; an approval under other rules does not count. */
  readonly policy?: string;
  /**
   * Until when the question stays open; `null` for ever. @default one day from when the call began
   * to wait
   */
  readonly expiresAt?: string | null;
  /** The gate keeps answers for always itself. @default the host's grants, if it has any */
  readonly keepsAnswers?: boolean;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** What a person answered, now or earlier. */
export interface ApprovalSaid extends Pick<ReadAnswer, 'reason' | 'args' | 'supplied'> {
  readonly id: string;
  readonly decision: 'approved' | 'denied' | 'expired';
  readonly by: string;
  readonly at: string;
  readonly always: boolean;
  /** For always, whatever the arguments. */
  readonly anyArguments?: true;
  /** The answer was given for always, earlier. */
  readonly standing?: true;
  /** The question was put in an earlier pass over this call. */
  readonly earlier?: EarlierDecision;
}

/** An answer; a question for later; or why the question was not put. */
export type ApprovalOutcome =
  | { readonly said: ApprovalSaid }
  | { readonly interruption: Interruption }
  | { readonly refusal: Refusal };

/**
 * Looks for an answer: from an earlier pass, then a standing one, then from people, on all channels
 * at once. Without any the call has to wait. It fails closed: an answer that cannot be understood
 * is a no, and one about anything but exactly this call does not count. Rejects when a channel
 * failed and there was no answer, and for arguments that have no fingerprint. While people are
 * asked the call gives up its place among those that run at a time; `decideWithin` takes one again.
 */
export async function askApproval(call: ToolCall, ask: ApprovalAsk): Promise<ApprovalOutcome> {
  const earlier = takeEarlier(call, ask.gate);
  if (earlier !== null) return fromEarlier(call, ask, earlier);
  const standing = await standingAnswer(call);
  ask.signal.throwIfAborted();
  if (standing !== null) return { said: standing };
  const refusal = objectionToAsking(call);
  if (refusal !== null) return { refusal };
  const { signal, ...question } = questionAbout(call, ask);
  const prompts = [...new Set([...(ask.prompts ?? []), ...promptsOf(call)])];
  // A person's thinking time must not hold up other calls.
  if (prompts.length > 0) servicesOf(call)?.stepAside(call);
  const answer = await offTheClock(call, () => askPeople(question, prompts, signal));
  signal.throwIfAborted();
  return answer === null
    ? { interruption: leftOpen(call, ask, question) }
    : { said: await read(call, ask, answer) };
}

/**
 * Decisions are used up in the order in which their questions came up: one yes does not answer two
 * questions.
 */
function takeEarlier(call: ToolCall, gate: string): EarlierDecision | null {
  const consultation = consultationOf(call);
  const { decisions } = consultation;
  const found = decisions.find((decision) => decision.gate === gate) ?? null;
  if (found !== null) consultation.decisions = decisions.filter((one) => one !== found);
  return found;
}

async function fromEarlier(
  call: ToolCall,
  { policy = '', keepsAnswers }: ApprovalAsk,
  earlier: EarlierDecision,
): Promise<ApprovalOutcome> {
  const refusal = staleness(call, policy, earlier);
  if (refusal !== null) return { refusal };
  const { id, decidedBy: by, decidedAt: at } = earlier;
  const said = saidBy(earlier, { id, by, at, earlier });
  if (said.always && keepsAnswers !== true) await keepStanding(call, said);
  return { said };
}

/** A store that fails allows nothing: people are asked as if there were no grant. */
async function standingAnswer(call: ToolCall): Promise<ApprovalSaid | null> {
  const found = await servicesOf(call)
    ?.standing?.use(call, definitionHashOf(call))
    .catch(() => null);
  if (found === undefined || found === null) return null;
  const { id, decision, decidedBy: by, decidedAt: at, reason } = found;
  const said = {
    id,
    by,
    at,
    always: false,
    standing: true,
    ...(reason === undefined ? {} : { reason }),
  } as const;
  return { ...said, decision: decision === 'allow' ? 'approved' : 'denied' };
}

function questionAbout(
  call: ToolCall,
  { id, shown, expiresAt, keepsAnswers, signal }: ApprovalAsk,
): ApprovalQuestion {
  const { toolName, callId, turn, annotations } = call;
  const where = keepsAnswers === true ? WHILE_IT_RUNS : (servicesOf(call)?.standing?.holds ?? null);
  return Object.freeze({
    id,
    toolName,
    callId,
    turn,
    annotations,
    signal,
    fingerprint: fingerprintOf(call),
    // What would not be kept is not offered, and what is kept is said in words before anybody
    // agrees to it.
    shown: Object.freeze(
      where === null ? { ...shown } : { ...shown, always: { ...alwaysCovers(toolName, where) } },
    ),
    options: where === null ? ONCE : APPROVAL_ANSWERS,
    ...(expiresAt === undefined || expiresAt === null ? {} : { expiresAt }),
  });
}

/** Where a gate keeps answers itself, it does so in memory. */
const WHILE_IT_RUNS = 'in this session, for as long as this program runs';

const ONCE = Object.freeze(['allow_once', 'reject_once'] as const);

function leftOpen(
  call: ToolCall,
  { gate, kind = 'approval_required', policy = '', expiresAt }: ApprovalAsk,
  question: Omit<ApprovalQuestion, 'signal'>,
) {
  const { id, fingerprint, shown, options } = question;
  consultationOf(call).question = Object.freeze({
    gate,
    definition: definitionHashOf(call),
    policy,
  });
  return Object.freeze({ kind, id, fingerprint, shown, options, ...openUntil(call, expiresAt) });
}

/** The reason on record where what a channel answered could not be read. */
export const NOT_UNDERSTOOD = 'the answer was not understood';

async function read(
  call: ToolCall,
  { id, keepsAnswers }: ApprovalAsk,
  { said, channel }: PersonsAnswer,
): Promise<ApprovalSaid> {
  const at = isoTime(clockOf(call).now());
  const answer = readAnswer(said);
  if (answer === null)
    return { id, decision: 'denied', by: channel, at, always: false, reason: NOT_UNDERSTOOD };
  const by = oneLine(answer.decidedBy ?? channel);
  // The model is told why: on one line, and not at any length.
  const { reason } = answer;
  const told = reason === undefined ? answer : { ...answer, reason: oneLine(reason) };
  const read = saidBy(told, { id, by, at });
  if (read.always && keepsAnswers !== true) await keepStanding(call, read);
  return read;
}

/** What an answer means, with whose it is and when it was given. */
function saidBy(
  answer: Pick<EarlierDecision, 'decision' | 'reason' | 'args' | 'supplied' | 'anyArguments'>,
  by: Pick<ApprovalSaid, 'id' | 'by' | 'at' | 'earlier'>,
): ApprovalSaid {
  const { decision, reason, args, supplied, anyArguments } = answer;
  const word = isYes(decision) ? 'approved' : 'denied';
  return {
    ...by,
    decision: decision === 'expired' ? decision : word,
    always: isForAlways(decision),
    ...(reason === undefined ? {} : { reason }),
    ...(args === undefined ? {} : { args }),
    ...(supplied === undefined ? {} : { supplied }),
    ...(anyArguments === undefined ? {} : { anyArguments }),
  };
}

/**
 * What was edited was never asked for like that, so there is nothing to ask less often. An answer
 * that cannot be kept holds once.
 */
async function keepStanding(
  call: ToolCall,
  { decision, by, reason, args, supplied, anyArguments }: ApprovalSaid,
): Promise<void> {
  const standing = servicesOf(call)?.standing ?? null;
  if (standing === null || args !== undefined || supplied !== undefined) return;
  // What a store throws may speak of the arguments.
  const failed = () =>
    process.emitWarning(
      'an answer for always could not be kept, and holds for one call only',
      'AlliumWarning',
    );
  const answer = {
    decision: decision === 'approved' ? ('allow_always' as const) : ('reject_always' as const),
    by,
    ...(reason === undefined ? {} : { reason }),
    ...(anyArguments === undefined ? {} : { anyArguments }),
  };
  await standing.keep(call, definitionHashOf(call), answer).catch(failed);
}
