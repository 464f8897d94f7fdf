/**
 * The keywords that are understood: where they keep schemas, and what their other values must be.
 * All else is annotation.
 */

import type { JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { type Expectation, expected } from '../../core/contract/options.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { linearPattern } from './linear-regexp.ts';
import { translatePattern } from './translate-pattern.ts';
import { type Place, unsupported } from './unsupported.ts';
import { words } from '../../system/words.ts';

/**
 * How a keyword keeps schemas. `map-or-names` is `dependencies`, whose members are schemas or lists
 * of names.
 */
export type Holds = 'one' | 'list' | 'map' | 'one-or-list' | 'map-or-names';

/**
 * Whether a keyword's schemas look at the same value, at a part of it, or at nothing until
 * something refers to them.
 */
type LooksAt = 'value' | 'part' | 'nothing';

/** A keyword whose value is a schema, or holds schemas. */
export interface SchemaKeyword {
  readonly holds: Holds;
  readonly looksAt: LooksAt;
  /** Applied once for every item or member, so that its work repeats. */
  readonly repeats: boolean;
}

const keyword = (holds: Holds, looksAt: LooksAt, repeats = false): SchemaKeyword =>
  Object.freeze({ holds, looksAt, repeats });

/**
 * Everything else in a schema is data: a property may be called `$ref`, and `enum`, `const`,
 * `default`, `examples` hold values.
 */
export const SCHEMA_KEYWORDS: ReadonlyMap<string, SchemaKeyword> = new Map([
  ['allOf', keyword('list', 'value')],
  ['anyOf', keyword('list', 'value')],
  ['oneOf', keyword('list', 'value')],
  ['not', keyword('one', 'value')],
  ['if', keyword('one', 'value')],
  ['then', keyword('one', 'value')],
  ['else', keyword('one', 'value')],
  ['dependentSchemas', keyword('map', 'value')],
  ['dependencies', keyword('map-or-names', 'value')],
  ['properties', keyword('map', 'part')],
  ['patternProperties', keyword('map', 'part', true)],
  ['additionalProperties', keyword('one', 'part', true)],
  ['unevaluatedProperties', keyword('one', 'part', true)],
  ['propertyNames', keyword('one', 'part', true)],
  ['prefixItems', keyword('list', 'part')],
  ['items', keyword('one-or-list', 'part', true)],
  ['additionalItems', keyword('one', 'part', true)],
  ['unevaluatedItems', keyword('one', 'part', true)],
  ['contains', keyword('one', 'part', true)],
  ['$defs', keyword('map', 'nothing')],
  ['definitions', keyword('map', 'nothing')],
  ['contentSchema', keyword('one', 'nothing')],
]);

const TYPES: ReadonlySet<unknown> = new Set(
  words('string number integer boolean object array null'),
);

/**
 * Ajv never reports the lack of a property whose name is empty, so such a name cannot be asked for.
 */
const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');

const isType = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every((name) => TYPES.has(name))
    : TYPES.has(value);

const text: Expectation = { text: 'a string', test: (value) => typeof value === 'string' };
const number: Expectation = { text: 'a number', test: (value) => typeof value === 'number' };
const names: Expectation = { text: 'a list of names that are not empty', test: isNames };

/** What the values of the other keywords must be. A keyword that is not here is not read. */
export const VALUE_KEYWORDS: ReadonlyMap<string, Expectation> = new Map([
  ['type', { text: `one or several of ${[...TYPES].join(', ')}`, test: isType }],
  [
    'enum',
    {
      text: 'a list of at least one value',
      test: (value: unknown) => Array.isArray(value) && value.length > 0,
    },
  ],
  ['const', { text: 'a value', test: () => true }],
  ['required', names],
  [
    'dependentRequired',
    {
      text: 'lists of names that are not empty',
      test: (value: unknown) => isObject(value) && Object.values(value).every(isNames),
    },
  ],
  [
    'multipleOf',
    { text: 'a number above 0', test: (value: unknown) => typeof value === 'number' && value > 0 },
  ],
  ['maximum', number],
  ['minimum', number],
  ['exclusiveMaximum', number],
  ['exclusiveMinimum', number],
  ['maxLength', expected.integer(0)],
  ['minLength', expected.integer(0)],
  ['maxItems', expected.integer(0)],
  ['minItems', expected.integer(0)],
  ['maxProperties', expected.integer(0)],
  ['minProperties', expected.integer(0)],
  ['maxContains', expected.integer(0)],
  ['minContains', expected.integer(0)],
  ['uniqueItems', expected.boolean],
  ['pattern', text],
  ['format', text],
  ['$ref', text],
  ['$dynamicRef', text],
  ['$recursiveRef', text],
  ['$anchor', text],
  ['$dynamicAnchor', text],
  ['$id', text],
]);

const ANNOTATIONS: ReadonlySet<string> = new Set(
  words(`
    $schema $comment $vocabulary title description default examples deprecated readOnly writeOnly
    contentEncoding contentMediaType
  `),
);

/** Whether JSON Schema gives a name a meaning in a schema, be it that of an annotation. */
export const isKeyword = (name: string): boolean =>
  SCHEMA_KEYWORDS.has(name) || VALUE_KEYWORDS.has(name) || ANNOTATIONS.has(name);

/** Keywords that draft-07 does not know and therefore ignores. */
export const MODERN_KEYWORDS: ReadonlySet<string> = new Set(
  words(`
    prefixItems unevaluatedItems unevaluatedProperties dependentSchemas dependentRequired
    minContains maxContains $dynamicRef $recursiveRef
  `),
);

/**
 * Keywords by which a schema points at another one. With one `$id` per document the three say the
 * same.
 */
export const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

const MAX_ENUM = 10_000;
/** What even the smallest pattern costs to compile, in instructions. */
const BASE_SIZE = 10;

/**
 * Refuses a keyword whose value is not what its meaning needs. Keywords that are not understood
 * pass unread.
 */
export function checkKeyword(name: string, value: JsonValue, place: Place, where: string): void {
  const expectation = VALUE_KEYWORDS.get(name);
  if (expectation === undefined) return;
  if (isObject(value) && typeof value['$data'] === 'string')
    throw unsupported(where, place, 'uses $data, which is not supported');
  if (!expectation.test(value)) throw unsupported(where, place, `must be ${expectation.text}`);
  if (name === 'enum' && Array.isArray(value) && value.length > MAX_ENUM)
    throw unsupported(where, place, `has more than ${MAX_ENUM} values`);
}

/**
 * Refuses names that ajv leaves out without a word. Elsewhere `__proto__` is an ordinary name, but
 * a dependency on it would never be enforced.
 */
export function checkDependencies(value: JsonValue, place: Place, where: string): void {
  if (!isObject(value)) return;
  if (Object.hasOwn(value, '__proto__'))
    throw unsupported(where, place, 'depends on __proto__, which is not supported');
  for (const names of Object.values(value)) {
    if (Array.isArray(names) && !isNames(names))
      throw unsupported(where, place, 'must hold lists of names that are not empty');
  }
}

/**
 * What is left of the instructions that all patterns of one schema may come to, and the patterns
 * seen so far.
 */
export interface PatternBudget {
  readonly seen: Set<string>;
  left: number;
}

/**
 * Compiling takes 10 to 20 µs per instruction, and a schema must be refused or taken within 50 ms.
 */
export const patternBudget = (): PatternBudget => ({ seen: new Set(), left: 2_500 });

/**
 * Compiles a pattern, so that what cannot be run is refused now and not when the first call comes.
 */
export function checkPattern(
  pattern: string,
  place: Place,
  where: string,
  budget: PatternBudget,
): void {
  if (budget.seen.has(pattern)) return;
  budget.seen.add(pattern);
  try {
    budget.left -= translatePattern(pattern).size + BASE_SIZE;
    if (budget.left >= 0) linearPattern(pattern);
  } catch (thrown) {
    if (!isAlliumError(thrown)) throw thrown;
    throw unsupported(where, place, `cannot be used: ${thrown.message}`);
  }
  if (budget.left < 0)
    throw unsupported(where, place, 'has a pattern too many: all of them together repeat too much');
}
