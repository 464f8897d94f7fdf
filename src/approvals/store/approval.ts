/** A call that waits for a decision, kept so that it can be taken up later, elsewhere, and once. */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { EarlierDecision } from '../consultation.ts';
import type { Turn } from '../../core/contract/call.ts';
import type { ProcessOwner } from '../../system/process-owner.ts';
import type { Interruption } from '../../core/contract/result.ts';
import type { ReadAnswer } from '../read-answer.ts';
import type { Awaitable } from '../../stores/claim-store.ts';

/** A person's answer, with its time. */
export interface ApprovalReply extends ReadAnswer {
  readonly decidedBy: string;
  readonly decidedAt: string;
}

/**
 * How a call came in, and so how it is taken up: a client makes it again, `allium call --resume`
 * does.
 */
export const APPROVAL_ROUTES = Object.freeze(['client', 'command'] as const);
/** One of `APPROVAL_ROUTES`. */
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
  /**
   * Grows by one with every change: who wants to change an approval says which one they have seen.
   */
  readonly revision: number;
  readonly kind: Interruption['kind'];
  readonly toolName: string;
  readonly callId: string;
  readonly turn: Turn;
  /**
   * The request as it came in, to begin again with; `null` once the call was taken up, because
   * nobody needs it any more.
   */
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
  /** `null`: it waits until there is an answer. */
  readonly expiresAt: string | null;
  /**
   * Answers to other questions about the same call. Those that hold arguments or results lose them
   * when the call is taken up.
   */
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
 * Where an approval stands. `answered`: a person decided and no process has resumed the call.
 * `taken`: one has. `lost`: that process died with it, so that it is not known whether the tool
 * ran. `expired`: there was no answer, or the call was not resumed, in time.
 */
export type ApprovalState = 'pending' | 'answered' | 'expired' | 'taken' | 'lost' | 'ended';

/** Which approvals `list` answers. */
export interface ApprovalFilter {
  /** Also those that have ended. @default false */
  readonly ended?: boolean;
}

/**
 * Knows nothing of the rules: it keeps approvals, and of two changes of the same revision it takes
 * one. In SQL that is `UPDATE … SET body = …, revision = revision + 1 WHERE id = … AND revision =
 * …`. A store that fails throws; its caller lets nothing run.
 */
export interface ApprovalStore {
  /** Throws when there is an approval of that id, or when what is given is none. */
  add(approval: Approval): Awaitable<void>;
  get(id: string): Awaitable<Approval | null>;
  /** Oldest first. */
  list(filter?: ApprovalFilter): Awaitable<readonly Approval[]>;
  /**
   * Puts this in the place of the revision before it. `false` where that is no longer there:
   * somebody was faster.
   */
  replace(approval: Approval): Awaitable<boolean>;
}

/** The same store with another way to add an approval, which ends with the store's own `add`. */
export const withAdd = (store: ApprovalStore, add: ApprovalStore['add']): ApprovalStore =>
  Object.freeze<ApprovalStore>({
    add,
    get: (id) => store.get(id),
    list: (filter) => store.list(filter),
    replace: (approval) => store.replace(approval),
  });

/** The same store, whose approvals say how their calls are taken up. */
export const withRoute = (store: ApprovalStore, route: ApprovalRoute): ApprovalStore =>
  withAdd(store, (approval) => store.add(Object.freeze({ ...approval, route })));
