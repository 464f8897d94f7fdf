/**
 * A call that has ended, as every form of a span is made from it, and the attributes of a span:
 * under the names of the GenAI conventions and, where those have none, under `allium.`. The
 * conventions are not stable yet, so the names are written out here instead of being taken from a
 * package.
 */

import type { ToolCall } from '../core/contract/call.ts';
import { type ApprovalWait, approvalWaitOf } from '../approvals/consultation.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { outcomeOf } from '../core/contract/status.ts';
import type { LayerEntry } from '../core/contract/audit-record.ts';
import type { Clock } from '../core/time/clock.ts';
import { accountOf } from '../core/onion/account.ts';
import { hashOf } from '../core/onion/conditions.ts';

/** For names and codes. */
export const MAX_NAME = 128;
/** For descriptions and whatever a host attaches. */
export const MAX_TEXT = 1024;
/** For captured arguments and results. */
export const MAX_CONTENT = 32_768;
/** How many layers of a call become child spans. */
export const MAX_CHILDREN = 128;

/**
 * At most `max` characters, and never half of one: a lone surrogate is no valid UTF-8 and exporters
 * choke on it.
 */
export function clip(text: string, max: number): string {
  const cut = text.length > max ? text.slice(0, max) : text;
  return cut.isWellFormed() ? cut : cut.toWellFormed();
}

/** Times are wall-clock milliseconds since 1970, except for the duration. */
export interface EndedCall {
  readonly call: ToolCall;
  /** What this layer got. */
  readonly result: ToolResult;
  /** What the caller of the stack gets, where content is captured. */
  readonly answer: ToolResult;
  /**
   * The lines so far, as far as there are not too many: layers outside add theirs to the same
   * record.
   */
  readonly lines: readonly LayerEntry[];
  /**
   * What failed, as a code and never as a sentence; `null` for a call that came to a good end or
   * waits for a person.
   */
  readonly errorType: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly durationMs: number;
  /** How long a person took to decide, before this pass over the call. */
  readonly wait: HumanWait | null;
}

/** One layer at work: a line of the audit record with times that can be counted with. */
export interface LayerWork {
  readonly name: string;
  readonly status: string;
  readonly startMs: number;
  readonly endMs: number;
  /**
   * Numbers the layer gave its line. Nothing else of a line is taken over: details may quote
   * arguments.
   */
  readonly counts: Readonly<Record<string, number>>;
}

/** What was read when the call came. */
export interface Started {
  readonly startMs: number;
  readonly startTick: number;
  readonly wait: HumanWait | null;
}

/** Stops the watch that `startMs` and `startTick` were read from. */
export function endCall(
  call: ToolCall,
  result: ToolResult,
  clock: Clock,
  { startMs, startTick, wait }: Started,
): EndedCall {
  const durationMs = Math.max(0, clock.monotonic() - startTick);
  const byDuration = startMs + durationMs;
  const now = clock.now();
  // The wall clock counts whole milliseconds, so that a layer inside may seem to end after its
  // call. It may also jump; then the duration is the truth.
  const endMs = now > byDuration && now - byDuration < 2 ? now : byDuration;
  const lines = result.audit?.layers.slice(0, MAX_CHILDREN) ?? [];
  const errorType = result.ok ? null : errorTypeOf(result);
  return { call, result, answer: result, lines, errorType, startMs, endMs, durationMs, wait };
}

const CODE = /^[A-Za-z0-9_.:-]{1,64}$/;

function errorTypeOf(result: ToolResult): string | null {
  if (outcomeOf(result) !== 'failed') return null;
  return (
    [result.errorCategory, result.status].find((code) => code !== null && CODE.test(code)) ??
    '_OTHER'
  );
}

/** Whether a scope or a rule kept the tool from running. */
export const isScopeViolation = ({ errorCategory }: ToolResult): boolean =>
  errorCategory === 'scope_violation' || errorCategory === 'policy_blocked';

/** Details of a line that may be numbers, and their names on a span. */
const COUNTS: ReadonlyMap<string, string> = new Map([
  ['count', 'count'],
  ['cap', 'cap'],
  ['limitMs', 'limit_ms'],
  ['retryAfterMs', 'retry_after_ms'],
  ['attempts', 'attempts'],
]);
const NO_COUNTS: LayerWork['counts'] = Object.freeze({});

/**
 * What a layer inside telemetry did. It may put lines of its own into the record, in which anything
 * can be missing; the call's own times stand in for theirs.
 */
export function workOf(line: LayerEntry, { startMs: from, endMs: to }: EndedCall): LayerWork {
  const startMs = timeOr(line.startedAt, from);
  let counts: Record<string, number> | null = null;
  for (const key in line) {
    const name = COUNTS.get(key);
    const value = name === undefined ? undefined : line[key];
    if (name !== undefined && typeof value === 'number' && Number.isFinite(value))
      (counts ??= {})[name] = value;
  }
  return {
    name: typeof line.name === 'string' ? clip(line.name, MAX_NAME) : 'unknown',
    status: typeof line.status === 'string' ? clip(line.status, MAX_NAME) : 'unknown',
    startMs,
    endMs: Math.max(startMs, timeOr(line.endedAt, to)),
    counts: counts ?? NO_COUNTS,
  };
}

const parsed = { iso: '', ms: Number.NaN };

/** The lines of one call share a few milliseconds, and parsing costs more than comparing. */
function timeOr(iso: unknown, otherwise: number): number {
  if (typeof iso !== 'string') return otherwise;
  if (iso !== parsed.iso) {
    parsed.ms = Date.parse(iso);
    parsed.iso = iso;
  }
  return Number.isFinite(parsed.ms) ? parsed.ms : otherwise;
}

/**
 * The time a person took to decide about a call, between two passes over it. Wall-clock
 * milliseconds since 1970, of two machines perhaps.
 */
export interface HumanWait extends ApprovalWait {
  readonly startMs: number;
  readonly endMs: number;
}

/** The name of its span. */
export const WAIT_SPAN = 'allium.approval_wait';

/** For a call that was resumed. `null` where the times are not known. */
export function humanWaitOf(call: ToolCall): HumanWait | null {
  const wait = approvalWaitOf(call);
  if (wait === null) return null;
  const [startMs, decidedMs] = [Date.parse(wait.requestedAt), Date.parse(wait.decidedAt)];
  if (!Number.isFinite(startMs) || !Number.isFinite(decidedMs)) return null;
  // The clocks of two machines may differ by more than the person took.
  return { ...wait, startMs, endMs: Math.max(startMs, decidedMs) };
}

/** Codes and ids: not who decided, and not why. */
export const waitAttributes = ({ id, gate, decision }: HumanWait): Record<string, string> => ({
  'allium.approval.id': clip(id, MAX_NAME),
  'allium.approval.gate': clip(gate, MAX_NAME),
  'allium.approval.decision': clip(decision, MAX_NAME),
});

/** What a span says about a call; flat, as exporters want it. */
export type SpanAttributes = Record<string, string | number | boolean>;

export const OPERATION = 'gen_ai.operation.name';
export const TOOL_NAME = 'gen_ai.tool.name';
export const ERROR_TYPE = 'error.type';
export const STATUS = 'allium.status';
export const EXECUTE_TOOL = 'execute_tool';

/**
 * What is known before the call goes on: samplers decide by these. Ours win over what a host
 * attached.
 */
export function openingAttributes(
  call: ToolCall,
  attached: Readonly<SpanAttributes> | null,
): SpanAttributes {
  const { declaredExecutor: executor, description, turn } = call;
  const own: SpanAttributes = {
    [OPERATION]: EXECUTE_TOOL,
    [TOOL_NAME]: clip(call.toolName, MAX_NAME),
    'gen_ai.tool.call.id': clip(call.callId, MAX_NAME),
    'gen_ai.conversation.id': clip(turn.sessionId, MAX_NAME),
    'allium.iteration': turn.iteration,
  };
  // One by one: spreading absent members in costs more than the rest of the span.
  if (description !== '') own['gen_ai.tool.description'] = clip(description, MAX_TEXT);
  if (executor !== null) own['gen_ai.tool.type'] = executor === 'local' ? 'function' : 'extension';
  if (executor !== null) own['allium.executor'] = executor;
  if (executor === 'mcp_server') own['mcp.method.name'] = 'tools/call';
  if (turn.resumes !== undefined) own['allium.resumes'] = turn.resumes;
  return attached === null ? own : { ...attached, ...own };
}

/**
 * What is known once the call has ended. Codes, counts and hashes: no text that a model, a tool or
 * a person wrote.
 */
export function closingAttributes({ call, result, errorType }: EndedCall): SpanAttributes {
  const own: SpanAttributes = {
    [STATUS]: clip(result.status, MAX_NAME),
    'allium.ok': result.ok,
    'allium.executed': result.executed,
    'allium.args_hash': hashOf(call, call.toolArgs),
  };
  if (errorType !== null) own[ERROR_TYPE] = errorType;
  const { blockedBy } = accountOf(result);
  if (blockedBy !== null) own['allium.blocked_by'] = clip(blockedBy, MAX_NAME);
  const { audit } = result;
  if (audit === undefined) return own;
  if (typeof audit.consent?.decision === 'string')
    own['allium.consent.decision'] = clip(audit.consent.decision, MAX_NAME);
  if (typeof audit.receiptUri === 'string')
    own['allium.receipt.uri'] = clip(audit.receiptUri, MAX_TEXT);
  if (audit.layers.length > MAX_CHILDREN)
    own['allium.layers.omitted'] = audit.layers.length - MAX_CHILDREN;
  return own;
}
