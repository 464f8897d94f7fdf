/**
 * What a dispatcher does for the layers that decide about a call. A bare stack has none of it.
 */

import type { ApprovalDecision } from './approval.ts';
import type { CallFields, ToolCall } from './call.ts';
import type { DefinedTool } from './layer.ts';

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

/** The tool behind a name, as one call sees it. */
export interface CallTool {
  /** The tool as it was defined, before any layer. */
  readonly definition: DefinedTool;
  /** What a call of this tool says about it. */
  readonly described: Pick<
    CallFields,
    'annotations' | 'description' | 'schema' | 'declaredExecutor'
  >;
  /**
   * Stands for the whole definition, with what a call does not carry. Throws `ERR_NOT_JSON` where
   * it has no canonical form.
   */
  readonly hash: () => string;
}

export interface CallServices {
  /**
   * The tool of this name, or `null` where there is none. A call gets the same answer for as long
   * as it is under way, also when the host replaces its tools meanwhile: what is judged, shown to a
   * person and entered is one tool.
   */
  readonly toolOf: (call: ToolCall, toolName: string) => CallTool | null;
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
