/** How a person is asked about a call, and what they may answer. */

import type { ToolAnnotations } from './annotations.ts';
import { stateOf, type ToolCall, type Turn } from './call.ts';
import type { JsonObject } from './json.ts';

export const APPROVAL_ANSWERS = Object.freeze(['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const);
export type ApprovalDecision = (typeof APPROVAL_ANSWERS)[number];

/** One question about one call. What is shown is what is approved: `fingerprint` stands for exactly that call. */
export interface ApprovalQuestion {
  readonly id: string;
  readonly toolName: string;
  readonly callId: string;
  readonly turn: Turn;
  readonly annotations: ToolAnnotations;
  readonly fingerprint: string;
  /** The arguments, and whatever else the asking layer wants seen. */
  readonly shown: JsonObject;
  readonly options: readonly ApprovalDecision[];
  readonly expiresAt?: string;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

export interface ApprovalAnswer {
  readonly decision: ApprovalDecision;
  readonly decidedBy?: string;
  readonly reason?: string;
  /** Other arguments to run with. They are checked and asked about like the first ones. */
  readonly args?: JsonObject;
}

/** A channel to a person. `null` means that nobody can be asked here. */
export type ApprovalPrompt = (question: ApprovalQuestion) => ApprovalAnswer | null | Promise<ApprovalAnswer | null>;

/** The channels the host registered, for a layer that has to ask. */
export const promptsOf = (call: ToolCall): readonly ApprovalPrompt[] => stateOf(call).prompts;
