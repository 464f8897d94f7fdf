/** A call that waits for a decision, kept so that it can be taken up later, elsewhere, and once. */

import type { EarlierDecision } from '../../core/approval.ts';
import type { Turn } from '../../core/call.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ProcessOwner } from '../../core/process-owner.ts';
import type { Interruption } from '../../core/result.ts';
import type { ReadAnswer } from './read-answer.ts';

/** Somebody's answer, stamped. */
export interface ApprovalReply extends ReadAnswer {
  readonly decidedBy: string;
  readonly decidedAt: string;
}

/** How a call came in, and so how it is taken up: a client makes it again, `allium call --resume` does. */
export const APPROVAL_ROUTES = Object.freeze(['client', 'command'] as const);
export type ApprovalRoute = (typeof APPROVAL_ROUTES)[number];

/** What is kept of the code that approves a call: never the code itself. */
export interface ApprovalCode {
  /** The hash of the code, made with a key that is not in the approval. */
  readonly hash: string;
  /** How often a code was compared with it. */
  readonly tries: number;
}

/** An approval as it is kept. Plain JSON. */
export interface Approval {
  readonly id: string;
  /** Grows by one with every change: who wants to change an approval says which one they have seen. */
  readonly revision: number;
  readonly kind: Interruption['kind'];
  readonly toolName: string;
  readonly callId: string;
  readonly turn: Turn;
  /** The request as it came in, to begin again with; `null` once the call was taken up, because nobody needs it any more. */
  readonly arguments: JsonObject | null;
  /** Who asked, over which call, definition and rules. */
  readonly gate: string;
  readonly fingerprint: string;
  readonly definition: string;
  readonly policy: string;
  /** What a person is shown; `null` once the call was taken up. */
  readonly shown: JsonObject | null;
  readonly options: readonly string[];
  readonly requestedAt: string;
  /** `null`: it waits until somebody answers. */
  readonly expiresAt: string | null;
  /** Answers to other questions about the same call. Those that hold arguments or results lose them when the call is taken up. */
  readonly earlier: readonly EarlierDecision[];
  /** The span of the pass that ended with the question, as a W3C `traceparent`. */
  readonly trace: string | null;
  /** Where that pass is recorded. */
  readonly receiptUri: string | null;
  readonly reply: ApprovalReply | null;
  /** The process that takes the call up. */
  readonly taken: { readonly at: string; readonly owner: ProcessOwner } | null;
  /** How that ended. */
  readonly ended: {
    readonly at: string;
    readonly status: string;
    readonly executed: string;
  } | null;
  /** Absent where a program made the call: it takes the call up with `resume`. */
  readonly route?: ApprovalRoute;
  /** There while a code that a person was told can approve the call. */
  readonly code?: ApprovalCode;
}

/**
 * Where an approval stands. `answered`: somebody decided and nobody has taken the call up. `taken`: somebody has. `lost`: they died
 * with it, so that nobody knows whether the tool ran. `expired`: nobody decided, or took it up, in time.
 */
export type ApprovalState = 'pending' | 'answered' | 'expired' | 'taken' | 'lost' | 'ended';
