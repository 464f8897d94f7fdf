/** How a person is asked about a call, and what they may answer. */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import type { ToolAnnotations } from '../core/contract/annotations.ts';
import type { Turn } from '../core/contract/call.ts';
import { oneLine } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';

export const APPROVAL_ANSWERS = Object.freeze([
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
] as const);
export type ApprovalDecision = (typeof APPROVAL_ANSWERS)[number];

/**
 * One question about one call. What is shown is what is approved: `fingerprint` stands for exactly
 * that call.
 */
export interface ApprovalQuestion {
  readonly id: string;
  readonly toolName: string;
  readonly callId: string;
  readonly turn: Turn;
  readonly annotations: ToolAnnotations;
  readonly fingerprint: string;
  /**
   * The arguments, and whatever else the asking layer wants seen. Where answers for always are
   * offered, `always` says what they cover.
   */
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
  /** What the call comes to, in the tool's place: it does not run. */
  readonly result?: JsonValue;
  /**
   * With an answer for always: it holds for the tool whatever the arguments. Only for channels that
   * have shown the person the text of `always.anyArguments`. @default for exactly the arguments
   * that were shown
   */
  readonly anyArguments?: true;
}

/**
 * What answers for always cover, in words: a tool, which arguments, where and for how long. In
 * `shown.always` of a question.
 */
export interface AlwaysCovers {
  readonly exact: string;
  readonly anyArguments: string;
}

/** `where` says where and for how long an answer is kept. */
export const alwaysCovers = (toolName: string, where: string): AlwaysCovers => {
  const name = oneLine(toolName);
  return Object.freeze({
    exact: `${name} with exactly these arguments, ${where}`,
    anyArguments: `${name} with any arguments, ${where}`,
  });
};

/**
 * What an answer says on a button or in a list. `shown` is that of the question; without it nothing
 * is said of what `always` covers.
 */
export function answerLabel(decision: ApprovalDecision, shown: JsonObject | null): string {
  const always = shown?.always;
  const covered = isObject(always) && typeof always.exact === 'string' ? `: ${always.exact}` : '';
  if (decision === 'allow_once') return 'Allow once';
  if (decision === 'reject_once') return 'Reject once';
  return `${decision === 'allow_always' ? 'Allow always' : 'Reject always'}${covered}`;
}

/** A channel to a person. `null` means that no person can be asked here. */
export type ApprovalPrompt = (
  question: ApprovalQuestion,
) => ApprovalAnswer | null | Promise<ApprovalAnswer | null>;
