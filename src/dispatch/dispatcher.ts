/** The stack a call goes through, and the roads that lead into it. */

import { slotOf } from '../core/onion/pass.ts';
import type { CallServices } from '../core/contract/services.ts';
import { annotate, fail } from '../core/onion/results.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { abortOf, stateOf } from '../core/onion/own-call.ts';
import type { ApprovalPrompt } from '../core/contract/approval.ts';
import { type ToolCall, type Turn } from '../core/contract/call.ts';
import type { Clock } from '../core/time/clock.ts';
import { runnerOf } from '../core/onion/compose.ts';
import { AlliumError } from '../core/contract/errors.ts';
import type { CreateId } from '../core/contract/ids.ts';
import type { Next, ToolLayer } from '../core/contract/layer.ts';
import type { Stage } from '../core/onion/stage.ts';
import { observedBottom, observedLayer, observedStage } from '../core/onion/observed.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { inherited } from '../core/onion/nested-conditions.ts';
import { abortWith, type AbortSource } from '../core/time/abort.ts';
import { conditionsOf } from '../core/onion/conditions.ts';
import type { Tool, ToolContext, ToolExecutor, ToolRequest } from '../tools/tool.ts';
import { admissionStage, entryStage, limitStage, withStripped } from './intake/admission.ts';
import { type ApprovalParts, createApprovals, type Reentry } from './resume/approvals.ts';
import { backgroundStarter } from './run/background.ts';
import { callsUnderWay } from './run/calls-under-way.ts';
import { requestCleaner, scrubbingLogger } from './intake/clean-request.ts';
import type { HiddenSources } from './intake/hidden-arguments.ts';
import { type LifecycleParts, runLifecycle, startedEvent } from './run/lifecycle.ts';
import { createCallCounter, createGate, type ResolvedLimits, type Seat } from './intake/limits.ts';
import {
  type CallOptions,
  checkRequest,
  NO_OPTIONS,
  openCall,
  type Opening,
  OWN_ABORT,
} from './intake/open-call.ts';
import { recordOf } from './record.ts';
import { resultOfReport, runTool, type RunToolOptions } from './run/run-tool.ts';
import { createServices } from './services.ts';
import type { TurnMemory } from './intake/turns.ts';
import { bindContext } from './run/under-way.ts';
import type { ShownTools } from './intake/shown-tools.ts';
import {
  type FindTool,
  objectToChange,
  type ObjectToChange,
  toolFor,
} from './resume/definition-change.ts';

export interface DispatcherParts
  extends Omit<LifecycleParts, 'maxPreviewBytes' | 'noteReceipt'>,
    Pick<ApprovalParts, 'approvals'> {
  readonly layers: readonly ToolLayer[];
  /** The tools as the model sees them. */
  readonly shown: ShownTools;
  readonly turns: TurnMemory;
  readonly sources: HiddenSources;
  readonly limits: ResolvedLimits;
  readonly executorFor: (tool: Tool) => ToolExecutor;
  readonly onUnknownTool: 'repair' | 'throw';
  readonly onInvalidArgs: 'repair' | 'throw';
  readonly clock: Clock;
  readonly createId: CreateId;
  readonly prompts: readonly ApprovalPrompt[];
  readonly standing: CallServices['standing'];
}

export interface Dispatcher {
  /** `seat`: the call's place among those it came with. */
  readonly call: (
    request: ToolRequest,
    options?: CallOptions,
    seat?: Seat | null,
  ) => Promise<ToolResult>;
  readonly resume: (id: string, decision?: object, options?: CallOptions) => Promise<ToolResult>;
  readonly observe: (
    request: ToolRequest,
    output: unknown,
    options?: CallOptions,
  ) => Promise<ToolResult>;
  /** A turn as every call and every list of tools is filed under it. */
  readonly turnOf: (given?: Partial<Turn>) => Turn;
  /** Takes no more calls and waits for those under way. */
  readonly drain: () => Promise<void>;
}

/** Which tool a call enters, and whether that is still what the host has. */
interface Entries {
  readonly toolOf: (call: ToolCall, name: string) => Tool | null;
  readonly objectTo: ObjectToChange;
  /** The names a turn may use. */
  readonly namesIn: (turn: Turn) => readonly string[];
}

type Run = (call: ToolCall) => Promise<ToolResult>;

type Extra = Partial<
  Pick<Opening, 'nesting' | 'over' | 'terms' | 'seat' | 'resumption' | 'isBackground'>
>;

const NO_EXTRA: Extra = Object.freeze({});

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { createId, turns, shown, limits, layers, standing } = parts;
  const turnOf = turnsOf(createId());
  const calls = callsUnderWay();
  const resolve: FindTool = (name, turn) => {
    const tool = shown.get(name);
    return tool !== undefined && turns.allows(turn, name) ? tool : null;
  };
  const entries: Entries = {
    toolOf: (call, name) => toolFor(call, name, resolve),
    objectTo: objectToChange(resolve),
    namesIn: (turn) => shown.names.filter((name) => turns.allows(turn, name)),
  };

  const approvals = createApprovals(parts);
  const cleaned = requestCleaner(layers, (name) => shown.get(name) !== undefined);
  const open = (
    request: ToolRequest,
    options: CallOptions,
    extra: Extra,
    abort: AbortSource,
  ): ToolCall => {
    const turn = turnOf(options.turn);
    const onProgress = options.onProgress ?? null;
    const {
      nesting = 0,
      over = null,
      terms = null,
      seat = null,
      resumption = null,
      isBackground = false,
    } = extra;
    // What ran elsewhere need not have been offered here.
    const tool = over === null ? resolve(request.name, turn) : (shown.get(request.name) ?? null);
    return openCall(
      request,
      { turn, abort, tool, nesting, over, terms, seat, resumption, isBackground, onProgress },
      opens,
    );
  };
  const start = async (
    given: ToolRequest,
    options: CallOptions,
    run: Run,
    extra: Extra = NO_EXTRA,
  ): Promise<ToolResult> => {
    checkRequest(given, options);
    const request = cleaned(given);
    // What has happened is written down also for a caller that has gone.
    const { signal, [OWN_ABORT]: own } = extra.over === undefined ? options : NO_OPTIONS;
    const linked = own === undefined ? abortWith(signal) : { source: own, unlink: () => {} };
    try {
      return await runLifecycle(open(request, options, extra, linked.source), run, ends);
    } finally {
      linked.unlink();
    }
  };

  const admission = admissionStage({
    onUnknownTool: parts.onUnknownTool,
    onInvalidArgs: parts.onInvalidArgs,
    namesIn: entries.namesIn,
  });
  const stack = governedStack(parts, entries, [approvals.stage, admission]);
  const governed = runnerOf(stack);
  const observed = runnerOf(
    stack.map((member) => ('caller' in member ? observedLayer(member) : observedStage(member))),
  );
  const startBehind = backgroundStarter({
    hub: parts.hub,
    closing: calls.closing,
    run: runnerOf(
      stack.filter((member) => ('caller' in member ? isWatching(member) : member === admission)),
    ),
    runBehind: (request, options, extra) =>
      calls.addBehind(() => start(request, options, (call) => governed(call, bottom), extra)),
  });
  const runOrStart: Run = (call) => {
    const background = recordOf(call).tool?.background;
    return background === undefined ? governed(call, bottom) : startBehind(call, background);
  };
  const contextFor = contextsFor(parts, entries, (call, abort) => (request) => {
    const { terms } = slotOf(call);
    const extra = {
      nesting: stateOf(call).nesting + 1,
      terms: terms === null ? null : inherited(terms),
    };
    return start(request, { signal: abort.read(), turn: call.turn }, runOrStart, extra);
  });
  const services = createServices({
    toolOf: entries.toolOf,
    limits,
    standing,
    contextFor: (call) => contextFor(call, abortOf(call), call.report),
  });
  const bottom = toolRunner(parts, entries, contextFor);
  const opens = { ...parts, services };
  const ends = {
    ...parts,
    logger: scrubbingLogger(parts.logger, layers),
    noteReceipt: approvals.noteReceipt,
    maxPreviewBytes: limits.maxPreviewBytes,
  };
  // Of a call that was lost nothing is known that an acting layer could have a word about.
  const watched = runnerOf(layers.filter(isWatching));
  const ranElsewhere = observedBottom(async (call) =>
    withStripped(call, await resultOfReport(call, recordOf(call), limits)),
  );
  const reenter =
    (options: CallOptions) =>
    ({ request, turn, opening, lost }: Reentry) =>
      start(
        request,
        { ...options, turn },
        (call) => (lost !== null ? watched(call, diedWith(lost)) : governed(call, bottom)),
        opening,
      );

  return {
    turnOf,
    call: (request, options = NO_OPTIONS, seat = null) =>
      calls.add(() => start(request, options, runOrStart, seat === null ? NO_EXTRA : { seat })),
    resume: (id, decision, options = {}) =>
      calls.add(async () => {
        const result = await approvals.resume(
          id,
          decision,
          reenter(options),
          options.signal ?? options[OWN_ABORT]?.read(),
        );
        await shown.get(result.toolName)?.background?.resumed(result.toolCallId, result);
        return result;
      }),
    observe: (request, output, options = {}) =>
      calls.add(() =>
        start(request, options, (call) => observed(call, ranElsewhere), {
          over: { output, executor: 'provider_native' },
        }),
      ),
    drain: calls.drain,
  };
}

/**
 * Turns with what a host left out. Only resume counts resumptions: a host's turn cannot claim to
 * have been counted.
 */
const turnsOf =
  (session: string): Dispatcher['turnOf'] =>
  ({ resumes: _claimed, ...given } = {}) =>
    Object.freeze({ iteration: 0, sessionId: session, ...given });

/** A process took the call up and died with it: it may have run, and must not run again. */
const diedWith =
  (approval: JsonObject): Next =>
  async (call) =>
    annotate(fail(call, 'outcome_unknown', null, DIED, { executed: 'unknown' }), { approval });

const DIED =
  'The call was approved and taken up, and the process that ran it died. It may have done its work; check before you ask for it again.';

/** What tools get beside their arguments: a context that can call others the same way. */
function contextsFor(
  { sources: { state, stores }, logger: host, layers }: DispatcherParts,
  { toolOf, objectTo }: Entries,
  callFrom: (call: ToolCall, abort: AbortSource) => ToolContext['call'],
): RunToolOptions['contextFor'] {
  const logger = scrubbingLogger(host, layers);
  return (call, abort, report) => {
    const { callId, turn } = call;
    const { policy: permissions } = conditionsOf(call);
    const context = {
      callId,
      turn,
      report,
      state,
      stores,
      permissions,
      logger,
      call: callFrom(call, abort),
    };
    const objection = () => {
      const tool = toolOf(call, call.toolName);
      return tool === null ? null : objectTo(call, tool);
    };
    return bindContext(context, { call, abort, objection });
  };
}

/** The executor of the stack: whichever tool the layers chose. */
function toolRunner(
  parts: DispatcherParts,
  { toolOf, objectTo }: Entries,
  contextFor: RunToolOptions['contextFor'],
): Next {
  const { sources, limits, executorFor } = parts;
  const options = { sources, limits, executorFor, contextFor, objectTo };
  return (call) => {
    const tool = toolOf(call, call.toolName);
    if (tool === null)
      throw new AlliumError('ERR_UNKNOWN_TOOL', `there is no tool "${call.toolName}"`, {
        toolName: call.toolName,
      });
    return runTool(call, tool, options);
  };
}

/** Whether a layer records or cleans, and so is told of calls that no other layer may act on. */
const isWatching = (layer: ToolLayer): boolean =>
  layer.observes === true || layer.scrub !== undefined;

/** The host's layers with the dispatcher's own stages between them. */
function governedStack(
  { layers, limits, hub }: DispatcherParts,
  { toolOf, objectTo, namesIn }: Entries,
  first: readonly Stage[],
): readonly (ToolLayer | Stage)[] {
  const firstActing = layers.findIndex((layer) => layer.observes !== true);
  const leading = firstActing === -1 ? layers.length : firstActing;
  return [
    ...layers.slice(0, leading),
    ...first,
    limitStage({
      limits,
      perRun: createCallCounter(limits.maxCallsPerRun),
      perSession: createCallCounter(limits.maxCallsPerSession),
      gate: createGate(limits.maxConcurrent),
      onStart: (call, seat) => {
        recordOf(call).seats.push(seat);
        // An observing layer may have answered without waiting for what is inside it.
        if (!recordOf(call).done) hub.emit('tool_call_update', () => startedEvent(call));
      },
    }),
    ...layers.slice(leading),
    entryStage(toolOf, objectTo, namesIn),
  ];
}
