/**
 * The dispatcher's own stages: who may come in, how many, and with which arguments the tool is
 * entered.
 */

import { annotate, raise, refuse } from '../../core/onion/results.ts';
import { isAborted, stateOf } from '../../core/onion/own-call.ts';
import type { EntryPatch } from '../../core/contract/audit-record.ts';
import type { ToolCall, Turn } from '../../core/contract/call.ts';
import { closest } from '../../core/contract/closest.ts';
import { oneLine, type ErrorCode } from '../../core/contract/errors.ts';
import { cancelled } from '../../core/onion/frame.ts';
import { breached } from '../../core/onion/gates.ts';
import type { Stage } from '../../core/onion/stage.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { gateCall, conditionsOf } from '../../core/onion/conditions.ts';
import { promiseRequests } from '../../policy/ambient-policy.ts';
import { capabilityGate } from '../../permissions/preflight.ts';
import { isFixedProposal } from '../../tools/fixed-proposal.ts';
import { describeProblems, validateJson } from '../../tools/schema/validator.ts';
import type { Tool } from '../../tools/tool.ts';
import { type ObjectToChange, comeBack, isBackground, recordOf } from '../record.ts';
import {
  type CallCounter,
  type DispatchLimits,
  type Semaphore,
  type Seat,
  takeSeat,
} from './limits.ts';

/** Deepest chain of tools that call tools. */
export const MAX_NESTING = 8;

export interface AdmissionOptions {
  readonly onUnknownTool: 'repair' | 'throw';
  readonly onInvalidArgs: 'repair' | 'throw';
  /** The names this turn may use, for the model to choose from. */
  readonly namesIn: (turn: Turn) => readonly string[];
}

/**
 * Unknown tools and arguments that do not fit what was advertised end here, seen by every observing
 * layer.
 */
export const admissionStage = (options: AdmissionOptions): Stage => ({
  name: 'admission',
  enter(call) {
    if (isAborted(call)) return cancelled(call);
    const record = recordOf(call);
    if (record.tool === null)
      return refused(
        unknownTool(call, options.namesIn(call.turn)),
        options.onUnknownTool,
        'ERR_UNKNOWN_TOOL',
      );
    const problem = record.problem ?? misfit(record.tool, call);
    if (problem !== null)
      return refused(invalidArgs(call, problem), options.onInvalidArgs, 'ERR_INVALID_ARGS');
    record.admitted = call.toolArgs;
    return call;
  },
  leave: withStripped,
  leaves: (call) => recordOf(call).hiddenStripped > 0,
  tooLate: inadmissible,
});

/**
 * What a call that ran elsewhere would have come to here. Its model was not shown what layers add
 * to a schema, so that is not asked for.
 */
function inadmissible(call: ToolCall): EntryPatch | null {
  const { tool, problem } = recordOf(call);
  if (tool === null) return { wouldHaveBeen: 'tool_not_found' };
  if (problem !== null) return { wouldHaveBeen: 'schema_violation', argumentsUnread: true };
  return validateJson(tool.ownSchema, call.toolArgs).length === 0
    ? null
    : { wouldHaveBeen: 'schema_violation' };
}

/** Notes how many hidden arguments a model sent, and never which. */
export function withStripped(call: ToolCall, result: ToolResult): ToolResult {
  const { hiddenStripped } = recordOf(call);
  if (hiddenStripped === 0) return result;
  return annotate(result, {
    metadata: { ...result.audit?.metadata, hiddenArgumentsStripped: hiddenStripped },
  });
}

const refused = (result: ToolResult, policy: 'repair' | 'throw', code: ErrorCode): ToolResult =>
  policy === 'throw' ? raise(result, code) : result;

function misfit(tool: Tool, call: ToolCall): string | null {
  const problems = validateJson(tool.inputSchema, call.toolArgs);
  return problems.length === 0 ? null : describeProblems(problems);
}

const SHOWN_NAMES = 50;

function unknownTool(call: ToolCall, names: readonly string[]): ToolResult {
  const guess = closest(call.toolName, names);
  const more = names.length > SHOWN_NAMES ? `, and ${names.length - SHOWN_NAMES} more` : '';
  const hint =
    guess === undefined
      ? `Tools you can use: ${names.slice(0, SHOWN_NAMES).join(', ')}${more}.`
      : `Did you mean "${guess}"?`;
  return refuse(
    call,
    'tool_not_found',
    `There is no tool "${oneLine(call.toolName)}". ${names.length === 0 ? 'No tools are available.' : hint}`,
  );
}

/** What the model is told about arguments that do not fit. */
export const invalidArgsText = (call: ToolCall, problem: string): string =>
  `The arguments of ${oneLine(call.toolName)} were not accepted: ${endedSentence(problem)} Correct them and call again.`;

/** A guess ends with a question mark, and then needs no full stop. */
const endedSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`);

const invalidArgs = (call: ToolCall, problem: string): ToolResult =>
  refuse(call, 'schema_violation', invalidArgsText(call, problem));

export interface LimitOptions {
  readonly limits: DispatchLimits;
  readonly perRun: CallCounter;
  readonly perSession: CallCounter;
  /** `null` where calls need no place. */
  readonly semaphore: Semaphore | null;
  /** `seat` is the place that the call takes, `null` where it takes none. */
  readonly onStart: (call: ToolCall, seat: Seat | null) => void;
}

/** Counts calls and makes them wait their turn. A resumed call was counted when it first came. */
export function limitStage({
  limits,
  perRun,
  perSession,
  semaphore,
  onStart,
}: LimitOptions): Stage {
  const take = ({ turn }: ToolCall): string | null => {
    if ((turn.resumes ?? 0) > 0) return null;
    const { runId, sessionId } = turn;
    // Calls that name no run share one count, which has no owner: leaving the name out must not
    // lift the limit.
    const isWithinRun =
      runId === undefined ? perRun.take('no run') : perRun.take(`run ${runId}`, sessionId);
    if (!isWithinRun) return `this run has used its ${limits.maxCallsPerRun ?? 0} tool calls`;
    if (!perSession.take(sessionId, sessionId))
      return `this session has used its ${limits.maxCallsPerSession ?? 0} tool calls`;
    return null;
  };
  const start = (call: ToolCall, seat: Seat | null): ToolCall => {
    onStart(call, seat);
    return call;
  };
  const seated = async (call: ToolCall, places: Semaphore): Promise<ToolCall | ToolResult> => {
    const seat = await takeSeat(places, call.signal, call.turn.sessionId);
    return seat === null ? cancelled(call) : start(call, seat);
  };
  return {
    name: 'limits',
    enter(call) {
      const { nesting } = stateOf(call);
      if (nesting > MAX_NESTING)
        return refuse(
          call,
          'limit_exceeded',
          `Tools called each other more than ${MAX_NESTING} deep.`,
        );
      const spent = take(call);
      if (spent !== null)
        return refuse(
          call,
          'limit_exceeded',
          `No more calls: ${spent}. Finish with what you have.`,
        );
      return semaphore !== null && needsSeat(call) ? seated(call, semaphore) : start(call, null);
    },
    leave(call, result) {
      recordOf(call).seats.at(-1)?.leave();
      return result;
    },
    leaves: (call) => semaphore !== null && needsSeat(call),
    // It happened, so it counts; a count that is full stays full.
    tooLate: (call) => (take(call) === null ? null : { wouldHaveBeen: 'limit_exceeded' }),
  };
}

/**
 * What a tool calls itself rides on the tool's place, and what runs in the background would keep
 * others from asking after it.
 */
const needsSeat = (call: ToolCall): boolean => stateOf(call).nesting === 0 && !isBackground(call);

/** The last look before the executor: layers may have changed the tool and its arguments. */
export const entryStage = (
  toolOf: (call: ToolCall, name: string) => Tool | null,
  objectTo: ObjectToChange,
  namesIn: AdmissionOptions['namesIn'],
): Stage => ({
  name: 'entry',
  enter(call) {
    const tool = toolOf(call, call.toolName);
    const objection = tool === null ? null : objectTo(call, tool);
    if (tool === null || objection?.status === 'tool_not_found')
      return unknownTool(call, namesIn(call.turn));
    // Told before the permission check asks a person about a tool that is not there any more.
    if (objection !== null) return breached(call, objection);
    const record = recordOf(call);
    const untouched =
      call.toolArgs === record.admitted &&
      tool === record.tool &&
      tool.inputSchema === tool.ownSchema;
    const problems = untouched ? [] : validateJson(tool.ownSchema, call.toolArgs);
    if (problems.length > 0) return invalidArgs(call, describeProblems(problems));
    const preflighted = withCapabilityGate(tool, call);
    // A layer that asked a person may have forgotten that the call gave up its place.
    return record.isAside ? comeBack(call).then(() => preflighted) : preflighted;
  },
});

/**
 * Where a tool says what it is about to do, that is held to the policy of the call, with or without
 * permissions laid down.
 */
function withCapabilityGate(tool: Tool, call: ToolCall): ToolCall {
  if (
    tool.proposedRequests === undefined ||
    (isFixedProposal(tool.proposedRequests) && isFree(call))
  )
    return call;
  promiseRequests(call);
  return gateCall(call, capabilityGate);
}

/** Whether no layer laid down anything that a proposal could be held to. */
const isFree = (call: ToolCall): boolean => {
  const { checks, policy } = conditionsOf(call);
  return policy === null && checks.every(({ at }) => at === 'ask');
};
