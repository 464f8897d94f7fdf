/** The roads that lead a call into its stack. */

import { slotOf } from '../core/onion/pass.ts';
import type { CallServices } from '../approvals/consultation.ts';
import type { ApprovalPrompt } from '../approvals/question.ts';
import { annotate, fail } from '../core/onion/results.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { abortOf, stateOf } from '../core/onion/own-call.ts';
import type { ToolCall, Turn, CreateId } from '../core/contract/call.ts';
import type { Clock } from '../core/time/clock.ts';
import { AlliumError } from '../core/contract/errors.ts';
import type { Next, ToolLayer, ToolOf } from '../core/contract/layer.ts';
import { observedBottom } from '../core/onion/observed.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { inherited } from '../core/onion/conditions.ts';
import { abortWith } from '../core/time/abort.ts';
import type { Tool, ToolExecutor, ToolRequest } from '../tools/tool.ts';
import { withStripped } from './intake/admission.ts';
import { requestCleaner, scrubbingLogger } from './intake/clean-request.ts';
import type { HiddenSources } from './intake/arguments.ts';
import type { ResolvedLimits, Seat } from './intake/limits.ts';
import {
  type CallOptions,
  checkRequest,
  NO_OPTIONS,
  openCall,
  type Opening,
  OWN_ABORT,
} from './intake/open-call.ts';
import type { ShownTools, TurnMemory } from './intake/shown-tools.ts';
import { recordOf } from './record.ts';
import { type ApprovalParts, type Approvals, createApprovals } from './resume/approvals.ts';
import { backgroundStarter } from './run/background.ts';
import { type CallsUnderWay, callsUnderWay } from './run/calls-under-way.ts';
import { announce, answerOf, finished, type LifecycleParts } from './run/lifecycle.ts';
import { runTool, type RunToolOptions } from './run/run-tool.ts';
import { resultOfReport } from './run/tool-result.ts';
import { callToolOf, contextsFor, createServices } from './services.ts';
import { type Entries, entriesOf, type Stacks, stacksOf } from './stack.ts';

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

type Run = (call: ToolCall) => Promise<ToolResult>;

/** What is special about a call. */
type Extra = Partial<
  Pick<Opening, 'nesting' | 'over' | 'conditions' | 'seat' | 'resumption' | 'isBackground'>
>;

/** Opens a call, has it run, and tells the listeners what becomes of it. */
type Start = (
  request: ToolRequest,
  options: CallOptions,
  run: Run,
  extra?: Extra,
) => Promise<ToolResult>;

const NO_EXTRA: Extra = Object.freeze({});

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { limits, shown, turns } = parts;
  const turnOf = turnsOf(parts.createId());
  const calls = callsUnderWay();
  const entries = entriesOf(shown, turns);
  const approvals = createApprovals(parts);
  const stacks = stacksOf(parts, entries, approvals.stage);
  const contextFor = contextsFor(parts, entries, (call, abort) => (request) => {
    const { conditions } = slotOf(call);
    const nesting = stateOf(call).nesting + 1;
    const options = { signal: abort.read(), turn: call.turn };
    const held = conditions === null ? null : inherited(conditions);
    return start(request, options, runOrStart, { nesting, conditions: held });
  });
  const toolOf = callToolOf(entries.toolOf);
  const services = createServices({
    toolOf: entries.toolOf,
    limits,
    standing: parts.standing,
    contextFor: (call) => contextFor(call, abortOf(call), call.report),
  });
  const start = starter(parts, { calls, turnOf, entries, toolOf, services, approvals });
  const bottom = toolRunner(parts, entries, contextFor);
  const run: Run = (call) => stacks.governed(call, bottom);
  const startBehind = backgroundStarter({
    hub: parts.hub,
    closing: calls.closing,
    run: stacks.starting,
    runBehind: (request, options, extra) => start(request, options, run, extra),
  });
  const runOrStart: Run = (call) => {
    const background = recordOf(call).tool?.background;
    return background === undefined ? run(call) : startBehind(call, background);
  };
  const resumed = resumer({ approvals, shown, stacks, run, start });
  const ranElsewhere = observedBottom(async (call) =>
    withStripped(call, await resultOfReport(call, recordOf(call), limits)),
  );

  return {
    turnOf,
    call: (request, options = NO_OPTIONS, seat = null) =>
      calls.isClosed()
        ? closedDispatcher()
        : start(request, options, runOrStart, seat === null ? NO_EXTRA : { seat }),
    resume: (id, decision, options = {}) =>
      calls.isClosed() ? closedDispatcher() : calls.add(() => resumed(id, decision, options)),
    observe: (request, output, options = {}) =>
      calls.isClosed()
        ? closedDispatcher()
        : start(request, options, (call) => stacks.observed(call, ranElsewhere), {
            over: { output, executor: 'provider_native' },
          }),
    drain: calls.drain,
  };
}

const nothingToLet = (): void => {};

const closedDispatcher = (): Promise<never> =>
  Promise.reject(
    new AlliumError('ERR_CLOSED', 'this dispatcher was closed and takes no more calls'),
  );

interface StarterParts {
  readonly calls: CallsUnderWay;
  readonly turnOf: Dispatcher['turnOf'];
  readonly entries: Entries;
  readonly toolOf: ToolOf;
  readonly services: CallServices;
  readonly approvals: Approvals;
}

function starter(
  parts: DispatcherParts,
  { calls, turnOf, entries, toolOf, services, approvals }: StarterParts,
): Start {
  const { shown, layers, limits } = parts;
  const cleaned = requestCleaner(layers, (name) => shown.get(name) !== undefined);
  const opens = { ...parts, toolOf, services };
  const ends = {
    ...parts,
    logger: scrubbingLogger(parts.logger, layers),
    noteReceipt: approvals.noteReceipt,
    maxPreviewBytes: limits.maxPreviewBytes,
  };
  return async (given, options, run, extra = NO_EXTRA) => {
    checkRequest(given, options);
    const request = cleaned(given);
    const { over = null } = extra;
    // What has happened is written down also for a caller that has gone.
    const { signal, [OWN_ABORT]: own } = over === null ? options : NO_OPTIONS;
    const linked = own === undefined ? abortWith(signal) : { source: own, unlink: nothingToLet };
    const turn = turnOf(options.turn);
    calls.begin();
    try {
      const opening: Opening = {
        turn,
        abort: linked.source,
        // What ran elsewhere need not have been offered here.
        tool: over === null ? entries.find(request.name, turn) : (shown.get(request.name) ?? null),
        onProgress: options.onProgress ?? null,
        over,
        nesting: extra.nesting ?? 0,
        conditions: extra.conditions ?? null,
        seat: extra.seat ?? null,
        resumption: extra.resumption ?? null,
        isBackground: extra.isBackground ?? false,
      };
      const call = openCall(request, opening, opens);
      announce(call, ends);
      let answer: ToolResult;
      try {
        answer = await run(call);
      } catch (raised) {
        await finished(call, answerOf(call, raised), ends);
        throw raised;
      }
      const result = finished(call, answer, ends);
      return result instanceof Promise ? await result : result;
    } finally {
      linked.unlink();
      calls.end();
    }
  };
}

interface ResumerParts {
  readonly approvals: Approvals;
  readonly shown: ShownTools;
  readonly stacks: Stacks;
  readonly run: Run;
  readonly start: Start;
}

/** Takes up a call that waited, and tells a background tool what its run came to. */
function resumer({ approvals, shown, stacks, run, start }: ResumerParts): Dispatcher['resume'] {
  return async (id, decision, options = {}) => {
    const result = await approvals.resume(
      id,
      decision,
      ({ request, turn, opening, lost }) => {
        const road: Run = lost === null ? run : (call) => stacks.watched(call, diedWith(lost));
        return start(request, { ...options, turn }, road, opening);
      },
      options.signal ?? options[OWN_ABORT]?.read(),
    );
    await shown.get(result.toolName)?.background?.resumed(result.toolCallId, result);
    return result;
  };
}

/**
 * Turns with what a host left out. Only resume counts resumptions: a host's turn cannot claim to
 * have been counted.
 */
const turnsOf =
  (session: string): Dispatcher['turnOf'] =>
  (given = {}) => {
    const turn: { -readonly [Name in keyof Turn]?: Turn[Name] } = { ...given };
    turn.iteration ??= 0;
    turn.sessionId ??= session;
    if (turn.resumes !== undefined) delete turn.resumes;
    return Object.freeze(turn) as Turn; // Both members that a turn must have are there.
  };

/** A process took the call up and died with it: it may have run, and must not run again. */
const diedWith =
  (approval: JsonObject): Next =>
  async (call) =>
    annotate(fail(call, 'outcome_unknown', null, DIED, { executed: 'unknown' }), { approval });

const DIED =
  'The call was approved and taken up, and the process that ran it died. It may have done its work; check before you ask for it again.';

/** The executor of the stack: whichever tool the layers chose. */
function toolRunner(
  { sources, limits, executorFor }: DispatcherParts,
  { toolOf, objectTo }: Entries,
  contextFor: RunToolOptions['contextFor'],
): Next {
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
