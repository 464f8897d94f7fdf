/** Calls as the framework makes them: frozen, each with the slot that ties it to its pass. */

import {
  type CallFields,
  SLOT,
  type ToolCall,
  type ToolProgress,
  type CreateId,
} from '../contract/call.ts';
import { type AbortSource, sourceOf } from '../time/abort.ts';
import { type CallSlot, type Pass, type Conditions, type Frame, slotIn, slotOf } from './pass.ts';
import { AlliumError } from '../contract/errors.ts';
import { snapshotObject } from '../json/json.ts';
import type { Clock } from '../time/clock.ts';
import type { ApprovalPrompt } from '../contract/approval.ts';
import type { DefinedTool } from '../contract/layer.ts';
import type { CallServices } from '../contract/services.ts';

/**
 * Makes a call with a slot of its own. `toolArgs` must be a snapshot already. A signal that was not
 * made yet is not made here.
 */
export function createCall(
  fields: CallFields,
  state: Pass,
  frame: Frame | null = null,
  terms: Conditions | null = null,
): ToolCall {
  const lazy = SLOT in fields ? slotOf(fields as ToolCall).lazy : null;
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
  state: Pass,
  terms: Conditions | null,
): ToolCall =>
  build(fields, null, { state, call: null, frame: null, terms, lazy, fingerprint: null });

/** The same call with a signal of its own that is made when it is first read. */
export function withLazySignal(call: ToolCall, lazy: AbortSource): ToolCall {
  const own = ownCall(call);
  const { state, frame, terms } = slotOf(own);
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

/**
 * An own property, so that a spread copies it. One getter for all: one per call would cost more
 * than the signal it saves.
 */
const LAZY_SIGNAL = {
  enumerable: true,
  get(this: ToolCall): AbortSignal | undefined {
    return slotOf(this).lazy?.read();
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
 * The same call with other arguments, another tool, signal or report. Identity and turn stay. A
 * call that is given another tool's name carries what that tool says about itself, where a
 * dispatcher knows it: rules that go by annotations must judge the tool that is entered.
 */
export function withCall(call: ToolCall, changes: CallChanges): ToolCall {
  const base = ownCall(call);
  // Read once: a getter could show one value to the check and another to the tool.
  const { toolName, toolArgs, signal, report } = changes;
  checkChanges(toolName, signal, report);
  const { state, frame, terms, lazy } = slotOf(base);
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
  const { call: own } = slotOf(call);
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

/** The pass of a call, or an error for a call that was put together by hand. */
export function stateOf(call: ToolCall): Pass {
  const state = slotIn(call)?.state;
  if (state === undefined) {
    throw unusable('this call was not made by the framework; change a call with withCall(call, …)');
  }
  return state;
}

/** Whether the signal of a call is aborted. Does not make a signal that was not read yet. */
export function isSignalAborted(call: {
  readonly signal: AbortSignal;
  readonly [SLOT]?: object;
}): boolean {
  const lazy = slotIn(call)?.lazy ?? null;
  return lazy === null ? call.signal.aborted : lazy.isAborted();
}

/** Where a call is taken back from. Does not make a signal that was not read yet. */
export const abortOf = (call: {
  readonly signal: AbortSignal;
  readonly [SLOT]?: object;
}): AbortSource => slotIn(call)?.lazy ?? sourceOf(call.signal);

/** Whether a layer further out has answered already, so that this answer is not read. */
export function isAbandoned(frame: Frame | null): boolean {
  for (let outer = frame; outer !== null; outer = outer.parent) if (outer.closed) return true;
  return false;
}

/** The clock of a call, for layers that wait, count or stamp. */
export const clockOf = (call: ToolCall): Clock => stateOf(call).clock;

/** Where a call takes new ids from, for layers that name what they make. */
export const createIdOf = (call: ToolCall): CreateId => stateOf(call).createId;

export const servicesOf = (call: ToolCall): CallServices | null => stateOf(call).services;

/** The channels the host registered, for a layer that has to ask. */
export const promptsOf = (call: ToolCall): readonly ApprovalPrompt[] => stateOf(call).prompts;

/**
 * The tool of a call as it was defined, before any layer of the stack described it anew;
 * `call.description` and `call.annotations` are what the model was shown. `metadata` is the tool's
 * own. Where no tools were listed, it is what the call says. For a call that a layer gave another
 * tool's name it is that other tool's, or `null` where there is no such tool.
 */
export function definitionOf(call: ToolCall): DefinedTool | null {
  const { definition } = stateOf(call);
  if (definition?.name === call.toolName) return definition;
  if (definition !== null) return servicesOf(call)?.toolOf(call, call.toolName)?.definition ?? null;
  const { toolName: name, description, schema, annotations } = call;
  return Object.freeze({ name, description, inputSchema: schema ?? NO_SCHEMA, annotations });
}

const NO_SCHEMA = Object.freeze({});

/** Keeps the time that `wait` takes off every limit on the call. */
export async function offTheClock<T>(call: ToolCall, wait: () => Promise<T>): Promise<T> {
  const state = stateOf(call);
  const startedAt = state.clock.monotonic();
  state.askingSince = startedAt;
  try {
    return await wait();
  } finally {
    state.askingSince = null;
    state.askedMs += state.clock.monotonic() - startedAt;
  }
}

/** How long people have been asked about a call by now; nothing for what is no call. */
export function askedMsOf(source: { readonly [SLOT]?: object }): number {
  const state = slotIn(source)?.state;
  if (state === undefined) return 0;
  const { askedMs, askingSince, clock } = state;
  return askingSince === null ? askedMs : askedMs + clock.monotonic() - askingSince;
}
