/**
 * Sorting the keywords of one schema: enforced by the provider, told to the model, or without
 * meaning here.
 */

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import {
  isConstraint,
  isList,
  isSchemaObject,
  listIn,
  mapIn,
  ownMember,
} from '../parameters/local-ref.ts';
import { words } from '../../system/words.ts';

const NUMERIC = ['number', 'integer'];

/**
 * Keywords with a meaning for the model, and the types they speak about; an empty list is every
 * type.
 */
const MEANING: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType'].map(
    (name) => [name, ['string']] as const,
  ),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (name) => [name, NUMERIC] as const,
  ),
  ...['minItems', 'maxItems', 'uniqueItems', 'contains', 'minContains', 'maxContains'].map(
    (name) => [name, ['array']] as const,
  ),
  ...words(`
    minProperties maxProperties dependentRequired dependentSchemas dependencies
  `).map((name) => [name, ['object']] as const),
  ...['const', 'enum', 'default', 'examples', 'not', 'if', 'then', 'else'].map(
    (name) => [name, []] as const,
  ),
]);

/**
 * What the provider enforces, and what is left to say. Keywords that a closed, typed schema makes
 * pointless vanish.
 */
export function splitKeywords(
  flat: JsonObject,
  kinds: readonly string[],
  keeps: (keyword: string, value: JsonValue) => boolean,
): { readonly kept: JsonObject; readonly unenforced: JsonObject } {
  const meant = Object.entries(flat).filter(([keyword]) => {
    const types = MEANING.get(keyword);
    return (
      types !== undefined && (types.length === 0 || types.some((type) => kinds.includes(type)))
    );
  });
  const kept = Object.fromEntries(meant.filter(([keyword, value]) => keeps(keyword, value)));
  return {
    // A value of another type than the schema allows could never be sent, and a provider stumbles
    // over it.
    kept: Array.isArray(kept.enum)
      ? {
          ...kept,
          enum: listIn(kept, 'enum').filter((value) => kinds.includes(kindOf(value, kinds))),
        }
      : kept,
    unenforced: Object.fromEntries(meant.filter(([keyword, value]) => !keeps(keyword, value))),
  };
}

/** What a schema suggests rather than demands. */
export const hintsIn = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => keyword === 'default' || keyword === 'examples'),
  );

/** Title and description, the latter with the rules that nobody but the model can keep. */
export function describeWith(schema: JsonObject, unenforced: JsonObject): JsonObject {
  const { title, description } = schema;
  const rules =
    Object.keys(unenforced).length === 0
      ? []
      : [`Further rules, as JSON Schema: ${JSON.stringify(unenforced)}`];
  const texts = [
    ...(typeof description === 'string' && description !== '' ? [description] : []),
    ...rules,
  ];
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(texts.length === 0 ? {} : { description: texts.join('\n\n') }),
  };
}

/**
 * The types a value may have, read off the schema where it does not say. `null` where anything
 * goes, or an enum holds objects.
 */
export function kindsOf(flat: JsonObject): readonly string[] | null {
  const values = Object.hasOwn(flat, 'const') ? [flat.const ?? null] : listIn(flat, 'enum');
  if (values.some((value) => typeof value === 'object' && value !== null)) return null;
  const declared = declaredKinds(flat);
  if (values.length === 0) return declared.length > 0 ? declared : impliedKinds(flat);
  const kinds = [...new Set(values.map((value) => kindOf(value, declared)))];
  const fitting = declared.length === 0 ? kinds : kinds.filter((kind) => declared.includes(kind));
  return fitting.length > 0 ? fitting : null;
}

function declaredKinds(flat: JsonObject): readonly string[] {
  const type = ownMember(flat, 'type');
  const types = typeof type === 'string' ? [type] : listIn(flat, 'type');
  return [...new Set(types.filter((kind) => typeof kind === 'string'))];
}

function impliedKinds(flat: JsonObject): readonly string[] | null {
  if (isSchemaObject(ownMember(flat, 'properties'))) return ['object'];
  return Object.hasOwn(flat, 'items') || Object.hasOwn(flat, 'prefixItems') ? ['array'] : null;
}

function kindOf(value: JsonValue, declared: readonly string[]): string {
  if (value === null) return 'null';
  if (typeof value === 'number')
    return Number.isInteger(value) && !declared.includes('number') ? 'integer' : 'number';
  return typeof value;
}

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
 * One schema for what fits both. Descriptions of the first win. Refuses where that cannot be
 * written without `allOf`; members that both describe are joined by an `allOf` of their own, one
 * level down. References must be resolved before.
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
  if (Object.keys(mapIn(other, 'properties')).some((name) => !Object.hasOwn(own, name)))
    throw refuse('allOf joins a closed object with one that has further properties');
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
