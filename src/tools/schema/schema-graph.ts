/**
 * Reads a schema once: finds its subschemas, checks every keyword, and connects each reference with
 * what it points at.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { isObject } from '../../core/json/json.ts';
import {
  checkDependencies,
  checkKeyword,
  checkPattern,
  type PatternBudget,
  patternBudget,
  REFERENCES,
  SCHEMA_KEYWORDS,
} from './keywords.ts';
import { subschemas } from './subschemas.ts';
import { at, type Place, unsupported } from './unsupported.ts';

/** Ajv compiles some thousand subschemas a second, and the first call of a tool waits for it. */
const MAX_NODES = 2_000;
const MAX_DEPTH = 64;
/**
 * Ajv nests one block of code per sibling: above some 1 500 of them its output cannot be parsed.
 */
const MAX_SIBLINGS = 1_000;

/** `modern` is 2020-12 and 2019-09, `draft-07` also draft-06. */
type Dialect = 'modern' | 'draft-07';

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['json-schema.org/draft/2020-12/schema', 'modern'],
  ['json-schema.org/draft/2019-09/schema', 'modern'],
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft-06/schema', 'draft-07'],
]);

/** One schema of the document that is an object. `true` and `false` have nothing to read. */
export interface SchemaNode {
  readonly schema: JsonObject;
  readonly place: Place | null;
  readonly depth: number;
  /** Whether this schema, or one around it, starts a document of its own by `$id`. */
  readonly isEmbedded: boolean;
  /** Schemas applied to the same value, those it refers to among them. */
  readonly sameValue: SchemaNode[];
  /** Schemas applied to members or items of the value. */
  readonly parts: SchemaNode[];
  /** What its references point at. */
  readonly targets: Map<string, JsonObject | boolean>;
}

/** A schema that was read and found usable, its cost aside. */
export interface SchemaGraph {
  readonly dialect: Dialect;
  readonly root: SchemaNode;
  readonly nodes: ReadonlyMap<JsonObject, SchemaNode>;
  /** Schemas that something refers to. */
  readonly targets: ReadonlySet<JsonObject>;
}

interface Reading {
  readonly where: string;
  readonly schema: JsonSchema;
  readonly nodes: Map<JsonObject, SchemaNode>;
  readonly targets: Set<JsonObject>;
  readonly anchors: Map<string, JsonObject>;
  readonly patterns: PatternBudget;
  readonly unread: SchemaNode[];
  readonly unresolved: SchemaNode[];
}

/**
 * Throws `ERR_SCHEMA_UNSUPPORTED` for the first thing that cannot be used. `schema` must be a
 * snapshot.
 */
export function readSchema(schema: JsonSchema, where: string): SchemaGraph {
  const lists = { unread: [], unresolved: [] };
  const reading: Reading = {
    where,
    schema,
    nodes: new Map(),
    targets: new Set(),
    anchors: new Map(),
    patterns: patternBudget(),
    ...lists,
  };
  const dialect = dialectOf(schema, where);
  const root = enter(reading, schema, null, 1, false);
  // A reference may point outside all schema positions; what it finds there is read as a schema
  // too.
  while (reading.unread.length > 0) {
    for (let node = reading.unread.pop(); node !== undefined; node = reading.unread.pop())
      readNode(reading, node);
    for (const node of reading.unresolved.splice(0)) followReferences(reading, node);
  }
  return { dialect, root, nodes: reading.nodes, targets: reading.targets };
}

function dialectOf({ $schema }: JsonSchema, where: string): Dialect {
  if ($schema === undefined) return 'modern';
  const name =
    typeof $schema === 'string' ? $schema.replace(/^https?:\/\//, '').replace(/#$/, '') : '';
  const dialect = DIALECTS.get(name);
  if (dialect === undefined)
    throw unsupported(
      where,
      at(null, '$schema'),
      'must name 2020-12, 2019-09, draft-07 or draft-06',
    );
  return dialect;
}

function enter(
  reading: Reading,
  schema: JsonObject,
  place: Place | null,
  depth: number,
  isEmbedded: boolean,
): SchemaNode {
  const known = reading.nodes.get(schema);
  if (known !== undefined) return known;
  if (depth > MAX_DEPTH)
    throw unsupported(reading.where, place, `nests deeper than ${MAX_DEPTH} schemas`);
  checkCount(reading, reading.nodes.size + 1, place);
  const { $id } = schema;
  const hasOwnId = place !== null && typeof $id === 'string' && !$id.startsWith('#');
  const node = {
    schema,
    place,
    depth,
    isEmbedded: isEmbedded || hasOwnId,
    sameValue: [],
    parts: [],
    targets: new Map(),
  };
  reading.nodes.set(schema, node);
  reading.unread.push(node);
  return node;
}

function checkCount({ where }: Reading, count: number, place: Place | null): void {
  if (count > MAX_NODES) throw unsupported(where, place, `has more than ${MAX_NODES} subschemas`);
}

function readNode(reading: Reading, node: SchemaNode): void {
  const { where } = reading;
  let siblings = 0;
  for (const [name, value] of Object.entries(node.schema)) {
    const place = at(node.place, name);
    const keyword = SCHEMA_KEYWORDS.get(name);
    if (keyword === undefined) checkKeyword(name, value, place, where);
    else enterAll(reading, node, name, value);
    if (name === 'pattern' && typeof value === 'string')
      checkPattern(value, place, where, reading.patterns);
    if (/^depend/.test(name)) checkDependencies(value, place, where);
    if (isWide(name)) siblings += Object.keys(value ?? {}).length;
  }
  if (siblings > MAX_SIBLINGS)
    throw unsupported(where, node.place, `has more than ${MAX_SIBLINGS} subschemas side by side`);
  if (REFERENCES.some((name) => node.schema[name] !== undefined)) reading.unresolved.push(node);
  nameAnchors(reading, node);
}

/** Whether a keyword's members become code side by side. What is only referred to does not. */
function isWide(name: string): boolean {
  const keyword = SCHEMA_KEYWORDS.get(name);
  return (
    name === 'dependentRequired' ||
    (keyword !== undefined && keyword.looksAt !== 'nothing' && keyword.holds !== 'one')
  );
}

function enterAll(reading: Reading, node: SchemaNode, name: string, value: JsonValue): void {
  const looksAt = SCHEMA_KEYWORDS.get(name)?.looksAt;
  const found = subschemas(name, value, at(node.place, name), reading.where);
  checkCount(reading, reading.nodes.size + found.length, node.place);
  for (const { schema, place, key } of found) {
    if (name === 'patternProperties')
      checkPattern(String(key), place ?? at(null, name), reading.where, reading.patterns);
    if (typeof schema === 'boolean') continue;
    const child = enter(reading, schema, place, node.depth + 1, node.isEmbedded);
    if (looksAt === 'value') node.sameValue.push(child);
    if (looksAt === 'part') node.parts.push(child);
  }
}

/** `$anchor`, `$dynamicAnchor` and draft-07's `$id: "#name"` name a place in the document. */
function nameAnchors(reading: Reading, node: SchemaNode): void {
  const { $id, $anchor, $dynamicAnchor } = node.schema;
  const names = [
    $anchor,
    $dynamicAnchor,
    typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : undefined,
  ];
  for (const name of new Set(names)) {
    if (typeof name !== 'string') continue;
    if (node.isEmbedded || reading.anchors.has(name))
      throw unsupported(
        reading.where,
        node.place,
        node.isEmbedded ? 'has a name below a second $id' : 'has a name that is taken',
      );
    reading.anchors.set(name, node.schema);
  }
}

function followReferences(reading: Reading, node: SchemaNode): void {
  for (const name of REFERENCES) {
    const reference = node.schema[name];
    if (typeof reference !== 'string') continue;
    const place = at(node.place, name);
    // Below a second `$id` a local reference would mean that inner document, which is not kept
    // apart here.
    if (node.isEmbedded)
      throw unsupported(reading.where, place, 'is a reference below a second $id');
    const target = resolveReference(reference, place, reading);
    node.targets.set(name, target);
    if (!isObject(target)) continue;
    reading.targets.add(target);
    node.sameValue.push(enter(reading, target, place, 1, false));
  }
}

/** The document and its named places. */
interface Document {
  readonly where: string;
  readonly schema: JsonObject;
  readonly anchors: ReadonlyMap<string, JsonObject>;
}

/** The schema a reference names, or a refusal when it is not in this document. */
function resolveReference(
  reference: string,
  place: Place,
  document: Document,
): JsonObject | boolean {
  const { where } = document;
  if (!reference.startsWith('#'))
    throw unsupported(where, place, 'refers to another document, and nothing is ever fetched');
  const target = targetOf(reference, document);
  if (typeof target === 'boolean' || isObject(target)) return target;
  throw unsupported(where, place, 'refers to a schema that is not there');
}

function targetOf(reference: string, { schema, anchors }: Document): JsonValue | undefined {
  if (reference === '#') return schema;
  if (reference.startsWith('#/')) return atPointer(schema, reference);
  return anchors.get(reference.slice(1));
}

function atPointer(schema: JsonObject, reference: string): JsonValue | undefined {
  let found: JsonValue | undefined = schema;
  for (const part of reference.split('/').slice(1)) {
    const name = decode(part);
    if (
      typeof found !== 'object' ||
      found === null ||
      name === undefined ||
      !Object.hasOwn(found, name)
    )
      return undefined;
    // Own members of a snapshot, so JSON; for a list the name is an index.
    found = (found as JsonObject)[name];
  }
  return found;
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
