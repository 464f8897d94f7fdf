/** What whoever dispatches a call does for those who decide about it. A bare stack has none of it. */

import type { ApprovalDecision } from './approval.ts';
import { stateOf, type ToolCall } from './call.ts';

/** A standing approval that was found for a call. */
export interface StandingDecision {
  readonly id: string;
  readonly decision: 'allow' | 'reject';
  readonly decidedBy: string;
  readonly decidedAt: string;
}

/** Approvals and rejections that hold for further calls. */
export interface StandingApprovals {
  /** Takes one use of a standing approval for this call, or answers `null`. Rejects when it cannot be told. */
  use(call: ToolCall, definition: string): Promise<StandingDecision | null>;
  /** Keeps an answer that was given for always, for exactly this call's arguments. */
  keep(call: ToolCall, definition: string, answer: { readonly decision: ApprovalDecision; readonly by: string }): Promise<void>;
}

export interface CallServices {
  /** Stands for a tool's whole definition, with what a call does not carry; `null` for a tool that is not there. */
  readonly definitionHashOf: (toolName: string) => string | null;
  /**
   * A call with arguments that a person wrote in the model's place, without what is hidden. Where they are final they have to fit the
   * tool's own schema, because nobody looks at them again. Otherwise a sentence about what is wrong with them.
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

export const servicesOf = (call: ToolCall): CallServices | null => stateOf(call).services;
