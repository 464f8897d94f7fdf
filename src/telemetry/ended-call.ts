/** A call that has ended, as every form of a span is made from it. */

import type { ToolCall } from '../core/contract/call.ts';
import { type ApprovalWait, approvalWaitOf } from '../approvals/consultation.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { outcomeOf } from '../core/contract/status.ts';
import type { LayerEntry } from '../core/contract/audit-record.ts';
import type { Clock } from '../core/time/clock.ts';

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
  return { call, result, answer: result, lines, startMs, endMs, durationMs, wait };
}

const CODE = /^[A-Za-z0-9_.:-]{1,64}$/;

/**
 * What failed, as a code and never as a sentence; `null` for a call that came to a good end or
 * waits for somebody.
 */
export function errorTypeOf(result: ToolResult): string | null {
  if (outcomeOf(result) !== 'failed') return null;
  return (
    [result.errorCategory, result.status].find((code) => code !== null && CODE.test(code)) ??
    '_OTHER'
  );
}

/** Whether a scope or a rule kept the tool from running. */
export const isScopeViolation = ({ errorCategory }: ToolResult): boolean =>
  errorCategory === 'scope_violation' || errorCategory === 'policy_blocked';

/** The layers inside telemetry, innermost first. */
export function layersOf({ lines, startMs, endMs }: EndedCall): readonly LayerWork[] {
  return lines.map((line) => workOf(line, startMs, endMs));
}

/** Details of a line that may be numbers, and their names on a span. */
const COUNTS: ReadonlyMap<string, string> = new Map([
  ['count', 'count'],
  ['cap', 'cap'],
  ['limitMs', 'limit_ms'],
  ['retryAfterMs', 'retry_after_ms'],
  ['attempts', 'attempts'],
]);
/** Name, status and two times: a line with no more than these has no details. */
const PLAIN_LINE = 4;

/** A layer may put lines of its own into the record, in which anything can be missing. */
function workOf(line: LayerEntry, callStartMs: number, callEndMs: number): LayerWork {
  const startMs = timeOr(line.startedAt, callStartMs);
  return {
    name: typeof line.name === 'string' ? clip(line.name, MAX_NAME) : 'unknown',
    status: typeof line.status === 'string' ? clip(line.status, MAX_NAME) : 'unknown',
    startMs,
    endMs: Math.max(startMs, timeOr(line.endedAt, callEndMs)),
    counts: countsIn(line),
  };
}

const NO_COUNTS: LayerWork['counts'] = Object.freeze({});

function countsIn(line: LayerEntry): LayerWork['counts'] {
  const keys = Object.keys(line);
  if (keys.length <= PLAIN_LINE) return NO_COUNTS;
  let counts: Record<string, number> | null = null;
  for (const key of keys) {
    const name = COUNTS.get(key);
    const value = name === undefined ? undefined : line[key];
    if (name !== undefined && typeof value === 'number' && Number.isFinite(value))
      (counts ??= {})[name] = value;
  }
  return counts ?? NO_COUNTS;
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

/** `null` for a first pass, and where the times are not known. */
export function humanWaitOf(call: ToolCall): HumanWait | null {
  // Runs for every call, and only a resumed call can have waited for a person.
  const wait = call.turn.resumes === undefined ? null : approvalWaitOf(call);
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
