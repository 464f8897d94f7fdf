/** camelCase in memory, snake_case in receipts, events, span records and audit records. */

import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { AuditRecord } from '../contract/audit-record.ts';
import type { ExecutorKind, ToolProgress } from '../contract/call.ts';
import { isAlliumError } from '../contract/errors.ts';
import { isObject, MAX_JSON_DEPTH, notJson, snapshot } from '../json/json.ts';
import type { Executed } from '../contract/status.ts';
import { type Reach, reachBelow, type Spelling, spellingsOf } from './wire-names.ts';

export { OPAQUE_MEMBERS } from './wire-names.ts';

/**
 * A frozen copy with snake_case names. Converts names of the form `[a-z][a-zA-Z0-9]*` at every
 * depth outside `OPAQUE_MEMBERS` and leaves every other name as it is; `undefined` members are left
 * out. Throws `ERR_NOT_JSON` for what is not JSON, and for two members that become one. Cleans
 * nothing: what must not leave has to be gone before.
 */
export const toWire = (record: object): JsonObject => convertRecord(record, 'snake');

/**
 * The way back. `fromWire(toWire(record))` equals the record if none of its names outside
 * `OPAQUE_MEMBERS` was snake_case in memory already.
 */
export const fromWire = (record: object): JsonObject => convertRecord(record, 'camel');

/** Where the conversion is. A path is worked out only for an error. */
interface Place {
  readonly above: Place | null;
  readonly step: string | number;
  /** The nearest member above, in camelCase. */
  readonly member: string;
  readonly depth: number;
  readonly reach: Reach;
}

function convertRecord(record: object, to: Spelling): JsonObject {
  const converted = convert(record, to, {
    above: null,
    step: '',
    member: '',
    depth: 0,
    reach: 'all',
  });
  if (!isObject(converted)) throw notJson('', 'is not an object');
  return converted;
}

function convert(value: unknown, to: Spelling, place: Place): JsonValue {
  if (isScalar(value)) return value;
  if (typeof value !== 'object' || place.reach === 'none') return snapshotAt(value, place);
  if (place.depth >= MAX_JSON_DEPTH)
    throw notJson(pathOf(place), `nests deeper than ${MAX_JSON_DEPTH}`);
  if (Array.isArray(value))
    return place.reach === 'here' ? snapshotAt(value, place) : convertItems(value, to, place);
  const prototype: unknown = Object.getPrototypeOf(value);
  // Dates and the like say themselves what they are as JSON.
  if (prototype !== Object.prototype && prototype !== null)
    return convert(snapshotAt(value, place), to, place);
  // Any object can be read by its own names.
  return convertMembers(value as Readonly<Record<string, unknown>>, to, place);
}

const isScalar = (value: unknown): value is string | number | boolean | null =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  value === null ||
  Number.isFinite(value);

function convertItems(items: readonly unknown[], to: Spelling, above: Place): readonly JsonValue[] {
  const converted: JsonValue[] = [];
  for (let step = 0; step < items.length; step += 1) {
    converted.push(
      convert(items[step], to, {
        above,
        step,
        member: above.member,
        depth: above.depth + 1,
        reach: above.reach,
      }),
    );
  }
  return Object.freeze(converted);
}

function convertMembers(
  members: Readonly<Record<string, unknown>>,
  to: Spelling,
  above: Place,
): JsonObject {
  const converted: Record<string, JsonValue> = {};
  for (const step of Object.keys(members)) {
    const value = members[step];
    if (value === undefined) continue;
    const spellings = spellingsOf(step);
    const name = spellings[to];
    if (Object.hasOwn(converted, name))
      throw notJson(pathOf(above), `has two members that become "${name}"`);
    const item = isScalar(value) ? value : convert(value, to, below(above, step, spellings.camel));
    // Assigning `__proto__` would set the prototype instead of a member.
    if (name === '__proto__')
      Object.defineProperty(converted, name, { value: item, enumerable: true });
    else converted[name] = item;
  }
  return Object.freeze(converted);
}

function below(above: Place, step: string, member: string): Place {
  return {
    above,
    step,
    member,
    depth: above.depth + 1,
    reach: reachBelow(above.reach, above.member, member),
  };
}

function snapshotAt(value: unknown, place: Place): JsonValue {
  try {
    return snapshot(value);
  } catch (error) {
    throw isAlliumError(error)
      ? notJson(pathOf(place), `holds what is not JSON: ${error.message}`)
      : error;
  }
}

function pathOf(place: Place): string {
  let path = '';
  for (let at = place; at.above !== null; at = at.above) {
    path = (typeof at.step === 'number' ? `[${at.step}]` : `.${at.step}`) + path;
  }
  return path.replace(/^\./, '');
}

/** Which call an event is about. */
export interface EventCall {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly toolName: string;
}

export interface WireCall {
  readonly session_id: string;
  readonly tool_call_id: string;
  readonly tool_name: string;
}

/** A call has come in. */
export interface ToolCallEvent extends WireCall {
  readonly type: 'tool_call';
  readonly status: 'pending';
}

/** A call has started, waits for a person, or has ended. */
export interface ToolCallUpdateEvent extends WireCall {
  readonly type: 'tool_call_update';
  readonly status: 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'paused';
  readonly executed?: Executed;
  readonly error?: string;
  readonly error_category?: string;
  readonly executor?: ExecutorKind;
  readonly duration_ms?: number;
}

/** A tool says how far it is. */
export interface ToolCallProgressEvent extends WireCall {
  readonly type: 'tool_call_progress';
  readonly progress: ToolProgress;
}

/** What the layers said about a call. */
export interface ToolCallAuditEvent extends WireCall {
  readonly type: 'tool_call_audit';
  readonly audit: JsonObject;
  readonly receipt?: JsonObject;
}

/** What a listener gets. */
export type ToolEvent =
  | ToolCallEvent
  | ToolCallUpdateEvent
  | ToolCallProgressEvent
  | ToolCallAuditEvent
  | TaskEvent;

export const wireCall = ({ sessionId, toolCallId, toolName }: EventCall): WireCall => ({
  session_id: sessionId,
  tool_call_id: toolCallId,
  tool_name: toolName,
});

/**
 * Frozen, like all of them. Each takes exactly the fields it names: a result spread into it leaks
 * nothing.
 */
export const toolCallEvent = (call: EventCall): ToolCallEvent =>
  Object.freeze({ type: 'tool_call', ...wireCall(call), status: 'pending' } as const);

/**
 * What `toolCallUpdateEvent` takes. A result's `null` counts as absent: on the wire absent is not
 * there.
 */
export interface ToolCallUpdate extends EventCall {
  readonly status: ToolCallUpdateEvent['status'];
  readonly executed?: Executed | undefined;
  readonly error?: string | null | undefined;
  readonly errorCategory?: string | null | undefined;
  readonly executor?: ExecutorKind | null | undefined;
  readonly durationMs?: number | undefined;
}

/** The event for a start, a pause or an ending. */
export function toolCallUpdateEvent(update: ToolCallUpdate): ToolCallUpdateEvent {
  const { status, executed, error, errorCategory, executor, durationMs } = update;
  return Object.freeze({
    type: 'tool_call_update',
    ...wireCall(update),
    status,
    ...(executed === undefined ? {} : { executed }),
    ...(error == null ? {} : { error }),
    ...(errorCategory == null ? {} : { error_category: errorCategory }),
    ...(executor == null ? {} : { executor }),
    ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
  } as const);
}

/** Throws `ERR_NOT_JSON` if the tool reported what JSON cannot say. */
export function toolCallProgressEvent({
  progress,
  ...call
}: EventCall & { readonly progress: ToolProgress }): ToolCallProgressEvent {
  return Object.freeze({
    type: 'tool_call_progress',
    ...wireCall(call),
    progress: toWire(progress),
  } as const);
}

/** Takes the record as it is in memory; a receipt may be in either spelling. */
export function toolCallAuditEvent({
  audit,
  receipt,
  ...call
}: EventCall & {
  readonly audit: AuditRecord;
  readonly receipt?: object | undefined;
}): ToolCallAuditEvent {
  const event = { type: 'tool_call_audit', ...wireCall(call), audit: toWire(audit) } as const;
  return Object.freeze(receipt === undefined ? event : { ...event, receipt: toWire(receipt) });
}

/**
 * A task has started, waits for a person, or has ended. `tool_call_id` is that of the call that
 * started it.
 */
export interface TaskEvent extends WireCall {
  readonly type: 'task';
  /** Its run is a call of this id, with events, a receipt and a span of its own. */
  readonly task_id: string;
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  /**
   * What the model would read, once there is an answer. The only event that carries one: no
   * caller waits for the answer of a task.
   */
  readonly content?: string;
}

/** What `taskEvent` takes. */
export interface TaskUpdate extends EventCall {
  readonly taskId: string;
  readonly status: TaskEvent['status'];
  readonly text?: string | undefined;
}

export function taskEvent(update: TaskUpdate): TaskEvent {
  const { taskId, status, text } = update;
  const event = { type: 'task', ...wireCall(update), task_id: taskId, status } as const;
  return Object.freeze(text === undefined ? event : { ...event, content: text });
}
