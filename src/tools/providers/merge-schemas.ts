/** Two schemas that both hold, written as one. */

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { isConstraint, isList, isSchemaObject, mapIn, ownMember } from '../local-ref.ts';

/** Makes the error for a schema that a provider cannot be given. */
export type Refuse = (rule: string) => Error;

/** Lower bounds: the larger holds. */
const LOWER: ReadonlySet<string> = new Set([
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'],
]);
/** Upper bounds: the smaller holds. */
const UPPER: ReadonlySet<string> = new Set([
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'],
]);

/**
 * One schema for what fits both. Descriptions of the first win. Refuses where that cannot be written without `allOf`;
 * members that both describe are joined by an `allOf` of their own, one level down. References must be resolved before.
 */
export function mergeSchemas(first: JsonObject, second: JsonObject, refuse: Refuse): JsonObject {
  demandSameMembers(first, second, refuse);
  demandSameMembers(second, first, refuse);
  const merged = new Map<string, JsonValue>(Object.entries(first));
  for (const [keyword, value] of Object.entries(second)) {
    const known = ownMember(first, keyword);
    merged.set(keyword, known === undefined ? value : mergeKeyword(keyword, known, value, refuse));
  }
  return Object.fromEntries(merged);
}

/** A closed schema forbids what only the other one declares; a merged one would allow it. */
function demandSameMembers(closed: JsonObject, other: JsonObject, refuse: Refuse): void {
  const rest = ownMember(closed, 'additionalProperties');
  if (
    rest === undefined ||
    rest === true ||
    (isSchemaObject(rest) && Object.keys(rest).length === 0)
  )
    return;
  const own = mapIn(closed, 'properties');
  if (Object.keys(mapIn(other, 'properties')).some((name) => !Object.hasOwn(own, name))) {
    throw refuse('allOf joins a closed object with one that has further properties');
  }
}

function mergeKeyword(
  keyword: string,
  first: JsonValue,
  second: JsonValue,
  refuse: Refuse,
): JsonValue {
  if (!isConstraint(keyword) || isDeepStrictEqual(first, second)) return first;
  if (LOWER.has(keyword) && typeof first === 'number' && typeof second === 'number')
    return Math.max(first, second);
  if (UPPER.has(keyword) && typeof first === 'number' && typeof second === 'number')
    return Math.min(first, second);
  switch (keyword) {
    case 'type':
      return demandSome(
        commonTypes(asList(first), asList(second)),
        'allOf asks for two types at once',
        refuse,
      );
    case 'enum':
      return demandSome(
        asList(first).filter((value) =>
          asList(second).some((other) => isDeepStrictEqual(value, other)),
        ),
        'allOf leaves no value of an enum',
        refuse,
      );
    case 'required':
      return [...new Set([...asList(first), ...asList(second)])];
    case 'properties':
    case 'patternProperties':
      return mergeMembers(first, second);
    case 'items':
      return { allOf: [first, second] };
    // Every object is closed in the end, and what would be lost by that was refused above.
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return false;
    case 'uniqueItems':
      return true;
    default:
      throw refuse(`allOf holds two different "${keyword}"`);
  }
}

function mergeMembers(first: JsonValue, second: JsonValue): JsonObject {
  const [left, right] = [isSchemaObject(first) ? first : {}, isSchemaObject(second) ? second : {}];
  const both = Object.entries(right).map(([name, schema]) => {
    const known = ownMember(left, name);
    return [
      name,
      known === undefined || isDeepStrictEqual(known, schema) ? schema : { allOf: [known, schema] },
    ] as const;
  });
  return { ...left, ...Object.fromEntries(both) };
}

const asList = (value: JsonValue): readonly JsonValue[] => (isList(value) ? value : [value]);

function commonTypes(
  first: readonly JsonValue[],
  second: readonly JsonValue[],
): readonly JsonValue[] {
  const covers = (types: readonly JsonValue[], type: JsonValue) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [
    ...new Set([
      ...first.filter((type) => covers(second, type)),
      ...second.filter((type) => covers(first, type)),
    ]),
  ];
}

function demandSome(values: readonly JsonValue[], rule: string, refuse: Refuse): JsonValue {
  const [only] = values;
  if (only === undefined) throw refuse(rule);
  return values;
}
