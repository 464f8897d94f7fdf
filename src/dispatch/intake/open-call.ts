/**
 * From what a model asked for to a call: names, arguments, identity, and the record the dispatcher
 * keeps with it.
 */

import { type Conditions, createPass } from '../../core/onion/pass.ts';
import {
  openConsultation,
  type CallServices,
  type EarlierDecision,
} from '../../approvals/consultation.ts';
import type { ToolOf } from '../../core/contract/layer.ts';
import type { ApprovalPrompt } from '../../approvals/question.ts';
import { conditionsFor } from '../../core/onion/conditions.ts';
import { asCall, type CallParts } from '../../core/onion/own-call.ts';
import { completeAnnotations } from '../../core/contract/annotations.ts';
import type {
  ExecutorKind,
  ToolCall,
  ToolProgress,
  Turn,
  CreateId,
} from '../../core/contract/call.ts';
import { describeThrown, oneLine } from '../../core/contract/errors.ts';
import { closest } from '../../core/contract/closest.ts';
import { isObject } from '../../core/json/json.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { AbortSource } from '../../core/time/abort.ts';
import type { Executed } from '../../core/contract/status.ts';
import { toolCallProgressEvent } from '../../core/wire/wire.ts';
import { ownDefinition } from '../../tools/own-definition.ts';
import type { Logger, Tool, ToolRequest } from '../../tools/tool.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { EventHub } from '../events/events.ts';
import { stripHidden, readArguments } from './arguments.ts';
import type { ResolvedLimits, Seat } from './limits.ts';
import type { DispatchRecord } from '../record.ts';

/**
 * What takes this call back, and no other: nothing that follows it outlives the call. In the place
 * of a signal, and not for hosts.
 */
export const OWN_ABORT: unique symbol = Symbol('allium.own-abort');

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly [OWN_ABORT]?: AbortSource;
  readonly turn?: Partial<Turn>;
  readonly onProgress?: (progress: ToolProgress) => void;
}

/** What the dispatcher gives every call it opens. */
export interface OpeningParts {
  readonly hub: EventHub;
  readonly logger: Logger;
  readonly limits: ResolvedLimits;
  readonly clock: Clock;
  readonly createId: CreateId;
  readonly prompts: readonly ApprovalPrompt[];
  readonly toolOf: ToolOf;
  readonly services: CallServices;
}

/** What is settled about a call before it is opened. */
export interface Opening {
  readonly onProgress: ((progress: ToolProgress) => void) | null;
  readonly abort: AbortSource;
  readonly turn: Turn;
  /** The tool of that name in that turn, or `null`. */
  readonly tool: Tool | null;
  readonly nesting: number;
  /** What the tool is held to that makes this call. */
  readonly conditions: Conditions | null;
  /** Who ran the call elsewhere, and what came of it; `null` for one that is yet to run. */
  readonly over: { readonly output: unknown; readonly executor: ExecutorKind } | null;
  readonly seat: Seat | null;
  /** It runs behind a call that has been answered. */
  readonly isBackground: boolean;
  /** What was decided about this call before, and where that left off. */
  readonly resumption: Resumption | null;
}

/** A call that is taken up again. */
export interface Resumption {
  readonly resumes: number;
  readonly decisions: readonly EarlierDecision[];
  /** The span it goes on from, as a W3C `traceparent`. */
  readonly trace: string | null;
  /** What may have happened since. */
  readonly executedBefore: Executed;
}

const MAX_NAME = 128;
const text = { text: 'a string', test: (value: unknown) => typeof value === 'string' };

/** For a call without any options. */
export const NO_OPTIONS: CallOptions = Object.freeze({});

/** Throws for what a host got wrong; what a model got wrong becomes a result. */
export function checkRequest(request: ToolRequest, options: CallOptions): void {
  checkOptions('call request', request, REQUEST);
  if (options !== NO_OPTIONS) checkOptions('call options', options, OPTIONS);
}

/**
 * A misspelt member would leave the call in a session of its own, where limits and receipts of the
 * session meant do not find it.
 */
function isTurn(turn: unknown): boolean {
  if (!isObject(turn)) return false;
  for (const key in turn) if (!TURN_MEMBERS.has(key)) return false;
  const { sessionId, turnId, runId, iteration = 0 } = turn;
  return isId(sessionId) && isId(turnId) && isId(runId) && typeof iteration === 'number';
}

const isId = (id: unknown): boolean => id === undefined || typeof id === 'string';

const TURN: Readonly<Record<keyof Turn, true>> = {
  ...{ sessionId: true, turnId: true, runId: true, iteration: true, emitOrder: true },
  ...{ model: true, provider: true, prefetchNextTurn: true, resumes: true },
};
const TURN_MEMBERS: ReadonlySet<string> = new Set(Object.keys(TURN));

/** Names of members are what the host wrote in its code, and no values. */
function misspeltMember(turn: unknown): string | undefined {
  const unknown = isObject(turn)
    ? Object.keys(turn).find((key) => !TURN_MEMBERS.has(key))
    : undefined;
  if (unknown === undefined) return undefined;
  const guess = closest(unknown, TURN_MEMBERS);
  return `it has "${oneLine(unknown)}"${guess === undefined ? '' : `, did you mean "${guess}"?`}`;
}

const REQUEST = {
  name: expected.required(text),
  arguments: { text: 'arguments', test: () => true },
  id: text,
} as const;
const OPTIONS = {
  signal: { text: 'an AbortSignal', test: (value: unknown) => value instanceof AbortSignal },
  turn: {
    text: `a turn, whose ids are strings, whose iteration is a number, and that has only ${Object.keys(TURN).join(', ')}`,
    test: isTurn,
    hint: misspeltMember,
  },
  onProgress: expected.function,
} as const;

const NO_DECISIONS: readonly EarlierDecision[] = Object.freeze([]);

/**
 * Makes the call. Arguments that cannot be used are noted for admission, so that observing layers
 * see the call too. What every call needs is written out member by member: to join it from parts
 * costs more than the rest of this.
 */
export function openCall(request: ToolRequest, opening: Opening, parts: OpeningParts): ToolCall {
  const { tool, turn, abort, over, seat, resumption, isBackground, conditions } = opening;
  const { args: sent, problem } = readArguments(request.arguments, parts.limits);
  const { args, stripped } = tool === null ? { args: sent, stripped: 0 } : stripHidden(tool, sent);
  const record: DispatchRecord = {
    tool,
    others: null,
    problem,
    hiddenStripped: stripped,
    opened: args,
    decisions: resumption?.decisions ?? NO_DECISIONS,
    isBackground,
    report: (progress) => tell(call, record, progress, opening, parts),
    output: over?.output,
    seats: seat === null ? [] : [seat],
    isAside: false,
    admitted: null,
    done: false,
    reported: 0,
    uses: null,
  };
  const fields: CallParts = {
    // No tool has a longer name, and what a model makes up is not for every record to carry whole.
    toolName: tool === null ? request.name.slice(0, MAX_NAME) : request.name,
    toolArgs: args,
    callId: request.id === undefined || request.id === '' ? `call_${parts.createId()}` : request.id,
    declaredExecutor: over?.executor ?? tool?.executor ?? null,
    schema: tool?.ownSchema ?? null,
    description: tool?.description ?? '',
    annotations: tool?.annotations ?? completeAnnotations(),
    turn,
    report: record.report,
  };
  const { clock, createId, toolOf, prompts, services } = parts;
  const pass = createPass({
    clock,
    createId,
    host: record,
    nesting: opening.nesting,
    toolOf,
    consultation: openConsultation({ prompts, services, decisions: record.decisions }),
    ranElsewhere: over !== null,
    definition: tool === null ? null : ownDefinition(tool),
    executedBefore: resumption?.executedBefore ?? 'no',
  });
  const asked = resumption === null ? fields : resumed(fields, resumption);
  const call = asCall(asked, {
    state: pass,
    frame: null,
    conditions: conditionsFor(conditions),
    abort,
  });
  return call;
}

function resumed(fields: CallParts, { resumes, trace }: Resumption): CallParts {
  const turn = Object.freeze({ ...fields.turn, resumes });
  return trace === null
    ? { ...fields, turn }
    : { ...fields, turn, metadata: Object.freeze({ traceparent: trace }) };
}

function tell(
  call: ToolCall,
  record: DispatchRecord,
  progress: ToolProgress,
  { onProgress }: Opening,
  { hub, logger }: OpeningParts,
): void {
  if (record.done) return;
  record.reported += 1;
  hub.emit('tool_call_progress', toolCallProgressEvent, call, progress);
  try {
    onProgress?.(progress);
  } catch (thrown) {
    logger.warn({ error: describeThrown(thrown) }, 'an onProgress callback failed');
  }
}
