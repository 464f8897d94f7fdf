/**
 * The walk that both strict subsets share: no `allOf`, no `oneOf`, every object closed, every value
 * typed.
 */

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import {
  constraintsOf,
  definitionRef,
  descriptionOf,
  ignoresRefSiblings,
  isConstraint,
  isSchemaObject,
  listIn,
  mapIn,
  omit,
  ownMember,
  pointerTokens,
  resolveLocalRef,
} from '../parameters/local-ref.ts';
import {
  describeWith,
  hintsIn,
  kindsOf,
  mergeSchemas,
  type Refuse,
  splitKeywords,
} from './strict-keywords.ts';

/** What one provider does differently from the other. */
export interface StrictRules {
  /** Whether the provider enforces this keyword with this value. */
  readonly keeps: (keyword: string, value: JsonValue) => boolean;
  /** The `properties` and `required` of a closed object, its members already strict. */
  readonly members: (
    properties: readonly (readonly [string, JsonObject])[],
    required: readonly JsonValue[],
  ) => JsonObject;
}

interface Walk {
  readonly root: JsonSchema;
  readonly rules: StrictRules;
  readonly refuse: Refuse;
  /** Definitions by the pointer that led there, and those still to be written. */
  readonly names: Map<string, string>;
  readonly taken: Set<string>;
  readonly pending: { readonly name: string; readonly target: JsonValue }[];
  readonly steps: { left: number };
}

/** References that fan out could double the schema at every step. */
const MAX_STEPS = 20_000;

/**
 * The schema in the provider's subset. What the subset cannot enforce is told to the model in the
 * description.
 */
export function strictSchema(root: JsonSchema, rules: StrictRules, refuse: Refuse): JsonSchema {
  const walk: Walk = {
    root,
    rules,
    refuse,
    names: new Map(),
    taken: new Set(),
    pending: [],
    steps: { left: MAX_STEPS },
  };
  const body = strictRoot(flatten(root, walk, new Set()), walk);
  const definitions: [string, JsonObject][] = [];
  // Writing a definition may find further ones, which join the end of the list that is being read.
  for (const { name, target } of walk.pending) definitions.push([name, strictNode(target, walk)]);
  return definitions.length === 0 ? body : { ...body, $defs: Object.fromEntries(definitions) };
}

function strictRoot(flat: JsonObject, walk: Walk): JsonObject {
  const body =
    strictUnion({ ...flat, type: 'object' }, walk, true) ??
    strictTyped({ ...flat, type: 'object' }, walk, true);
  if (Object.hasOwn(body, 'anyOf'))
    throw walk.refuse('the root must not be a union (anyOf, oneOf)');
  return body;
}

function strictNode(schema: JsonValue | undefined, walk: Walk): JsonObject {
  if (!isSchemaObject(schema)) throw walk.refuse('every value must have a type');
  const { $ref, ...beside } = schema;
  if (
    typeof $ref === 'string' &&
    (ignoresRefSiblings(walk.root) || !Object.keys(beside).some(isConstraint))
  )
    return strictRef($ref, beside, walk);
  const flat = flatten(schema, walk, new Set());
  return strictUnion(flat, walk, false) ?? strictTyped(flat, walk, false);
}

/**
 * References stay references, all of them to `$defs`: other places may move. A `$ref` must not have
 * neighbours.
 */
function strictRef(ref: string, beside: JsonObject, walk: Walk): JsonObject {
  const reference = { $ref: ref === '#' ? ref : definitionRef('$defs', nameOf(ref, walk)) };
  const described = describeWith(beside, hintsIn(beside));
  return Object.keys(described).length === 0 ? reference : { ...described, anyOf: [reference] };
}

function nameOf(ref: string, walk: Walk): string {
  const tokens = pointerTokens(ref) ?? [];
  const pointer = JSON.stringify(tokens);
  const known = walk.names.get(pointer);
  if (known !== undefined) return known;
  const target = follow(ref, walk, new Set());
  let name = tokens.at(-1) ?? 'root';
  while (walk.taken.has(name)) name = `${name}_`;
  walk.names.set(pointer, name);
  walk.taken.add(name);
  walk.pending.push({ name, target });
  return name;
}

function follow(ref: string, walk: Walk, open: ReadonlySet<JsonValue>): JsonValue {
  const target = resolveLocalRef(walk.root, ref);
  if (target === undefined) throw walk.refuse('references must lead to a definition in the schema');
  if (open.has(target)) throw walk.refuse('a schema must not be part of itself');
  return target;
}

/** Takes `allOf`, and a `$ref` that stands beside something, into the schema itself. */
function flatten(schema: JsonObject, walk: Walk, open: ReadonlySet<JsonValue>): JsonObject {
  walk.steps.left -= 1;
  if (walk.steps.left < 0) throw walk.refuse('the schema branches too often');
  if (schema !== walk.root && Object.hasOwn(schema, '$id'))
    throw walk.refuse('inner schemas must not have an id');
  const { $ref } = schema;
  const own = omit(schema, '$ref', 'allOf', '$defs', 'definitions');
  const target = typeof $ref === 'string' ? [follow($ref, walk, open)] : [];
  const ignored = target.length > 0 && ignoresRefSiblings(walk.root);
  return [...target, ...(ignored ? [] : listIn(schema, 'allOf'))].reduce<JsonObject>(
    (merged, part) => {
      if (part === true) return merged;
      if (!isSchemaObject(part)) throw walk.refuse('a branch of allOf accepts nothing');
      return mergeSchemas(merged, flatten(part, walk, new Set([...open, ...target])), walk.refuse);
    },
    ignored ? descriptionOf(own) : own,
  );
}

/** `null` where the schema is no union. */
function strictUnion(flat: JsonObject, walk: Walk, isRoot: boolean): JsonObject | null {
  const base = omit(flat, 'anyOf', 'oneOf');
  const keywords = ['anyOf', 'oneOf'].filter((keyword) => listIn(flat, keyword).length > 0);
  const [keyword] = keywords;
  if (keyword === undefined) return null;
  if (keywords.length > 1) throw walk.refuse('anyOf and oneOf must not stand side by side');
  const branches = listIn(flat, keyword);
  const shared = constraintsOf(base);
  const joined = (branch: JsonValue): JsonObject => {
    if (!isSchemaObject(branch)) throw walk.refuse('every value must have a type');
    return mergeSchemas(shared, flatten(branch, walk, new Set()), walk.refuse);
  };
  if (branches.length === 1)
    return strictFlat({ ...joined(branches[0] ?? false), ...descriptionOf(base) }, walk, isRoot);
  if (Object.hasOwn(base, 'properties') && branches.every(onlyRequires))
    return strictTyped(base, walk, isRoot, { [keyword]: branches });
  if (isRoot) throw walk.refuse('the root must not be a union (anyOf, oneOf)');
  const bare = Object.keys(shared).length === 0;
  const variants = branches.map((branch) => strictNode(bare ? branch : joined(branch), walk));
  return { ...describeWith(base, hintsIn(base)), anyOf: distinct(variants) };
}

const strictFlat = (flat: JsonObject, walk: Walk, isRoot: boolean): JsonObject =>
  strictUnion(flat, walk, isRoot) ?? strictTyped(flat, walk, isRoot);

/**
 * "One of these must be given" cannot be enforced once every property is listed; it can be said.
 */
const onlyRequires = (branch: JsonValue): boolean =>
  isSchemaObject(branch) &&
  Object.hasOwn(branch, 'required') &&
  Object.keys(branch).every((keyword) => keyword === 'required' || !isConstraint(keyword));

const distinct = (schemas: readonly JsonObject[]): readonly JsonObject[] =>
  schemas.filter(
    (schema, index) => schemas.findIndex((other) => isDeepStrictEqual(other, schema)) === index,
  );

function strictTyped(
  flat: JsonObject,
  walk: Walk,
  isRoot: boolean,
  told: JsonObject = {},
): JsonObject {
  const kinds = kindsOf(flat);
  if (kinds === null)
    throw walk.refuse('every value must have a type, and an enum must list plain values');
  const containers: readonly string[] = kinds.filter(
    (kind) => kind === 'object' || kind === 'array',
  );
  if (containers.length > 0 && kinds.length > 1) {
    const plain = kinds.filter((kind) => !containers.includes(kind));
    const shared = constraintsOf(flat);
    const types: readonly JsonValue[] = [...containers, ...(plain.length > 1 ? [plain] : plain)];
    return {
      ...describeWith(flat, hintsIn(flat)),
      anyOf: types.map((type) => strictTyped({ ...shared, type }, walk, false, told)),
    };
  }
  const { kept, unenforced } = splitKeywords(flat, kinds, walk.rules.keeps);
  const tuple = tupleOf(flat);
  return {
    type: kinds.length === 1 ? (kinds[0] ?? '') : kinds,
    ...describeWith(flat, {
      ...unenforced,
      ...(kinds.includes('array') && tuple.length > 0 ? { prefixItems: tuple } : {}),
      ...told,
    }),
    ...kept,
    ...(kinds.includes('object') ? strictObject(flat, walk, isRoot) : {}),
    ...(kinds.includes('array') ? { items: strictItems(flat, tuple, walk) } : {}),
  };
}

function strictObject(flat: JsonObject, walk: Walk, isRoot: boolean): JsonObject {
  const properties = Object.entries(mapIn(flat, 'properties')).filter(
    ([, schema]) => schema !== false,
  );
  const required = listIn(flat, 'required');
  const rest = ownMember(flat, 'additionalProperties') ?? ownMember(flat, 'unevaluatedProperties');
  const free =
    Object.hasOwn(flat, 'patternProperties') || (rest === undefined ? !isRoot : rest !== false);
  if (properties.length === 0 && free)
    throw walk.refuse('an object with free keys would be closed, and always empty');
  const names = new Set<JsonValue>(properties.map(([name]) => name));
  if (required.some((name) => !names.has(name)))
    throw walk.refuse('a required property must be declared');
  const strict = properties.map(([name, schema]) => [name, strictNode(schema, walk)] as const);
  return { ...walk.rules.members(strict, required), additionalProperties: false };
}

/** A list of schemas, one for each place: `prefixItems`, or `items` up to draft-07. */
const tupleOf = (flat: JsonObject): readonly JsonValue[] =>
  Object.hasOwn(flat, 'prefixItems') ? listIn(flat, 'prefixItems') : listIn(flat, 'items');

/** Places cannot be told apart, so any item may be what one of them may be. */
function strictItems(flat: JsonObject, tuple: readonly JsonValue[], walk: Walk): JsonObject {
  const rest = ownMember(flat, Array.isArray(flat.items) ? 'additionalItems' : 'items');
  const schemas = [...tuple, ...(isSchemaObject(rest) ? [rest] : [])];
  if (schemas.length === 0) throw walk.refuse('the items of a list must have a type');
  const items = distinct(schemas.map((schema) => strictNode(schema, walk)));
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { anyOf: items };
}
