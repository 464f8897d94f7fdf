/**
 * Finding one's way in a JSON Schema: local references, and the places where a schema holds other
 * schemas.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { isObject } from '../../core/json/json.ts';
import type { AlliumError } from '../../core/contract/errors.ts';
import { words } from '../../system/words.ts';

/** `isObject` for what is known to be JSON. */
export const isSchemaObject = (value: JsonValue | undefined): value is JsonObject =>
  isObject(value);

/**
 * `Array.isArray` for what is known to be JSON; that one forgets the element type of a readonly
 * list.
 */
export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] =>
  Array.isArray(value);

/** An own member that is an object, or an empty one: `properties` and its like. */
export function mapIn(schema: JsonObject, keyword: string): JsonObject {
  const value = ownMember(schema, keyword);
  return isSchemaObject(value) ? value : {};
}

/** An own member that is a list, or an empty one: `required`, `allOf` and their like. */
export function listIn(schema: JsonObject, keyword: string): readonly JsonValue[] {
  const value = ownMember(schema, keyword);
  return isList(value) ? value : [];
}

/** A member of the value itself: a property may be called `constructor`. */
export const ownMember = (schema: JsonObject, key: string): JsonValue | undefined =>
  Object.hasOwn(schema, key) ? schema[key] : undefined;

/**
 * What a `#…` reference points to. `undefined` for anchors, other documents, and pointers that lead
 * nowhere.
 */
export function resolveLocalRef(root: JsonSchema, ref: string): JsonValue | undefined {
  const tokens = pointerTokens(ref);
  if (tokens === undefined) return undefined;
  let node: JsonValue | undefined = root;
  for (const token of tokens) {
    if (isList(node)) node = /^(0|[1-9]\d*)$/.test(token) ? node[Number(token)] : undefined;
    else node = isSchemaObject(node) ? ownMember(node, token) : undefined;
  }
  return node;
}

/** The parts of a local pointer, or `undefined` where it is none. */
export function pointerTokens(ref: string): readonly string[] | undefined {
  if (ref === '#') return [];
  if (!ref.startsWith('#/')) return undefined;
  try {
    return decodeURIComponent(ref.slice(2))
      .split('/')
      .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return undefined; // A stray "%".
  }
}

/** A pointer to a definition, escaped as a URI fragment. */
export const definitionRef = (place: string, name: string): string =>
  `#/${place}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;

/**
 * Up to draft-07 everything beside a `$ref` is ignored; without `$schema` a tool speaks 2020-12, as
 * MCP has it.
 */
export const ignoresRefSiblings = (root: JsonSchema): boolean =>
  typeof root.$schema === 'string' && /\/draft-0[1-7]\//.test(root.$schema);

/** Keywords that say something about a schema, and nothing about a value. */
const DESCRIBING: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$comment', '$defs', 'definitions', '$anchor', '$vocabulary'],
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
]);

/** Whether a keyword may keep a value out. Extensions (`x-…`) never do. */
export const isConstraint = (keyword: string): boolean =>
  !DESCRIBING.has(keyword) && !keyword.startsWith('x-');

/** The schema without some of its keywords. */
export const omit = (schema: JsonObject, ...keywords: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));

/** The part of a schema that may keep a value out. */
export const constraintsOf = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => isConstraint(keyword)));

/** The part of a schema that only describes. */
export const descriptionOf = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !isConstraint(keyword)));

const ONE: ReadonlySet<string> = new Set(
  words(`
    additionalItems additionalProperties contains contentSchema else if items not propertyNames
    then unevaluatedItems unevaluatedProperties
  `),
);
const LIST: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
const MAP: ReadonlySet<string> = new Set(
  words(`
    $defs definitions dependencies dependentSchemas patternProperties properties
  `),
);

/**
 * Rebuilds a schema with every schema right inside it changed. Values in `const`, `enum`, `default`
 * are data and stay.
 */
function mapSubschemas(schema: JsonObject, change: (inner: JsonObject) => JsonObject): JsonObject {
  const each = (value: JsonValue): JsonValue => (isSchemaObject(value) ? change(value) : value);
  const member = (key: string, value: JsonValue): JsonValue => {
    if (LIST.has(key) && isList(value)) return value.map(each);
    if (!isSchemaObject(value)) return value;
    if (MAP.has(key))
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner)]));
    return ONE.has(key) ? change(value) : value;
  };
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, member(key, value)]),
  );
}

/**
 * A schema of the same meaning in which no reference points at the root or into it, definitions
 * aside: the root is copied to a definition of its own and the references follow. Without such
 * references the schema comes back as it is.
 */
export function detachSelfReferences(
  root: JsonSchema,
  refuse: (problem: string) => AlliumError,
): JsonSchema {
  const refs = refsIn(root);
  if (typeof root.$id === 'string' && refs.some((ref) => !ref.startsWith('#')))
    throw refuse('the schema has an id and references by address, which may lead back to the root');
  if (!refs.some(pointsIntoRoot)) return root;
  const place = ignoresRefSiblings(root) ? 'definitions' : '$defs';
  const key = freeKey(mapIn(root, place));
  const moved = mapRefs(root, (ref) =>
    pointsIntoRoot(ref) ? `${definitionRef(place, key)}${ref.slice(1)}` : ref,
  );
  return {
    ...moved,
    [place]: {
      ...mapIn(moved, place),
      [key]: omit(moved, '$schema', '$id', '$defs', 'definitions'),
    },
  };
}

const pointsIntoRoot = (ref: string): boolean =>
  ref === '#' || (ref.startsWith('#/') && !/^#\/(\$defs|definitions)\//.test(ref));

function freeKey(definitions: JsonObject): string {
  let key = 'unchanged';
  while (Object.hasOwn(definitions, key)) key = `${key}_`;
  return key;
}

/** Every `$ref` of a schema that speaks about this schema. */
export function refsIn(root: JsonSchema): readonly string[] {
  const refs: string[] = [];
  mapRefs(root, (ref) => {
    refs.push(ref);
    return ref;
  });
  return refs;
}

/**
 * An inner schema with an `$id` is a document of its own: its references do not speak about this
 * root.
 */
function mapRefs(schema: JsonObject, change: (ref: string) => string, isRoot = true): JsonObject {
  if (!isRoot && typeof schema.$id === 'string') return schema;
  const mapped = mapSubschemas(schema, (inner) => mapRefs(inner, change, false));
  return typeof mapped.$ref === 'string' ? { ...mapped, $ref: change(mapped.$ref) } : mapped;
}
