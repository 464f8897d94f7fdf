/**
 * Rewrites a schema into the small, uniform one that ajv compiles. Only keywords that are
 * understood go in, so nothing a foreign schema says reaches ajv's own switches (`$async`, `id`,
 * `nullable` without a type), and nothing is kept by name: two schemas with the same `$id` never
 * meet.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { FORMATS } from './formats.ts';
import {
  MODERN_KEYWORDS,
  REFERENCES,
  SCHEMA_KEYWORDS,
  type SchemaKeyword,
  VALUE_KEYWORDS,
} from './keywords.ts';
import type { SchemaGraph } from './schema-graph.ts';
import { subschemas } from './subschemas.ts';
import { areUnique } from './unique-items.ts';

/** The keyword by which compiled schemas report their work. */
export const STEPS = 'alliumSteps';

/**
 * Larger subschemas become functions of their own, so that no function nests deeper than V8 can
 * parse.
 */
const MAX_INLINE = 100;

/** Keywords that are not copied because their value needs a second look. */
const SPECIAL: ReadonlySet<string> = new Set([
  ...REFERENCES,
  '$anchor',
  '$dynamicAnchor',
  '$id',
  'type',
  'format',
  'items',
  'prefixItems',
  'additionalItems',
]);

/** Keywords that read a text from end to end. */
const READ_WHOLE: readonly string[] = ['minLength', 'maxLength', 'format'];

/** A schema ready for ajv. */
export interface Compilable {
  readonly schema: JsonObject;
  /**
   * Whether ajv must keep track of what was evaluated. It then tries every branch of every `anyOf`.
   */
  readonly tracksEvaluated: boolean;
  /** How many subschemas the source has. */
  readonly size: number;
}

type Draft = Record<string, JsonValue>;

/**
 * A rewritten schema, how many schemas its code holds, and how many of those are applied each time
 * it is.
 */
interface Written {
  readonly schema: Draft | boolean;
  readonly size: number;
  readonly steps: number;
}

interface Writing {
  readonly graph: SchemaGraph;
  readonly names: ReadonlyMap<JsonObject, string>;
  readonly definitions: Draft;
  tracksEvaluated: boolean;
}

/** Rewrites a schema that was read and whose cost was checked. */
export function toCompilable(graph: SchemaGraph): Compilable {
  const names = new Map([...graph.targets].map((schema, index) => [schema, `target${index}`]));
  const writing: Writing = { graph, names, definitions: {}, tracksEvaluated: false };
  for (const [schema, name] of names) define(writing, name, writeBody(writing, schema));
  const { schema } = write(writing, graph.root.schema);
  const { definitions, tracksEvaluated } = writing;
  return {
    schema: { ...(isObject(schema) ? schema : {}), $defs: definitions },
    tracksEvaluated,
    size: graph.nodes.size,
  };
}

function write(writing: Writing, schema: JsonObject | boolean): Written {
  if (typeof schema === 'boolean') return { schema, size: 1, steps: 1 };
  const name = writing.names.get(schema);
  if (name !== undefined) return callOf(name);
  const body = writeBody(writing, schema);
  return body.size <= MAX_INLINE
    ? body
    : define(writing, `part${Object.keys(writing.definitions).length}`, body);
}

const callOf = (name: string): Written => ({
  schema: { $ref: `#/$defs/${name}` },
  size: 1,
  steps: 1,
});

function define(writing: Writing, name: string, body: Written): Written {
  writing.definitions[name] = measured(body);
  return callOf(name);
}

/** Makes a schema report the work of each time it is applied. */
function measured({ schema, steps }: Written): Draft | boolean {
  if (typeof schema !== 'boolean') schema[STEPS] = steps;
  return schema;
}

/** One schema being rewritten. */
interface Body {
  readonly writing: Writing;
  readonly source: JsonObject;
  readonly out: Draft;
  readonly members: Map<string, Draft>;
  size: number;
  steps: number;
}

function writeBody(writing: Writing, source: JsonObject): Written {
  const body: Body = { writing, source, out: {}, members: new Map(), size: 1, steps: 1 };
  for (const [name, value] of Object.entries(source)) {
    if (SPECIAL.has(name) || isIgnored(writing, name)) continue;
    const keyword = SCHEMA_KEYWORDS.get(name);
    if (keyword !== undefined) writeSchemas(body, name, keyword, value);
    else if (VALUE_KEYWORDS.has(name)) body.out[name] = value;
  }
  for (const [name, members] of body.members) body.out[name] = members;
  writeItems(body);
  writeReferences(body);
  writeValues(body);
  return { schema: body.out, size: body.size, steps: body.steps };
}

const isIgnored = ({ graph }: Writing, name: string): boolean =>
  graph.dialect === 'draft-07' && MODERN_KEYWORDS.has(name);

/**
 * Rewrites one subschema. What repeats reports its work itself; the rest is part of this schema's
 * own.
 */
function add(body: Body, schema: JsonObject | boolean, repeats: boolean): Draft | boolean {
  const written = write(body.writing, schema);
  body.size += written.size;
  if (repeats) return measured(written);
  body.steps += written.steps;
  return written.schema;
}

function addAll(
  body: Body,
  name: string,
  value: JsonValue,
  repeats: boolean,
): readonly [key: string, schema: Draft | boolean][] {
  return subschemas(name, value, null, 'a schema').map(({ schema, key }) => [
    String(key),
    add(body, schema, repeats),
  ]);
}

function writeSchemas(
  body: Body,
  name: string,
  { looksAt, holds, repeats }: SchemaKeyword,
  value: JsonValue,
): void {
  if (looksAt === 'nothing') return;
  if (name.startsWith('unevaluated')) body.writing.tracksEvaluated = true;
  const written = addAll(body, name, value, repeats);
  const schemas = written.map(([, schema]) => schema);
  if (holds === 'one') body.out[name] = schemas[0] ?? true;
  else if (holds === 'list') writeAlternatives(body, name, schemas);
  else
    for (const [key, member] of [...written, ...listsOf(value)])
      writeMember(body, name, key, member);
}

/** The members of `dependencies` that are lists of names. */
const listsOf = (value: JsonValue): [key: string, names: JsonValue][] =>
  isObject(value) ? Object.entries(value).filter(([, member]) => Array.isArray(member)) : [];

/**
 * Alternatives that are nothing but constants are an `enum`, which is found by one look and
 * explained in one line.
 */
function writeAlternatives(
  { out, source }: Body,
  name: string,
  schemas: readonly (Draft | boolean)[],
): void {
  const constants = schemas.flatMap((schema) =>
    isObject(schema) && Object.keys(schema).join() === 'const' ? [schema['const'] ?? null] : [],
  );
  const isEnum = name !== 'allOf' && constants.length === schemas.length && areUnique(constants);
  if (isEnum && source['enum'] === undefined && out['enum'] === undefined) out['enum'] = constants;
  else out[name] = schemas;
}

/** Ajv leaves out a property called `__proto__`; as a pattern it is a name like any other. */
function writeMember({ members }: Body, name: string, key: string, value: JsonValue): void {
  const isPrototype = key === '__proto__';
  const pattern = name === 'properties' ? '^(?:__proto__)$' : '(?:__proto__)';
  const holder = isPrototype ? 'patternProperties' : name;
  const map = members.get(holder) ?? {};
  map[isPrototype ? pattern : key] = value;
  members.set(holder, map);
}

/**
 * A list of `items` is the older way to write `prefixItems`, and `additionalItems` is then what
 * `items` says today.
 */
function writeItems(body: Body): void {
  const { items, prefixItems, additionalItems } = body.source;
  const isTuple = Array.isArray(items);
  const first = isIgnored(body.writing, 'prefixItems') ? undefined : prefixItems;
  const tuple = first ?? (isTuple ? items : undefined);
  const rest = isTuple ? additionalItems : items;
  if (tuple !== undefined)
    body.out['prefixItems'] = addAll(body, 'prefixItems', tuple, false).map(([, schema]) => schema);
  if (rest !== undefined)
    for (const [, schema] of addAll(body, 'items', rest, true)) body.out['items'] = schema;
}

function writeReferences(body: Body): void {
  const { writing, source, out } = body;
  const calls: JsonValue[] = [];
  for (const [name, target] of writing.graph.nodes.get(source)?.targets ?? []) {
    if (!isIgnored(writing, name)) calls.push(add(body, target, false));
  }
  if (calls.length > 0) out['allOf'] = [out['allOf'] ?? [], calls].flat();
}

/** `nullable` comes from OpenAPI; without a `type` it says nothing. */
function writeValues({ source, out }: Body): void {
  const { type, format, nullable } = source;
  if (type !== undefined)
    out['type'] = nullable === true ? [...new Set([type, 'null'].flat())] : type;
  if (typeof format === 'string' && FORMATS.has(format)) out['format'] = format;
  if (READ_WHOLE.some((name) => out[name] !== undefined)) out[STEPS] = 0;
}
