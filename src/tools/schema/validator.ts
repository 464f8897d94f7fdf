/**
 * Checks values against schemas. A schema is compiled when the first value comes, and kept as long
 * as it is used.
 */

import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import type { JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { isSnapshot } from '../../core/json/json.ts';
import { checkSchema } from './check-schema.ts';
import { type Compilable, toCompilable } from './compilable.ts';
import { compile } from './engine.ts';
import { problemsOf, type SchemaProblem } from './problems.ts';
import { readSchema } from './schema-graph.ts';
import { metered, STOPPED } from './steps.ts';
import { unsupported } from './unsupported.ts';

export { describeProblems, type SchemaProblem } from './problems.ts';

const MAX_SCHEMAS = 1_000;
const MAX_TEXT = 16_777_216;
/**
 * Work spent on finding all problems once there is one. Ajv joins error lists in quadratic time, so
 * it is small.
 */
const DETAIL_STEPS = 5_000;
/** Subschemas above which no second function is compiled. */
const MAX_DETAILED = 1_000;

/**
 * Stops at the first problem, so that a failed branch costs little; the function that finds all is
 * made when needed.
 */
interface Compiled {
  readonly source: Compilable;
  readonly first: ValidateFunction;
  all?: ValidateFunction;
}

const bySchema = new WeakMap<JsonSchema, Compiled>();
/** MCP servers list the same tools again and again, as new objects with the same text. */
const byText = new LRUCache<string, Compiled>({
  max: MAX_SCHEMAS,
  maxSize: MAX_TEXT,
  sizeCalculation: (_compiled, text) => text.length,
});

let compilations = 0;

/**
 * How many functions were compiled since the process started: one per schema, and one more once a
 * value did not fit.
 */
export const countCompilations = (): number => compilations;

/** Whether a value could be checked against this schema without compiling anything. */
export const isCompiled = (schema: JsonSchema): boolean =>
  bySchema.has(schema) || byText.has(JSON.stringify(schema));

const NONE: readonly SchemaProblem[] = Object.freeze([]);
const UNCHECKED: readonly SchemaProblem[] = Object.freeze([
  Object.freeze({
    path: '',
    message: 'could not be checked: it is too large or too deep for this schema',
  }),
]);

/**
 * What is wrong with a value, at most twenty problems; an empty list means that it fits. Nothing is
 * coerced and no default is filled in. The work is bounded by the size of the value: what takes
 * more counts as not fitting. Throws `ERR_SCHEMA_UNSUPPORTED` for a schema that `checkSchema` would
 * refuse, and never because of a value.
 */
export function validateJson(schema: JsonSchema, value: JsonValue): readonly SchemaProblem[] {
  const compiled = compiledOf(schema);
  const first = run(compiled.first, value);
  if (first === STOPPED) return UNCHECKED;
  if (first.length === 0) return NONE;
  compiled.all ??= compileAll(compiled);
  const all = run(compiled.all, value, DETAIL_STEPS);
  return problemsOf(all === STOPPED ? first : all);
}

function run(
  validate: ValidateFunction,
  value: JsonValue,
  steps?: number,
): readonly ErrorObject[] | typeof STOPPED {
  const fits = metered(value, () => validate(value), steps);
  const errors = validate.errors ?? [];
  // The errors hold the value, which must not outlive its call in here.
  validate.errors = null;
  return fits === STOPPED ? STOPPED : errors;
}

/** Only a snapshot is known by identity: anything else may have changed since. */
function compiledOf(schema: JsonSchema): Compiled {
  const known = bySchema.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema);
  const compiled = byText.get(text) ?? compileNew(schema);
  byText.set(text, compiled);
  if (isSnapshot(schema)) bySchema.set(schema, compiled);
  return compiled;
}

function compileNew(schema: JsonSchema): Compiled {
  const source = toCompilable(readSchema(checkSchema(schema, 'a schema'), 'a schema'));
  return { source, first: compileCounted(source, false) };
}

/**
 * For a very large schema, or where the longer function is too much for the stack, one problem is
 * all there is.
 */
function compileAll({ source, first }: Compiled): ValidateFunction {
  if (source.size > MAX_DETAILED) return first;
  try {
    return compileCounted(source, true);
  } catch {
    return first;
  }
}

function compileCounted(source: Compilable, allErrors: boolean): ValidateFunction {
  compilations += 1;
  try {
    return compile(source, allErrors);
  } catch (thrown) {
    throw unsupported('a schema', null, 'cannot be compiled', thrown);
  }
}
