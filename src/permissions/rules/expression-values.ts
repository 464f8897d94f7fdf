/**
 * What a rule's expression sees of a request: JSON in a form where a name from outside is only ever
 * a key.
 */

import type { JsonValue } from '../../core/json/json-value.ts';
import { hintsOf } from '../../core/contract/annotations.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import type { PermissionRequest } from '../permission.ts';
import { words } from '../../system/words.ts';

/**
 * Objects are maps: a member called `constructor` or `__proto__` is a key like any other, and
 * nothing is inherited.
 */
type ExpressionValue =
  | string
  | number
  | boolean
  | null
  | readonly ExpressionValue[]
  | ReadonlyMap<string, ExpressionValue>;

/** The variables of an expression, and how much there is to look through. */
export interface ExpressionScope {
  readonly variables: ReadonlyMap<string, ExpressionValue>;
  /** Values and characters in all variables together. */
  readonly weight: number;
}

/** More than any call may carry, and little enough to walk through. */
const MAX_VALUES = 1_000_000;

/** Annotations a rule may read. Absent ones are `null`, and the four hints have MCP's defaults. */
export const ANNOTATION_NAMES: readonly string[] = Object.freeze(
  words(`
    title kind readOnly destructive idempotent openWorld needsApproval supportsStreaming
    sideEffectLevel capabilities safety
  `),
);

/** The variables with their types. */
export const VARIABLES: Readonly<Record<string, string>> = Object.freeze({
  args: 'map<string, dyn>',
  tool: 'string',
  kind: 'string',
  request: 'map<string, dyn>',
  session: 'string',
  annotations: 'map<string, dyn>',
});

/**
 * Reads a request once. Throws where a field of it is not JSON, or there are more values than
 * anybody sends: the rule that wanted to look denies.
 */
export function scopeOf(request: PermissionRequest): ExpressionScope {
  const { call, toolName, callId: _callId, kind, ...fields } = request;
  const meter = { values: 0, characters: 0 };
  const convert = (value: unknown): ExpressionValue =>
    toExpressionValue(snapshotObject(value), meter);
  const own = { ...call.annotations, ...hintsOf(call.annotations) };
  const annotations = new Map<string, unknown>(Object.entries(own));
  const variables = new Map<string, ExpressionValue>([
    ['args', convert(call.toolArgs)],
    ['tool', toolName],
    ['kind', kind],
    ['request', convert(fields)],
    ['session', call.turn.sessionId],
    [
      'annotations',
      convert(
        Object.fromEntries(ANNOTATION_NAMES.map((name) => [name, annotations.get(name) ?? null])),
      ),
    ],
  ]);
  return { variables, weight: meter.values + meter.characters };
}

interface Meter {
  values: number;
  characters: number;
}

/** Depth needs no guard of its own: a snapshot is never deeper than recursion can go. */
function toExpressionValue(value: JsonValue, meter: Meter): ExpressionValue {
  meter.values += 1;
  if (meter.values > MAX_VALUES) throw new RangeError('the request holds too many values');
  if (typeof value === 'string') meter.characters += value.length;
  if (Array.isArray(value)) return value.map((item: JsonValue) => toExpressionValue(item, meter));
  // What is neither list nor object is a scalar.
  if (!isObject(value)) return value as string | number | boolean | null;
  const members = new Map<string, ExpressionValue>();
  for (const [name, member] of Object.entries(value as Record<string, JsonValue>)) {
    meter.characters += name.length;
    members.set(name, toExpressionValue(member, meter));
  }
  return members;
}
