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
import type { CallTool, DefinedTool } from '../contract/layer.ts';

/** What a call is made of, besides what takes it back. */
export type CallParts = Omit<CallFields, 'signal'>;

/** Makes a call with a slot of its own. `toolArgs` must be a snapshot already. */
export const createCall = (
  fields: CallFields,
  state: Pass,
  frame: Frame | null = null,
  conditions: Conditions | null = null,
): ToolCall => asCall(partsOf(fields), { state, frame, conditions, abort: abortOf(fields) });

/** The same call, tied to something else. */
export function recreate(
  call: ToolCall,
  { state, frame, conditions, abort }: Partial<Ties>,
): ToolCall {
  const slot = slotOf(call);
  return asCall(partsOf(call), {
    state: state ?? slot.state,
    frame: frame === undefined ? slot.frame : frame,
    conditions: conditions === undefined ? slot.conditions : conditions,
    abort: abort ?? slot.abort,
  });
}

type Ties = Pick<CallSlot, 'state' | 'frame' | 'conditions' | 'abort'>;

/**
 * An own property, so that a spread copies it. One getter for all: one per call would cost more
 * than the signal it saves.
 */
const LAZY_SIGNAL = {
  enumerable: true,
  get(this: ToolCall): AbortSignal | undefined {
    // A copy that was put together by hand may have no slot.
    return slotIn(this)?.abort.read();
  },
};

/** Turns `parts`, an object made for it, into a call. Its signal is made when it is first read. */
export function asCall(parts: CallParts, { state, frame, conditions, abort }: Ties): ToolCall {
  const slot: CallSlot = { state, call: null, frame, conditions, abort, fingerprint: null };
  const tied: CallParts & { [SLOT]?: CallSlot } = parts;
  tied[SLOT] = slot;
  // The one member that is missing comes with the getter.
  const call = Object.defineProperty(tied, 'signal', LAZY_SIGNAL) as ToolCall;
  slot.call = call;
  return Object.freeze(call);
}

// One shape for every call: an absent `metadata` is undefined, which the type cannot say.
const partsOf = (call: CallParts): CallParts =>
  ({
    toolName: call.toolName,
    toolArgs: call.toolArgs,
    callId: call.callId,
    declaredExecutor: call.declaredExecutor,
    schema: call.schema,
    description: call.description,
    annotations: call.annotations,
    turn: call.turn,
    report: call.report,
    metadata: call.metadata,
  }) as CallParts;

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
  const { state, frame, conditions, abort } = slotOf(base);
  const isRenamed = toolName !== undefined && toolName !== base.toolName;
  const described = (isRenamed ? toolOf(base, toolName)?.described : undefined) ?? base;
  const parts = {
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
  } as CallParts; // An absent `metadata` is undefined, as in every call.
  return asCall(parts, {
    state,
    frame,
    conditions,
    abort: signal === undefined ? abort : sourceOf(signal),
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

/** Where a call is taken back from. Does not make a signal that was not read yet. */
export const abortOf = (call: {
  readonly signal: AbortSignal;
  readonly [SLOT]?: object;
}): AbortSource => slotIn(call)?.abort ?? sourceOf(call.signal);

/** Whether a call, or what else has a signal, was taken back. Does not make a signal either. */
export const isAborted = (call: Parameters<typeof abortOf>[0]): boolean =>
  abortOf(call).isAborted();

/** Whether a layer further out has answered already, so that this answer is not read. */
export function isAbandoned(frame: Frame | null): boolean {
  for (let outer = frame; outer !== null; outer = outer.parent) if (outer.closed) return true;
  return false;
}

/** The clock of a call, for layers that wait, count or stamp. */
export const clockOf = (call: ToolCall): Clock => stateOf(call).clock;

/** Where a call takes new ids from, for layers that name what they make. */
export const createIdOf = (call: ToolCall): CreateId => stateOf(call).createId;

/** The tool of this name as the call sees it; `null` where there is none, or no dispatcher. */
export const toolOf = (call: ToolCall, toolName: string): CallTool | null =>
  stateOf(call).toolOf?.(call, toolName) ?? null;

/**
 * The tool of a call as it was defined, before any layer of the stack described it anew;
 * `call.description` and `call.annotations` are what the model was shown. `metadata` is the tool's
 * own. Where no tools were listed, it is what the call says. For a call that a layer gave another
 * tool's name it is that other tool's, or `null` where there is no such tool.
 */
export function definitionOf(call: ToolCall): DefinedTool | null {
  const { definition } = stateOf(call);
  if (definition?.name === call.toolName) return definition;
  if (definition !== null) return toolOf(call, call.toolName)?.definition ?? null;
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
