/**
 * What belongs to one call while it is under way: the audit record, the clock, and what is known to
 * have run.
 */

import type { ErrorCode } from '../contract/errors.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { AuditRecord, LayerEntry } from '../contract/audit-record.ts';
import type { ToolAnnotations } from '../contract/annotations.ts';
import { SLOT, type ToolCall, type CreateId, randomId } from '../contract/call.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import type { Executed, ToolStatus } from '../contract/status.ts';
import type { DefinedTool, Next, ToolLayer, ToolOf } from '../contract/layer.ts';
import { BRAND, type ToolResult } from '../contract/result.ts';
import type { AbortSource } from '../time/abort.ts';

/** A link of the built chain. `parent` is the layer that gets its answer. Never rejects. */
export type Link = (call: ToolCall, parent: Frame | null) => Promise<ToolResult>;

/** One layer at work on one call. */
export interface Frame {
  readonly layer: ToolLayer;
  readonly call: ToolCall;
  readonly parent: Frame | null;
  /** How many layers stand outside this one. */
  readonly depth: number;
  /** As an ISO text, as its line says it. */
  readonly startedAt: string;
  /** What runs below. */
  readonly inner: Link;
  /** What the layer was given as `next`: a stack that it calls by itself may use nothing else. */
  next: Next | null;
  /** The call handed to a `next` that has not settled. */
  sent: ToolCall | null;
  /** What `next` answered last. */
  answered: ToolResult | null;
  closed: boolean;
  /** Status and details the layer gave its own audit line. */
  line: Partial<LayerEntry> | null;
}

/** Who wrote a member of the record last, in a list. */
export interface Writer {
  readonly key: string;
  depth: number;
  readonly before: Writer | null;
}

export interface Pass {
  clock: Clock;
  createId: CreateId;
  /** How many tools deep this call was made from inside another one. */
  readonly nesting: number;
  /** What the dispatcher keeps with the call. */
  readonly host: object | null;
  /**
   * The tool as it was defined, before any layer; `null` where the dispatcher did not say.
   */
  readonly definition: DefinedTool | null;
  /** Cleaners of the stack; every audit string passes them before it can be read. */
  scrubs: readonly ((text: string) => string)[];
  /** What the tool says about itself, to open the audit record with. */
  annotations: ToolAnnotations;
  /** Live while the call is under way, frozen when it ends. */
  audit: AuditRecord | undefined;
  /** Which depth last wrote an audit key, so that the outer layer keeps the last word. */
  writers: Writer | null;
  /**
   * Who may take the call back for the host. A layer that passes on another signal cannot cut the
   * caller off.
   */
  abort: AbortSource | null;
  executed: Executed;
  /** The executor is at work: what is built now is its answer. */
  running: boolean;
  /** When the executor was entered last, by the monotonic clock. */
  enteredAt: number;
  /**
   * Set once a layer has returned without waiting for `next`; only then must frames ask whether
   * their answer is still read.
   */
  abandoned: boolean;
  /** The first result that was marked to be thrown. No outer layer can take that back. */
  raised: ToolResult | null;
  active: boolean;
  /** Finds other tools of the host; `null` without a dispatcher. */
  readonly toolOf: ToolOf | null;
  /** What approvals keep with the call. */
  consultation: object | null;
  /**
   * How long people have been asked about this call, and since when a person is being asked
   * now, by the monotonic clock.
   */
  askedMs: number;
  askingSince: number | null;
  /** The span of this pass, as a W3C `traceparent`. */
  trace: string | null;
  /** What an earlier pass over the same call may have done. */
  readonly executedBefore: Executed;
  /** The call is over: it is written down, and nothing can keep it from running. */
  readonly ranElsewhere: boolean;
  /** The arguments that were approved, and those the executor was entered with last. */
  approvedArgs: JsonObject | null;
  executedArgs: JsonObject | null;
  /** Who turned the call away last; only of interest while nothing has run. */
  blockedBy: string | null;
  /** Told how the call ended; `null` as long as `whenEnded` was not called. */
  ending: CallEnding | null;
  /**
   * A layer that cleans has withheld the call, which ran elsewhere: its output is shown to no
   * layer.
   */
  withheld: boolean;
  /** What a layer wants the host to hear together with the audit record. */
  receipt: JsonObject | null;
}

export interface PassSeed {
  readonly clock?: Clock;
  readonly createId?: CreateId;
  readonly nesting?: number;
  readonly host?: object | null;
  readonly definition?: DefinedTool | null;
  readonly toolOf?: ToolOf | null;
  readonly consultation?: object | null;
  readonly executedBefore?: Executed;
  readonly ranElsewhere?: boolean;
}

export function createPass(seed: PassSeed = {}): Pass {
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
    enteredAt: 0,
    abandoned: false,
    raised: null,
    withheld: false,
    active: false,
    toolOf: seed.toolOf ?? null,
    consultation: seed.consultation ?? null,
    askedMs: 0,
    askingSince: null,
    trace: null,
    executedBefore: seed.executedBefore ?? 'no',
    ranElsewhere: seed.ranElsewhere ?? false,
    approvedArgs: null,
    executedArgs: null,
    blockedBy: null,
    ending: null,
    receipt: null,
  };
}

/** Ties a call to its state. `call` points back, so that a copy by spread is recognised as one. */
export interface CallSlot {
  readonly state: Pass;
  call: ToolCall | null;
  /** The innermost layer that has this call in hands. */
  frame: Frame | null;
  /** What layers further out have laid down. Copies keep it: it cannot be shaken off. */
  conditions: Conditions | null;
  /** What takes the call back; its signal is made when it is first read. */
  readonly abort: AbortSource;
  /** The hash that stands for exactly this call, once `fingerprintOf` was called. */
  fingerprint: string | null;
}

/** Ties a result to its call. */
export interface ResultLink {
  readonly state: Pass;
  /**
   * The call it was built for, as the layer or executor had it that built it; of a call that has
   * ended, the call as it came in.
   */
  call: ToolCall;
  readonly raise: ErrorCode | null;
  /**
   * For the host only; never serialised. Behind a function, because printing a result prints what
   * hangs on it.
   */
  readonly cause: (() => unknown) | null;
  /** Set by an executor that knows better than "it answered, so it ran". */
  readonly claim: Executed | null;
  /** The layer it was handed to last. */
  at: Frame | null;
  /** The content is only the rendered text, to be rendered again with it. */
  derived: boolean;
  /** The text was written from the value or the error, and not set by a layer. */
  readonly rendered: boolean;
  /** Points back, so that a copy by spread is recognised as hand-made. */
  result: ToolResult | null;
}

/**
 * Why a call may not run. The message is for the model; `blockedBy` names the layer whose
 * conditions it breaks.
 */
export interface Refusal {
  readonly status: ToolStatus;
  readonly message: string;
  readonly blockedBy: string;
}

/**
 * Looks at a call as the executor would be entered with it, at once. A guard that throws, or
 * answers with anything else, refuses.
 */
export type Guard = (call: ToolCall) => Refusal | null;

/**
 * Decides about a call as the executor would be entered with it, and may take its time. Answers
 * `null` to let it in, what it comes to, or once the call to enter with instead, which then has to
 * pass every guard and gate like the first. One that rejects, or answers with anything else,
 * refuses.
 */
export type Gate = (call: ToolCall) => Promise<ToolResult | ToolCall | null>;

/**
 * What a layer holds a call to, and everything below that layer with it. `guard`: asked at once,
 * right before the executor, and before that of every call the tool makes itself. `gate`: asked
 * after the guards, and may wait. `ask`: asked before a question about the call is put to a person.
 */
export type Check =
  | { readonly at: 'guard' | 'ask'; readonly run: Guard; readonly owner: null }
  | { readonly at: 'gate'; readonly run: Gate; readonly owner: string | null };

/**
 * One layer's declared change of arguments after an approval. A type, because no interface is JSON
 * to the compiler.
 */
export type Rewrite = {
  readonly layer: string;
  readonly paths: readonly string[];
};

/** The call that was approved, and how far declared rewrites have taken it since. */
export interface ApprovedCall {
  readonly toolName: string;
  readonly args: JsonObject;
  readonly covered: JsonObject;
  readonly rewrites: readonly Rewrite[];
}

/** Frozen, and carried by every copy of a call: a layer below can add to them, never take away. */
export interface Conditions {
  /** In the order they were laid down. */
  readonly checks: readonly Check[];
  /**
   * What guards were made from, for layers that read or tighten it. The core does not look inside.
   */
  readonly policy: JsonObject | null;
  readonly approved: ApprovedCall | null;
  /** What the call comes to in the executor's place, once no check objects to it. */
  readonly supplied: SuppliedResult | null;
  readonly hash: HashValue | null;
}

/** A result that a person gave. In an object, because `null` is one too. */
export interface SuppliedResult {
  readonly value: JsonValue;
}

/** Hashes a JSON value for records. */
export type HashValue = (value: JsonValue) => string;

export interface CallEnding {
  readonly result: Promise<ToolResult>;
  readonly settle: (result: ToolResult) => void;
}

/** Only `own-call.ts` makes calls, each with such a slot. */
export const slotOf = (call: Pick<ToolCall, typeof SLOT>): CallSlot => call[SLOT] as CallSlot;

/** The same for what may be no call, or a call made by hand. */
export const slotIn = (
  value: { readonly [SLOT]?: object } | null | undefined,
): CallSlot | undefined => value?.[SLOT] as CallSlot | undefined;

/** Only `make-result.ts` makes results, each with such a link. */
export const linkOf = (result: Pick<ToolResult, typeof BRAND>): ResultLink =>
  result[BRAND] as ResultLink;

/** The same for what may be no result, or one made by hand. */
export const linkIn = (value: object): ResultLink | undefined =>
  (value as { readonly [BRAND]?: ResultLink })[BRAND];
