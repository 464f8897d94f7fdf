/** What belongs to one call while it is under way: the audit record, the clock, and what is known to have run. */

import type { ToolAnnotations } from './annotations.ts';
import type { AuditRecord, LayerEntry } from './audit.ts';
import type { ApprovalPrompt, EarlierDecision, OpenQuestion } from './approval.ts';
import type { ToolCall } from './call.ts';
import { type Clock, systemClock } from './clock.ts';
import { type CreateId, randomId } from './ids.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Executed } from './status.ts';
import type { DefinedTool, ToolLayer } from './layer.ts';
import type { ToolResult } from './result.ts';
import type { CallServices } from './services.ts';
import type { AbortSource } from './signal.ts';
import type { Onward } from './steps.ts';
import type { HashValue } from './terms.ts';
import type { CallEnding } from './when-ended.ts';

/** One layer at work on one call. */
export interface Frame {
  readonly layer: ToolLayer;
  /** Writes a line only when it answered the call itself, or has something to say on it. */
  readonly silent: boolean;
  readonly call: ToolCall;
  readonly parent: Frame | null;
  readonly startedAt: number;
  /** The call handed to a `next` that has not settled. */
  sent: ToolCall | null;
  /** What `next` gave the layer last. */
  promise: Promise<ToolResult> | null;
  /** The layer returned just that promise and is left when it is kept. */
  handsOn: boolean;
  /** What is left to do when it is kept. */
  finish: Onward['leave'] | null;
  /** What `next` answered last. */
  answered: ToolResult | null;
  closed: boolean;
  /** Status and details the layer gave its own audit line. */
  line: Partial<LayerEntry> | null;
}

/** How many layers stand outside this one. */
export const depthOf = (frame: Frame): number =>
  frame.parent === null ? 0 : depthOf(frame.parent) + 1;

export interface CallState {
  clock: Clock;
  createId: CreateId;
  /** How many tools deep this call was made from inside another one. */
  readonly nesting: number;
  /** What whoever dispatched the call keeps with it. */
  readonly host: object | null;
  /** The tool as it was defined, before any layer; `null` where whoever made the call did not say. */
  readonly definition: DefinedTool | null;
  /** Cleaners of the stack; every audit string passes them before anybody reads it. */
  scrubs: readonly ((text: string) => string)[];
  /** What the tool says about itself, to open the audit record with. */
  annotations: ToolAnnotations;
  /** Live while the call is under way, frozen when it ends. */
  audit: AuditRecord | undefined;
  /** Which depth last wrote an audit key, so that the outer layer keeps the last word. */
  writers: Map<string, number> | null;
  /** Who may take the call back for the host. A layer that passes on another signal cannot cut the caller off. */
  abort: AbortSource | null;
  executed: Executed;
  /** The executor is at work: what is built now is its answer. */
  running: boolean;
  /** Set once a layer has returned without waiting for `next`; only then must frames ask whether anybody listens. */
  abandoned: boolean;
  /** The first result that was marked to be thrown. No outer layer can take that back. */
  raised: ToolResult | null;
  active: boolean;
  /** The channels on which the host can ask a person. */
  readonly prompts: readonly ApprovalPrompt[];
  readonly services: CallServices | null;
  /** What was decided in earlier passes and not yet used in this one, oldest first. */
  decisions: readonly EarlierDecision[];
  /** The question that this pass ends with. */
  question: OpenQuestion | null;
  /** How long people have been asked about this call, and since when somebody is being asked now, by the monotonic clock. */
  askedMs: number;
  askingSince: number | null;
  /** The span of this pass, as a W3C `traceparent`. */
  trace: string | null;
  /** What an earlier pass over the same call may have done. */
  readonly executedBefore: Executed;
  /** The call is over: it is written down, and nothing can keep it from running. */
  readonly isOver: boolean;
  /** The arguments somebody approved, and those the executor was entered with last. */
  approvedArgs: JsonObject | null;
  executedArgs: JsonObject | null;
  /** Who turned the call away last; only of interest while nothing has run. */
  blockedBy: string | null;
  /** Told how the call ended; `null` where nobody asked. */
  ending: CallEnding | null;
  /** What a layer wants the host to hear together with the audit record. */
  receipt: JsonObject | null;
  /** Hashes of this call's values, so that no record works them out again. */
  hashes:
    | { readonly value: JsonValue; readonly by: HashValue | null; readonly text: string }[]
    | null;
}

export interface StateSeed {
  readonly clock?: Clock;
  readonly createId?: CreateId;
  readonly nesting?: number;
  readonly host?: object | null;
  readonly definition?: DefinedTool | null;
  readonly prompts?: readonly ApprovalPrompt[];
  readonly services?: CallServices | null;
  readonly decisions?: readonly EarlierDecision[];
  readonly executedBefore?: Executed;
  readonly isOver?: boolean;
}

const NONE: readonly never[] = Object.freeze([]);

export function createState(seed: StateSeed = {}): CallState {
  return {
    clock: seed.clock ?? systemClock,
    createId: seed.createId ?? randomId,
    nesting: seed.nesting ?? 0,
    host: seed.host ?? null,
    definition: seed.definition ?? null,
    scrubs: [],
    annotations: {},
    audit: undefined,
    writers: null,
    abort: null,
    executed: seed.executedBefore ?? 'no',
    running: false,
    abandoned: false,
    raised: null,
    active: false,
    prompts: seed.prompts ?? NONE,
    services: seed.services ?? null,
    decisions: seed.decisions ?? NONE,
    question: null,
    askedMs: 0,
    askingSince: null,
    trace: null,
    executedBefore: seed.executedBefore ?? 'no',
    isOver: seed.isOver ?? false,
    approvedArgs: null,
    executedArgs: null,
    blockedBy: null,
    ending: null,
    receipt: null,
    hashes: null,
  };
}
