/** Reads a schema once: finds its subschemas, checks every keyword, and connects each reference with what it points at. */

import type { JsonSchema } from '../../core/call.ts';
import { isAlliumError } from '../../core/errors.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { REFERENCES, SCHEMA_KEYWORDS, VALUE_KEYWORDS } from './keywords.ts';
import { linearPattern } from './linear-regexp.ts';
import { resolveReference } from './resolve-reference.ts';
import { subschemas } from './subschemas.ts';
import { pointer, unsupported } from './unsupported.ts';

const MAX_NODES = 10_000;
const MAX_DEPTH = 64;
/** Ajv nests one block of code per sibling: above some 1 500 its output cannot be parsed. */
const MAX_SIBLINGS = 1_000;
const MAX_ENUM = 10_000;
const MAX_PATTERNS = 200;

/** `modern` is 2020-12 and 2019-09, `draft-07` also draft-06. */
export type Dialect = 'modern' | 'draft-07';

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['json-schema.org/draft/2020-12/schema', 'modern'],
  ['json-schema.org/draft/2019-09/schema', 'modern'],
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft-06/schema', 'draft-07'],
]);

/** One schema in the document that is an object. `true` and `false` have nothing to read. */
export interface SchemaNode {
  readonly schema: JsonObject;
  readonly path: string;
  readonly depth: number;
  /** Whether this schema, or one around it, starts a document of its own by `$id`. */
  readonly isEmbedded: boolean;
  /** Schemas applied to the same value, those it refers to among them. */
  readonly sameValue: SchemaNode[];
  /** Schemas applied to members or items of the value. */
  readonly parts: SchemaNode[];
  /** What its references point at, in the order of `REFERENCES`. */
  readonly targets: JsonValue[];
}

/** A schema that was read and found usable, cost aside. */
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
  readonly patterns: Set<string>;
  /** Nodes whose keywords have not been read, and nodes whose references have not been followed. */
  readonly unread: SchemaNode[];
  readonly unresolved: SchemaNode[];
}

/** Throws `ERR_SCHEMA_UNSUPPORTED` for the first thing that cannot be used. `schema` must be a snapshot. */
export function readSchema(schema: JsonSchema, where: string): SchemaGraph {
  const reading: Reading = {
    where,
    schema,
    nodes: new Map(),
    targets: new Set(),
    anchors: new Map(),
    patterns: new Set(),
    unread: [],
    unresolved: [],
  };
  const dialect = dialectOf(schema, where);
  const root = enter(reading, schema, '', 1, false);
  // A reference may point outside all schema positions; what it finds there is read as a schema too.
  while (reading.unread.length > 0) {
    for (let node = reading.unread.pop(); node !== undefined; node = reading.unread.pop()) readNode(reading, node);
    for (const node of reading.unresolved.splice(0)) follow(reading, node);
  }
  return { dialect, root, nodes: reading.nodes, targets: reading.targets };
}

function dialectOf({ $schema }: JsonSchema, where: string): Dialect {
  if ($schema === undefined) return 'modern';
  const name = typeof $schema === 'string' ? $schema.replace(/^https?:\/\//, '').replace(/#$/, '') : '';
  const dialect = DIALECTS.get(name);
  if (dialect === undefined) throw unsupported(where, '/$schema', 'names a dialect other than 2020-12, 2019-09, draft-07 and draft-06');
  return dialect;
}

function enter(reading: Reading, schema: JsonObject, path: string, depth: number, isEmbedded: boolean): SchemaNode {
  const known = reading.nodes.get(schema);
  if (known !== undefined) return known;
  if (depth > MAX_DEPTH) throw unsupported(reading.where, path, `nests deeper than ${MAX_DEPTH} schemas`);
  if (reading.nodes.size >= MAX_NODES) throw unsupported(reading.where, path, `is one of more than ${MAX_NODES} subschemas`);
  const { $id } = schema;
  const hasOwnId = path !== '' && typeof $id === 'string' && !$id.startsWith('#');
  const node = { schema, path, depth, isEmbedded: isEmbedded || hasOwnId, sameValue: [], parts: [], targets: [] };
  reading.nodes.set(schema, node);
  reading.unread.push(node);
  return node;
}

function readNode(reading: Reading, node: SchemaNode): void {
  let siblings = 0;
  for (const [name, value] of Object.entries(node.schema)) {
    const place = pointer(node.path, name);
    const kind = SCHEMA_KEYWORDS.get(name);
    if (kind === undefined) checkValue(reading, name, value, place);
    else if (kind.looksAt === 'nothing') enterAll(reading, node, name, value);
    else siblings += enterAll(reading, node, name, value, kind.looksAt === 'value' ? node.sameValue : node.parts);
  }
  if (siblings > MAX_SIBLINGS) throw unsupported(reading.where, node.path, `has more than ${MAX_SIBLINGS} subschemas side by side`);
  nameAnchors(reading, node);
  if (REFERENCES.some((name) => node.schema[name] !== undefined)) reading.unresolved.push(node);
}

function enterAll(reading: Reading, node: SchemaNode, name: string, value: JsonValue, children: SchemaNode[] = []): number {
  const found = subschemas(name, value, pointer(node.path, name), reading.where);
  for (const { schema, path } of found) {
    if (name === 'patternProperties') checkPattern(reading, path.slice(path.lastIndexOf('/') + 1).replaceAll('~1', '/').replaceAll('~0', '~'), path);
    if (isObject(schema)) children.push(enter(reading, schema, path, node.depth + 1, node.isEmbedded));
  }
  return found.length;
}
