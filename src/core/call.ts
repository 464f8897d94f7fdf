/** The call: what the model asked for, frozen, with one private slot for what belongs to this call alone. */

import type { ToolAnnotations } from './annotations.ts';
import type { Clock } from './clock.ts';
import { AlliumError } from './errors.ts';
import type { CreateId } from './ids.ts';
import { type JsonObject, snapshotObject } from './json.ts';
import { type AbortSource, sourceOf } from './signal.ts';
import type { CallState, Frame } from './state.ts';
import type { CallTerms } from './terms.ts';

export type ExecutorKind = 'local' | 'host_bridge' | 'mcp_server' | 'provider_native';
export type JsonSchema = JsonObject;

/** Where in the agent's work a call belongs. */
export interface Turn {
  readonly iteration: number;
  readonly sessionId: string;
  readonly turnId?: string;
  readonly runId?: string;
  readonly model?: string;
  readonly provider?: string;
  /** Position in the batch the model emitted. */
  readonly emitOrder?: number;
  readonly prefetchNextTurn?: boolean;
  /** How often this call was interrupted and taken up again. Set by `resume`, never by a host. */
  readonly resumes?: number;
}

export interface ToolProgress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

export const SLOT: unique symbol = Symbol('allium.call');

/** Ties a call to its state. `call` points back, so that a copy by spread is recognised as one. */
export interface CallSlot {
  readonly state: CallState;
  call: ToolCall | null;
  /** The innermost layer that has this call in hands. */
  frame: Frame | null;
  /** What layers further out have laid down. Copies keep it: it cannot be shaken off. */
  readonly terms: CallTerms | null;
  /** Where `signal` comes from, for a call whose signal is made when it is first read. */
  readonly lazy: AbortSource | null;
  /** What stands for exactly this call, once somebody has asked for it. */
  fingerprint: string | null;
}

export interface ToolCall {
  readonly toolName: string;
  /** What the model chose; hidden arguments are not in here. */
  readonly toolArgs: JsonObject;
  readonly callId: string;
  readonly declaredExecutor: ExecutorKind | null;
  /** The tool's own input schema, without what layers injected. */
  readonly schema: JsonSchema | null;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  /** A layer may wrap it; it may not swallow it. */
  readonly report: (progress: ToolProgress) => void;
  readonly metadata?: JsonObject;
  /** Private to the framework. */
  readonly [SLOT]: CallSlot;
}

export type CallFields = Omit<ToolCall, typeof SLOT>;

/** Makes a call with a slot of its own. `toolArgs` must be a snapshot already. A signal that was not made yet is not made here. */
export function createCall(
  fields: CallFields,
  state: CallState,
  frame: Frame | null = null,
  terms: CallTerms | null = null,
): ToolCall {
  const lazy = (fields as Partial<ToolCall>)[SLOT]?.lazy ?? null;
  return build(fields, lazy === null ? fields.signal : null, {
    state,
    call: null,
    frame,
    terms,
    lazy,
    fingerprint: null,
  });
}

/** A new call whose signal is made when it is first read. */
export const createLazyCall = (
  fields: Omit<CallFields, 'signal'>,
  lazy: AbortSource,
  state: CallState,
  terms: CallTerms | null,
): ToolCall =>
  build(fields, null, { state, call: null, frame: null, terms, lazy, fingerprint: null });

/** The same call with a signal of its own that is made when it is first read. */
export function withLazySignal(call: ToolCall, lazy: AbortSource): ToolCall {
  const own = ownCall(call);
  const { state, frame, terms } = own[SLOT];
  return build(own, null, { state, call: null, frame, terms, lazy, fingerprint: null });
}

function build(
  fields: Omit<CallFields, 'signal'>,
  signal: AbortSignal | null,
  slot: CallSlot,
): ToolCall {
  const call = signal === null ? lazyCall(fields, slot) : eagerCall(fields, signal, slot);
  slot.call = call;
  return Object.freeze(call);
}

// One shape for every call of a kind: an absent `metadata` is undefined, which the type cannot say.
const eagerCall = (
  fields: Omit<CallFields, 'signal'>,
  signal: AbortSignal,
  slot: CallSlot,
): ToolCall =>
  ({
    toolName: fields.toolName,
    toolArgs: fields.toolArgs,
    callId: fields.callId,
    declaredExecutor: fields.declaredExecutor,
    schema: fields.schema,
    description: fields.description,
    annotations: fields.annotations,
    turn: fields.turn,
    signal,
    report: fields.report,
    metadata: fields.metadata,
    [SLOT]: slot,
  }) as ToolCall;

/** An own property, so that a spread copies it. One getter for all: one per call would cost more than the signal it saves. */
const LAZY_SIGNAL = {
  enumerable: true,
  get(this: ToolCall): AbortSignal | undefined {
    return this[SLOT].lazy?.read();
  },
};

function lazyCall(fields: Omit<CallFields, 'signal'>, slot: CallSlot): ToolCall {
  const call = {
    toolName: fields.toolName,
    toolArgs: fields.toolArgs,
    callId: fields.callId,
    declaredExecutor: fields.declaredExecutor,
    schema: fields.schema,
    description: fields.description,
    annotations: fields.annotations,
    turn: fields.turn,
    report: fields.report,
    metadata: fields.metadata,
    [SLOT]: slot,
  };
  // The one member that is missing comes with the getter.
  return Object.defineProperty(call, 'signal', LAZY_SIGNAL) as unknown as ToolCall;
}

export interface CallChanges {
  readonly toolName?: string;
  readonly toolArgs?: object;
  readonly signal?: AbortSignal;
  readonly report?: (progress: ToolProgress) => void;
}

/**
 * The same call with other arguments, another tool, signal or report. Identity and turn stay. A call that is given another tool's name
 * carries what that tool says about itself, where a dispatcher knows it: rules that go by annotations must judge the tool that is entered.
 */
export function withCall(call: ToolCall, changes: CallChanges): ToolCall {
  const base = ownCall(call);
  // Read once: a getter could show one value to the check and another to the tool.
  const { toolName, toolArgs, signal, report } = changes;
  checkChanges(toolName, signal, report);
  const { state, frame, terms, lazy } = base[SLOT];
  const isRenamed = toolName !== undefined && toolName !== base.toolName;
  const described =
    (isRenamed ? state.services?.toolOf(base, toolName)?.described : undefined) ?? base;
  const fields = {
    toolName: toolName ?? base.toolName,
    toolArgs: toolArgs === undefined ? base.toolArgs : snapshotObject(toolArgs),
    callId: base.callId,
    declaredExecutor: described.declaredExecutor,
    schema: described.schema,
    description: described.description,
    annotations: described.annotations,
    turn: base.turn,
    report: report ?? base.report,
    metadata: base.metadata,
  } as Omit<CallFields, 'signal'>; // An absent \`metadata\` is undefined, as in every call.
  if (signal === undefined && lazy !== null)
    return build(fields, null, { state, call: null, frame, terms, lazy, fingerprint: null });
  return build(fields, signal ?? base.signal, {
    state,
    call: null,
    frame,
    terms,
    lazy: null,
    fingerprint: null,
  });
}

/** The call itself; a copy by spread is taken for what `withCall` would have made of it. */
export function ownCall(call: ToolCall): ToolCall {
  stateOf(call);
  const { call: own } = call[SLOT];
  return own === call || own === null ? call : withCall(own, call);
}

function checkChanges(toolName: unknown, signal: unknown, report: unknown): void {
  if (toolName !== undefined && (typeof toolName !== 'string' || toolName === ''))
    throw unusable('toolName must be a name');
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw unusable('signal must be an AbortSignal');
  if (report !== undefined && typeof report !== 'function')
    throw unusable('report must be a function');
}

const unusable = (message: string): AlliumError => new AlliumError('ERR_INVALID_CALL', message);

/** The per-call state, or an error for a call that somebody put together by hand. */
export function stateOf(call: ToolCall): CallState {
  const state = (call as Partial<ToolCall> | null | undefined)?.[SLOT]?.state;
  if (state === undefined) {
    throw unusable('this call was not made by the framework; change a call with withCall(call, …)');
  }
  return state;
}

/** Whether the signal of a call is aborted. Does not make a signal that nobody has read. */
export function isSignalAborted(call: {
  readonly signal: AbortSignal;
  readonly [SLOT]?: CallSlot;
}): boolean {
  const lazy = call[SLOT]?.lazy ?? null;
  return lazy === null ? call.signal.aborted : lazy.isAborted();
}

/** Who may take a call back. Does not make a signal that nobody has read. */
export const abortOf = (call: {
  readonly signal: AbortSignal;
  readonly [SLOT]?: CallSlot;
}): AbortSource => call[SLOT]?.lazy ?? sourceOf(call.signal);

/** Whether a layer further out has answered already, so that nobody listens here. */
export function isAbandoned(frame: Frame | null): boolean {
  for (let outer = frame; outer !== null; outer = outer.parent) if (outer.closed) return true;
  return false;
}

/** The clock of a call, for layers that wait, count or stamp. */
export const clockOf = (call: ToolCall): Clock => stateOf(call).clock;

/** Where a call takes new ids from, for layers that name what they make. */
export const createIdOf = (call: ToolCall): CreateId => stateOf(call).createId;
