/** From a request to a call, and through the stack. */

import { completeAnnotations } from '../core/annotations.ts';
import { createCall, stateOf, type ToolCall, type ToolProgress, type Turn } from '../core/call.ts';
import type { Clock } from '../core/clock.ts';
import { composeToolCallers } from '../core/compose.ts';
import { AlliumError, describeThrown } from '../core/errors.ts';
import type { CreateId } from '../core/ids.ts';
import type { Next, ToolLayer } from '../core/layer.ts';
import { checkOptions, expected } from '../core/options.ts';
import type { ToolResult } from '../core/result.ts';
import { linkAbort } from '../core/signal.ts';
import { createState } from '../core/state.ts';
import type { Registry } from '../tools/registry.ts';
import type { Tool, ToolContext, ToolExecutor, ToolRequest } from '../tools/tool.ts';
import { admissionLayer, entryLayer, limitLayer } from './admission.ts';
import { type HiddenSources, stripHidden } from './hidden-arguments.ts';
import { type LifecycleParts, progressEvent, runLifecycle, startedEvent } from './lifecycle.ts';
import { createCallCounter, createGate, type ResolvedLimits } from './limits.ts';
import { type DispatchRecord, recordOf } from './record.ts';
import { readArguments } from './request.ts';
import { answered, runTool } from './run-tool.ts';
import type { TurnMemory } from './turns.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly turn?: Partial<Turn>;
  readonly onProgress?: (progress: ToolProgress) => void;
}

export interface DispatcherParts extends Omit<LifecycleParts, 'maxPreviewBytes'> {
  readonly layers: readonly ToolLayer[];
  /** The tools as the model sees them. */
  readonly shown: Registry;
  readonly turns: TurnMemory;
  readonly sources: HiddenSources;
  readonly limits: ResolvedLimits;
  readonly executorFor: (tool: Tool) => ToolExecutor;
  readonly onUnknownTool: 'repair' | 'throw';
  readonly onInvalidArgs: 'repair' | 'throw';
  readonly clock: Clock;
  readonly createId: CreateId;
}

export interface Dispatcher {
  readonly call: (request: ToolRequest, options?: CallOptions) => Promise<ToolResult>;
  readonly observe: (request: ToolRequest, output: unknown, options?: CallOptions) => Promise<ToolResult>;
  /** A turn as every call and every list of tools is filed under it. */
  readonly turnOf: (given?: Partial<Turn>) => Turn;
  /** Takes no more calls and waits for those under way. */
  readonly drain: () => Promise<void>;
}

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { clock, createId, turns, shown, limits } = parts;
  const session = createId();
  const turnOf = ({ resumes: _claimed, ...given }: Partial<Turn> = {}): Turn =>
    // Only resume counts resumptions: a host's turn cannot claim to have been counted before.
    Object.freeze({ iteration: 0, sessionId: session, ...given });
  const underWay = new Set<Promise<unknown>>();
  let closed = false;

  const resolve = (name: string, turn: Turn): Tool | null => {
    const tool = shown.get(name);
    return tool !== undefined && turns.allows(turn, name) ? tool : null;
  };
  const governed = composeToolCallers(governedStack(parts, resolve), { clock, createId });
  const observed = composeToolCallers(
    parts.layers.filter((layer) => layer.observes === true || layer.scrub !== undefined),
    { clock, createId },
  );

  const runBottom: Next = async (call) => {
    const tool = resolve(call.toolName, call.turn);
    if (tool === null) throw new AlliumError('ERR_UNKNOWN_TOOL', `there is no tool "${call.toolName}"`, { toolName: call.toolName });
    return runTool(call, tool, {
      clock,
      sources: parts.sources,
      maxResultBytes: limits.maxResultBytes,
      executorFor: parts.executorFor,
      contextFor,
    });
  };
  const observedBottom: Next = async (call) => answered(call, recordOf(call).tool, recordOf(call).output);

  const contextFor = (call: ToolCall, signal: AbortSignal, report: ToolContext['report']): ToolContext =>
    Object.freeze({
      callId: call.callId,
      turn: call.turn,
      signal,
      report,
      state: parts.sources.state,
      stores: parts.sources.stores,
      permissions: null,
      logger: parts.logger,
      call: (request: ToolRequest) =>
        dispatch(request, { signal, turn: call.turn }, (nested) => governed(nested, runBottom), { nesting: stateOf(call).nesting + 1 }),
    });

  const dispatch = async (
    request: ToolRequest,
    options: CallOptions,
    run: (call: ToolCall) => Promise<ToolResult>,
    extra: { nesting?: number; output?: unknown } = {},
  ) => {
    checkRequest(request, options);
    const abort = linkAbort(options.signal);
    const call = callOf(parts, resolve, request, { ...options, signal: abort.signal, turn: turnOf(options.turn) }, extra);
    try {
      return await runLifecycle(call, run, { ...parts, maxPreviewBytes: limits.maxPreviewBytes });
    } finally {
      abort.unlink();
    }
  };

  const track = (start: () => Promise<ToolResult>): Promise<ToolResult> => {
    if (closed) return Promise.reject(new AlliumError('ERR_CLOSED', 'this dispatcher was closed and takes no more calls'));
    const running = start();
    const done = running.catch(() => {}).finally(() => underWay.delete(done));
    underWay.add(done);
    return running;
  };

  return {
    turnOf,
    call: (request, options = {}) => track(() => dispatch(request, options, (call) => governed(call, runBottom))),
    observe: (request, output, options = {}) =>
      track(() => dispatch(request, options, (call) => observed(call, observedBottom), { output })),
    async drain() {
      closed = true;
      await Promise.all(underWay);
    },
  };
}

/** The host's layers with the dispatcher's own between them. */
function governedStack(parts: DispatcherParts, resolve: (name: string, turn: Turn) => Tool | null): readonly ToolLayer[] {
  const { layers, limits, hub, shown, turns } = parts;
  const firstActing = layers.findIndex((layer) => layer.observes !== true);
  const leading = firstActing === -1 ? layers.length : firstActing;
  const namesIn = (turn: Turn) => shown.names.filter((name) => turns.allows(turn, name));
  return [
    ...layers.slice(0, leading),
    admissionLayer({ onUnknownTool: parts.onUnknownTool, onInvalidArgs: parts.onInvalidArgs, namesIn }),
    limitLayer({
      limits,
      perRun: createCallCounter(limits.maxCallsPerRun),
      perSession: createCallCounter(limits.maxCallsPerSession),
      gate: createGate(limits.maxConcurrent),
      onStart: (call) => {
        // An observing layer may have answered without waiting for what is inside it.
        if (!recordOf(call).done) hub.emit('tool_call_update', () => startedEvent(call));
      },
    }),
    ...layers.slice(leading),
    entryLayer(resolve, namesIn),
  ];
}

const MAX_NAME = 128;

function checkRequest(request: ToolRequest, options: CallOptions): void {
  checkOptions('call request', request, {
    name: expected.required({ text: 'a string', test: (value) => typeof value === 'string' }),
    arguments: { text: 'an object or JSON text', test: () => true },
    id: { text: 'a string', test: (value) => typeof value === 'string' },
  });
  checkOptions('call options', options, {
    signal: { text: 'an AbortSignal', test: (value) => value instanceof AbortSignal },
    turn: expected.object,
    onProgress: expected.function,
  });
}

function callOf(
  parts: DispatcherParts,
  resolve: (name: string, turn: Turn) => Tool | null,
  request: ToolRequest,
  options: CallOptions & { readonly turn: Turn },
  extra: { nesting?: number; output?: unknown },
): ToolCall {
  const { turn } = options;
  const tool = resolve(request.name, turn);
  const { args: sent, problem } = readArguments(request.arguments, parts.limits);
  const { args, stripped } = tool === null ? { args: sent, stripped: 0 } : stripHidden(tool, sent);
  const tell = (progress: ToolProgress): void => {
    if (record.done) return;
    record.reported += 1;
    parts.hub.emit('tool_call_progress', () => progressEvent(call, progress));
    try {
      options.onProgress?.(progress);
    } catch (thrown) {
      parts.logger.warn({ error: describeThrown(thrown) }, 'an onProgress callback failed');
    }
  };
  const record: DispatchRecord = {
    tool,
    problem,
    hiddenStripped: stripped,
    report: tell,
    output: extra.output,
    admitted: null,
    done: false,
    reported: 0,
  };
  const call = createCall(
    {
      // No tool has a longer name, and what a model makes up is not for every record to carry whole.
      toolName: tool === null ? request.name.slice(0, MAX_NAME) : request.name,
      toolArgs: args,
      callId: request.id === undefined || request.id === '' ? `call_${parts.createId()}` : request.id,
      declaredExecutor: tool?.executor ?? null,
      schema: tool?.ownSchema ?? null,
      description: tool?.description ?? '',
      annotations: tool?.annotations ?? completeAnnotations(),
      turn,
      signal: options.signal ?? new AbortController().signal,
      report: tell,
    },
    createState({ clock: parts.clock, createId: parts.createId, host: record, nesting: extra.nesting ?? 0 }),
  );
  return call;
}
