/** camelCase in memory, snake_case in receipts, events, span records and audit records. */

import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { AuditRecord } from '../contract/audit-record.ts';
import type { ExecutorKind, ToolCall, ToolProgress, Turn } from '../contract/call.ts';
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

const OUTERMOST: Place = { above: null, step: '', member: '', depth: 0, reach: 'all' };

function convertRecord(record: object, to: Spelling): JsonObject {
  const converted = convert(record, to, OUTERMOST);
  if (!isObject(converted)) throw notJson('', 'is not an object');
  return converted;
}

function convert(value: unknown, to: Spelling, place: Place): JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || place.reach === 'none') return snapshotAt(value, place);
  if (place.depth >= MAX_JSON_DEPTH)
    throw notJson(pathOf(place), `nests deeper than ${MAX_JSON_DEPTH}`);
  if (Array.isArray(value)) {
    if (place.reach === 'here') return snapshotAt(value, place);
    const { member, reach } = place;
    const depth = place.depth + 1;
    const items: JsonValue[] = [];
    for (let step = 0; step < value.length; step += 1)
      items.push(convert(value[step], to, { above: place, step, member, depth, reach }));
    return Object.freeze(items);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  // Dates and the like say themselves what they are as JSON.
  if (prototype !== Object.prototype && prototype !== null)
    return convert(snapshotAt(value, place), to, place);
  // Any object can be read by its own names.
  return convertMembers(value as Readonly<Record<string, unknown>>, to, place);
}

function convertMembers(
  members: Readonly<Record<string, unknown>>,
  to: Spelling,
  above: Place,
): JsonObject {
  const depth = above.depth + 1;
  const converted: Record<string, JsonValue> = {};
  for (const step of Object.keys(members)) {
    const value = members[step];
    if (value === undefined) continue;
    const spellings = spellingsOf(step);
    const name = spellings[to];
    if (Object.hasOwn(converted, name))
      throw notJson(pathOf(above), `has two members that become "${name}"`);
    let item: JsonValue;
    // Most are strings.
    if (typeof value === 'string') item = value;
    else {
      const member = spellings.camel;
      const reach = reachBelow(above.reach, above.member, member);
      item = convert(value, to, { above, step, member, depth, reach });
    }
    // Assigning `__proto__` would set the prototype instead of a member.
    if (name === '__proto__')
      Object.defineProperty(converted, name, { value: item, enumerable: true });
    else converted[name] = item;
  }
  return Object.freeze(converted);
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

/** Which call an event is about: what it has of a call. */
export interface EventCall extends Pick<ToolCall, 'callId' | 'toolName'> {
  readonly turn: Pick<Turn, 'sessionId'>;
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

/**
 * Frozen, like all of them. Each takes exactly the fields it names: a result spread into a call or
 * an update leaks nothing.
 */
export const toolCallEvent = (call: EventCall): ToolCallEvent =>
  Object.freeze({
    type: 'tool_call',
    session_id: call.turn.sessionId,
    tool_call_id: call.callId,
    tool_name: call.toolName,
    status: 'pending',
  } as const);

/**
 * What `toolCallUpdateEvent` takes. A result's `null` counts as absent: on the wire absent is not
 * there.
 */
export interface ToolCallUpdate {
  readonly status: ToolCallUpdateEvent['status'];
  readonly executed?: Executed | undefined;
  readonly error?: string | null | undefined;
  readonly errorCategory?: string | null | undefined;
  readonly executor?: ExecutorKind | null | undefined;
  readonly durationMs?: number | undefined;
}

/** The event for a start, a pause or an ending. */
export function toolCallUpdateEvent(call: EventCall, update: ToolCallUpdate): ToolCallUpdateEvent {
  const { status, executed, error, errorCategory, executor, durationMs } = update;
  const event: { -readonly [K in keyof ToolCallUpdateEvent]: ToolCallUpdateEvent[K] } = {
    type: 'tool_call_update',
    session_id: call.turn.sessionId,
    tool_call_id: call.callId,
    tool_name: call.toolName,
    status,
  };
  if (executed !== undefined) event.executed = executed;
  if (error != null) event.error = error;
  if (errorCategory != null) event.error_category = errorCategory;
  if (executor != null) event.executor = executor;
  if (durationMs !== undefined) event.duration_ms = durationMs;
  return Object.freeze(event);
}

/** Throws `ERR_NOT_JSON` if the tool reported what JSON cannot say. */
export const toolCallProgressEvent = (
  call: EventCall,
  progress: ToolProgress,
): ToolCallProgressEvent =>
  Object.freeze({
    type: 'tool_call_progress',
    session_id: call.turn.sessionId,
    tool_call_id: call.callId,
    tool_name: call.toolName,
    progress: toWire(progress),
  } as const);

/** Takes the record as it is in memory; a receipt may be in either spelling. */
export function toolCallAuditEvent(
  call: EventCall,
  { audit, receipt }: { readonly audit: AuditRecord; readonly receipt: object | null },
): ToolCallAuditEvent {
  const event: { -readonly [K in keyof ToolCallAuditEvent]: ToolCallAuditEvent[K] } = {
    type: 'tool_call_audit',
    session_id: call.turn.sessionId,
    tool_call_id: call.callId,
    tool_name: call.toolName,
    audit: toWire(audit),
  };
  if (receipt !== null) event.receipt = toWire(receipt);
  return Object.freeze(event);
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
export interface TaskUpdate {
  readonly taskId: string;
  readonly status: TaskEvent['status'];
  readonly text?: string | undefined;
}

/** `call` is the one that started the task. */
export function taskEvent(call: EventCall, { taskId, status, text }: TaskUpdate): TaskEvent {
  const event: { -readonly [K in keyof TaskEvent]: TaskEvent[K] } = {
    type: 'task',
    session_id: call.turn.sessionId,
    tool_call_id: call.callId,
    tool_name: call.toolName,
    task_id: taskId,
    status,
  };
  if (text !== undefined) event.content = text;
  return Object.freeze(event);
}
