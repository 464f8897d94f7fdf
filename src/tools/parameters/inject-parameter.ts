/**
 * Adds a parameter to what a tool advertises, without changing which calls the tool itself accepts.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import type { ToolSpec } from '../../core/contract/layer.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import {
  descriptionOf,
  detachSelfReferences,
  ignoresRefSiblings,
  isConstraint,
  isSchemaObject,
  listIn,
  mapIn,
  omit,
  ownMember,
  refsIn,
  resolveLocalRef,
} from './local-ref.ts';
import { linearPattern } from '../schema/linear-regexp.ts';

/** How `injectParameter` adds a parameter. */
interface InjectParameterOptions {
  /**
   * Whether the model must send it.
   * @default true
   */
  readonly required?: boolean;
}

/** Keywords whose schemas speak about the very same arguments as the schema they stand in. */
const BRANCH_LISTS = ['allOf', 'anyOf', 'oneOf'];
const BRANCHES = ['if', 'then', 'else'];
const BRANCH_MAPS = ['dependentSchemas', 'dependencies'];

/**
 * Whether the tool itself knows this parameter: declared or required at the root, or in any branch
 * that the root is made of, behind local references too. What a schema only forbids (`not`) or
 * matches by pattern is not declared.
 */
export function declaresParameter(schema: JsonSchema, name: string): boolean {
  return declares(schema, name, schema, new Set());
}

function declares(
  node: JsonValue | undefined,
  name: string,
  root: JsonSchema,
  seen: Set<JsonValue>,
): boolean {
  if (!isSchemaObject(node) || seen.has(node)) return false;
  seen.add(node);
  if (Object.hasOwn(mapIn(node, 'properties'), name) || listIn(node, 'required').includes(name))
    return true;
  const dependent = ['dependentRequired', 'dependencies'].flatMap((keyword) =>
    Object.values(mapIn(node, keyword)),
  );
  if (dependent.some((needed) => Array.isArray(needed) && needed.includes(name))) return true;
  const inner = [
    ...BRANCH_LISTS.flatMap((keyword) => listIn(node, keyword)),
    ...BRANCHES.map((keyword) => node[keyword]),
    ...BRANCH_MAPS.flatMap((keyword) => Object.values(mapIn(node, keyword))),
    typeof node.$ref === 'string' ? resolveLocalRef(root, node.$ref) : undefined,
  ];
  return inner.some((branch) => declares(branch, name, root, seen));
}

/**
 * A new spec whose schema asks for one parameter more. Arguments fit it exactly when they fit the
 * old schema after the parameter was taken off, and the parameter fits its own. A tool that
 * declares the parameter comes back as it is. Throws `ERR_SCHEMA_UNSUPPORTED` where JSON Schema
 * cannot say this; does not touch the caller's schema.
 */
export function injectParameter(
  tool: ToolSpec,
  name: string,
  schema: JsonSchema,
  options: InjectParameterOptions = {},
): ToolSpec {
  checkOptions('injectParameter', { name, schema }, EXPECTED);
  checkOptions('injectParameter', options, { required: expected.boolean });
  if (declaresParameter(tool.inputSchema, name)) return tool;
  const refuse = (problem: string): AlliumError => unsupported(tool.name, name, problem);
  const detached = detachSelfReferences(tool.inputSchema, refuse);
  const work: Work = {
    name,
    schema,
    required: options.required ?? true,
    root: detached,
    refuse,
    steps: { left: MAX_STEPS },
  };
  // The injected schema is another one than its `$id` names; two of one id would meet in a
  // validator.
  const body = omit(inlineRoot(detached, work, new Set()), '$id');
  if (Object.hasOwn(body, 'enum') || Object.hasOwn(body, 'const'))
    throw refuse('the schema lists whole argument objects (enum or const)');
  // Only a branch below `not` can come back as `false`: a root that requires the parameter declares
  // it.
  const lifted = lift(body, work, new Set()) as JsonObject;
  const required = listIn(lifted, 'required');
  const inputSchema = snapshotObject({
    ...lifted,
    type: lifted.type ?? 'object',
    properties: { ...mapIn(lifted, 'properties'), [name]: schema },
    ...(work.required ? { required: [...required, name] } : {}),
  });
  return Object.freeze({ ...tool, inputSchema });
}

const FORBIDDEN_NAMES: ReadonlySet<unknown> = new Set([
  '',
  '__proto__',
  'constructor',
  'prototype',
]);

const EXPECTED = {
  name: expected.required({
    text: 'a parameter name, and none that objects inherit',
    test: (value) => typeof value === 'string' && !FORBIDDEN_NAMES.has(value),
  }),
  // Its references would be looked up in the tool's schema, where they mean something else.
  schema: expected.required({
    text: 'a JSON Schema without references',
    test: (value) => isObject(value) && refsIn(snapshotObject(value)).length === 0,
  }),
};

const unsupported = (toolName: string, name: string, problem: string): AlliumError =>
  new AlliumError(
    'ERR_SCHEMA_UNSUPPORTED',
    `tool "${oneLine(toolName)}": parameter "${oneLine(name)}" cannot be added: ${problem}`,
    { toolName },
  );

/** References that fan out could double the schema at every step. */
const MAX_STEPS = 4_000;

interface Work {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
  readonly root: JsonSchema;
  readonly refuse: (problem: string) => AlliumError;
  readonly steps: { left: number };
}

type Open = ReadonlySet<JsonValue>;

/**
 * Puts the target of a root `$ref` in its place: models and older drafts do not read what stands
 * beside one.
 */
function inlineRoot(schema: JsonObject, work: Work, open: Open): JsonObject {
  const { $ref, ...beside } = schema;
  if (typeof $ref !== 'string') return schema;
  if (!ignoresRefSiblings(work.root) && Object.keys(beside).some(isConstraint)) return schema;
  const target = follow($ref, work, open);
  if (!isSchemaObject(target))
    throw work.refuse('the root reference does not lead to an object schema');
  return inlineRoot(
    { ...demandNameless(target, work), ...descriptionOf(beside) },
    work,
    new Set([...open, target]),
  );
}

function follow(ref: string, work: Work, open: Open): JsonValue {
  const target = resolveLocalRef(work.root, ref);
  if (target === undefined)
    throw work.refuse('a reference leads out of the schema, to an anchor, or nowhere');
  if (open.has(target)) throw work.refuse('a reference leads back to itself');
  return target;
}

/** A copy would carry the name of the original, and references by that name would find either. */
function demandNameless(node: JsonObject, work: Work): JsonObject {
  const named = ['$id', '$anchor', '$dynamicAnchor', '$recursiveAnchor'].some((keyword) =>
    Object.hasOwn(node, keyword),
  );
  if (named) throw work.refuse('a branch of the schema has an id or an anchor');
  return node;
}

/**
 * The schema that holds for arguments exactly when the given one holds for them without the
 * parameter. That is what makes it right below `not`, `oneOf` and `if` as well. Gives the same
 * object back where nothing has to change.
 */
function lift(node: JsonValue, work: Work, open: Open): JsonValue {
  if (!isSchemaObject(node)) return node;
  work.steps.left -= 1;
  if (work.steps.left < 0) throw work.refuse('the schema branches too often');
  demandNameless(node, work);
  demandLiftable(node, work);
  // Without the parameter this can never hold. Only seen below `not`.
  if (listIn(node, 'required').includes(work.name)) return false;
  const branches = liftBranches(node, work, open);
  const changes = {
    ...branches,
    ...liftNames(node, work),
    ...liftCounts({ ...node, ...branches }, work),
  };
  const changed = Object.keys(changes).length === 0 ? node : { ...node, ...changes };
  return typeof node.$ref === 'string' ? liftRef(node.$ref, changed, work, open) : changed;
}

function demandLiftable(node: JsonObject, { name, refuse }: Work): void {
  if ([node.const, ...listIn(node, 'enum')].some(isObject))
    throw refuse('a branch of the schema lists whole argument objects (enum or const)');
  if (Object.hasOwn(node, '$dynamicRef') || Object.hasOwn(node, '$recursiveRef'))
    throw refuse('the schema has dynamic references');
  const lists = ['dependentRequired', 'dependencies'].flatMap((keyword) =>
    Object.values(mapIn(node, keyword)),
  );
  if (lists.some((needed) => Array.isArray(needed) && needed.includes(name)))
    throw refuse('the schema forbids a dependency on it');
  for (const [pattern, constraint] of Object.entries(mapIn(node, 'patternProperties'))) {
    if (!isTrivial(constraint) && mayMatch(pattern, name))
      throw refuse('a pattern of the schema already covers that name');
  }
}

/**
 * True also for patterns that a linear-time engine does not take: what cannot be ruled out is
 * assumed.
 */
function mayMatch(pattern: string, name: string): boolean {
  try {
    return linearPattern(pattern).test(name);
  } catch {
    return true;
  }
}

const isTrivial = (schema: JsonValue | undefined): boolean =>
  schema === undefined ||
  schema === true ||
  (isSchemaObject(schema) && Object.keys(schema).length === 0);

function liftBranches(node: JsonObject, work: Work, open: Open): Record<string, JsonValue> {
  const changes: Record<string, JsonValue> = {};
  for (const keyword of BRANCH_LISTS) {
    const branches = listIn(node, keyword);
    const lifted = branches.map((branch) => lift(branch, work, open));
    if (lifted.some((branch, index) => branch !== branches[index])) changes[keyword] = lifted;
  }
  for (const keyword of ['not', ...BRANCHES]) {
    const branch = node[keyword];
    const lifted = branch === undefined ? undefined : lift(branch, work, open);
    if (lifted !== undefined && lifted !== branch) changes[keyword] = lifted;
  }
  for (const keyword of [...BRANCH_MAPS, 'dependentRequired']) {
    const entries = Object.entries(mapIn(node, keyword));
    // What depends on the parameter being there never came to pass without it.
    const lifted = entries
      .filter(([key]) => key !== work.name)
      .map(([key, branch]) => [key, lift(branch, work, open)] as const);
    if (
      lifted.length < entries.length ||
      lifted.some(([key, branch]) => branch !== mapIn(node, keyword)[key])
    )
      changes[keyword] = Object.fromEntries(lifted);
  }
  return changes;
}

/** Declares the parameter wherever the schema would otherwise take it for an unknown one. */
function liftNames(node: JsonObject, { name, schema }: Work): Record<string, JsonValue> {
  const properties = mapIn(node, 'properties');
  const closed = ['additionalProperties', 'unevaluatedProperties'].some(
    (keyword) => !isTrivial(node[keyword]),
  );
  const declared = closed || Object.hasOwn(properties, name);
  const names = ownMember(node, 'propertyNames');
  return {
    ...(declared ? { properties: { ...properties, [name]: schema } } : {}),
    ...(names === undefined || isTrivial(names)
      ? {}
      : { propertyNames: { anyOf: [{ const: name }, names] } }),
  };
}

/**
 * One member more, where the parameter is there: always if it is required, otherwise it has to be
 * asked.
 */
function liftCounts(node: JsonObject, { name, required }: Work): Record<string, JsonValue> {
  const { minProperties: min, maxProperties: max } = node;
  const more = {
    ...(typeof min === 'number' ? { minProperties: min + 1 } : {}),
    ...(typeof max === 'number' ? { maxProperties: max + 1 } : {}),
  };
  if (Object.keys(more).length === 0 || required) return more;
  const absent = {
    properties: { [name]: false },
    ...(typeof max === 'number' ? { maxProperties: max } : {}),
  };
  return {
    ...(typeof max === 'number' ? { maxProperties: max + 1 } : {}),
    allOf: [...listIn(node, 'allOf'), { anyOf: [{ required: [name], ...more }, absent] }],
  };
}

/**
 * Definitions are shared with other places, so a branch that has to change gets a copy of its own.
 */
function liftRef(ref: string, node: JsonObject, work: Work, open: Open): JsonValue {
  const target = follow(ref, work, open);
  const lifted = lift(target, work, new Set([...open, target]));
  if (lifted === target) return node;
  const beside = omit(node, '$ref');
  if (ignoresRefSiblings(work.root) || !Object.keys(beside).some(isConstraint)) return lifted;
  return { ...beside, allOf: [...listIn(beside, 'allOf'), lifted] };
}
