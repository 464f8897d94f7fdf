/**
 * What approvals keep with the pass of a call: the channels to people, what people decided in
 * earlier passes, and the question that this pass leaves open. The core does not look inside.
 */

import type { Pass } from '../core/onion/pass.ts';
import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { stateOf } from '../core/onion/own-call.ts';
import type { ToolCall } from '../core/contract/call.ts';
import type { ApprovalDecision, ApprovalPrompt } from './question.ts';

export interface Consultation {
  /** The channels on which the host can ask a person. */
  readonly prompts: readonly ApprovalPrompt[];
  /** `null` in a stack without a dispatcher. */
  readonly services: CallServices | null;
  /** What was decided in earlier passes and not yet used in this one, oldest first. */
  decisions: readonly EarlierDecision[];
  /** The question that this pass ends with. */
  question: OpenQuestion | null;
}

const NONE: readonly never[] = Object.freeze([]);

/** What a call begins with. */
export const openConsultation = (
  given: {
    readonly [Name in 'prompts' | 'services' | 'decisions']?: Consultation[Name] | undefined;
  } = {},
): Consultation => ({
  prompts: given.prompts ?? NONE,
  services: given.services ?? null,
  decisions: given.decisions ?? NONE,
  question: null,
});

export const consultationOf = (call: ToolCall): Consultation => consultationIn(stateOf(call));

/** Only this file makes them. */
export const consultationIn = (pass: Pass): Consultation =>
  (pass.consultation ??= openConsultation()) as Consultation;

export const servicesOf = (call: ToolCall): CallServices | null => consultationOf(call).services;

/** The channels the host registered, for a layer that has to ask. */
export const promptsOf = (call: ToolCall): readonly ApprovalPrompt[] =>
  consultationOf(call).prompts;

/**
 * How long a person took to decide about a call that was resumed. Codes and times; nothing
 * that a person wrote.
 */
export interface ApprovalWait {
  /** Of the approval. */
  readonly id: string;
  /** Who asked. */
  readonly gate: string;
  readonly decision: string;
  readonly requestedAt: string;
  readonly decidedAt: string;
}

/**
 * The wait that this pass over the call follows; `null` for a first one. To be asked on the way in:
 * gates use decisions up.
 */
export function approvalWaitOf(call: ToolCall): ApprovalWait | null {
  const last = consultationOf(call).decisions.at(-1);
  if (last === undefined) return null;
  const { id, gate, decision, requestedAt, decidedAt } = last;
  return Object.freeze({ id, gate, decision, requestedAt, decidedAt });
}

/** What became of a question that was put in an earlier pass over the same call. */
export interface EarlierDecision {
  /** Of the approval. */
  readonly id: string;
  /**
   * Who asked. A decision is found again under this name, in the order in which the questions came
   * up.
   */
  readonly gate: string;
  readonly fingerprint: string;
  /** Digests of the tool's definition and of the rules that made the gate ask. */
  readonly definition: string;
  readonly policy: string;
  /** `expired`: no answer came in time. */
  readonly decision: ApprovalDecision | 'expired';
  readonly decidedBy: string;
  readonly decidedAt: string;
  readonly requestedAt: string;
  readonly reason?: string;
  readonly args?: JsonObject;
  /** In an object, because `null` is an answer too. */
  readonly supplied?: { readonly value: JsonValue };
  readonly anyArguments?: true;
  /** Where the pass that ended with the question is recorded. */
  readonly receiptUri?: string;
}

/** A question as it has to be known to find its answer again later. */
export interface OpenQuestion {
  readonly gate: string;
  readonly definition: string;
  readonly policy: string;
}

/** A standing approval that was found for a call. */
export interface StandingDecision {
  readonly id: string;
  readonly decision: 'allow' | 'reject';
  readonly decidedBy: string;
  readonly decidedAt: string;
  readonly reason?: string;
}

/** An answer to be kept. */
export interface StandingAnswer {
  readonly decision: ApprovalDecision;
  readonly by: string;
  readonly reason?: string;
  readonly anyArguments?: true;
}

/** Approvals and rejections that hold for further calls. */
export interface StandingApprovals {
  /**
   * Takes one use of a standing approval for this call, or answers `null`. Rejects when it cannot
   * be told.
   */
  use(call: ToolCall, definition: string): Promise<StandingDecision | null>;
  /** Where and for how long an answer for always is kept, in words. */
  readonly holds: string;
  /**
   * Keeps an answer that was given for always: for exactly this call's arguments, or for any where
   * the person was shown that.
   */
  keep(call: ToolCall, definition: string, answer: StandingAnswer): Promise<void>;
}

/** What a dispatcher does for the layers that decide about a call. */
export interface CallServices {
  /**
   * A call with arguments that a person wrote in the model's place, without what is hidden. Where
   * they are final they have to fit the tool's own schema, because no layer looks at them again.
   * Otherwise a sentence about what is wrong with them.
   */
  readonly admit: (call: ToolCall, args: object, areFinal: boolean) => ToolCall | string;
  /** What the tool says it is about to do with these arguments. Rejects when it cannot say. */
  readonly proposalsOf: (call: ToolCall) => Promise<readonly unknown[]>;
  readonly standing: StandingApprovals | null;
  /** Lets others go ahead while a person is asked. */
  readonly stepAside: (call: ToolCall) => void;
  /** Waits for the places the call has given up, as long as its caller does. */
  readonly comeBack: (call: ToolCall) => Promise<void>;
}
