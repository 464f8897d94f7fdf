/**
 * What is wrong with a value, in words for a model that has to repair its call. Never the value
 * itself.
 */

import type { ErrorObject } from 'ajv/dist/2020.js';
import { closest } from '../../core/contract/closest.ts';
import { oneLine } from '../../core/contract/errors.ts';
import { isObject } from '../../core/json/json.ts';
import { pointer } from './unsupported.ts';

/**
 * One place where a value does not fit: a JSON pointer into the value, and what was expected there.
 */
export interface SchemaProblem {
  readonly path: string;
  readonly message: string;
}

const MAX_PROBLEMS = 20;
const MAX_DESCRIBED = 8;
const MAX_NAME = 64;
const MAX_LISTED = 12;

const cut = (text: string): string =>
  oneLine(text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text);

const quote = (name: unknown): string => `"${cut(String(name))}"`;

const list = (values: readonly unknown[], show: (value: unknown) => string): string =>
  values.slice(0, MAX_LISTED).map(show).join(', ') + (values.length > MAX_LISTED ? ', …' : '');

const json = (value: unknown): string => cut(JSON.stringify(value));

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

type Params = Readonly<Record<string, unknown>>;
type Message = (error: ErrorObject, params: Params) => string;

const limit =
  (before: string, after = ''): Message =>
  (_error, params) =>
    `must ${before} ${String(params['limit'])}${after}`;

const dependent: Message = (_error, { property, missingProperty }) =>
  `needs ${quote(missingProperty)} beside ${quote(property)}`;

/**
 * By ajv's keyword. Schemas' own values and names may be shown; of the value only kinds and, cut
 * short, names.
 */
const MESSAGES: ReadonlyMap<string, Message> = new Map<string, Message>([
  ['type', ({ schema, data }) => `must be ${[schema].flat().join(' or ')}, got ${kindOf(data)}`],
  [
    'enum',
    ({ schema, data }) =>
      `must be one of ${list([schema].flat(), json)}, got another ${kindOf(data)}`,
  ],
  ['const', ({ schema, data }) => `must be ${json(schema)}, got another ${kindOf(data)}`],
  ['required', () => 'is required but missing'],
  ['additionalProperties', (error, params) => unknownProperty(error, params['additionalProperty'])],
  [
    'unevaluatedProperties',
    (error, params) => unknownProperty(error, params['unevaluatedProperty']),
  ],
  [
    'propertyNames',
    (_error, params) => `has a property name that is not allowed: ${quote(params['propertyName'])}`,
  ],
  ['dependentRequired', dependent],
  ['dependencies', dependent],
  ['minimum', limit('be at least')],
  ['maximum', limit('be at most')],
  ['exclusiveMinimum', limit('be more than')],
  ['exclusiveMaximum', limit('be less than')],
  ['multipleOf', ({ schema }) => `must be a multiple of ${json(schema)}`],
  ['minLength', limit('have at least', ' characters')],
  ['maxLength', limit('have at most', ' characters')],
  ['minItems', limit('have at least', ' items')],
  ['maxItems', limit('have at most', ' items')],
  ['minProperties', limit('have at least', ' properties')],
  ['maxProperties', limit('have at most', ' properties')],
  ['items', limit('have at most', ' items')],
  ['unevaluatedItems', () => 'has more items than allowed'],
  ['uniqueItems', () => 'must not hold the same item twice'],
  ['contains', () => 'does not hold the items it must hold'],
  ['pattern', ({ schema }) => `must match the pattern ${cut(String(schema))}`],
  ['format', ({ schema }) => `must have the format ${quote(schema)}`],
  [
    'anyOf',
    ({ schema, data }) =>
      `must fit one of ${[schema].flat().length} alternatives, got ${kindOf(data)} that fits none`,
  ],
  [
    'oneOf',
    ({ schema, data }, params) =>
      oneOf([schema].flat().length, kindOf(data), params['passingSchemas']),
  ],
  ['not', ({ data }) => `must not be ${kindOf(data)} of this form`],
  [
    'if',
    (_error, params) => `must fit the "${String(params['failingKeyword'])}" part of a condition`,
  ],
  ['false schema', () => 'is not allowed'],
]);

const oneOf = (count: number, kind: string, passing: unknown): string =>
  `must fit exactly one of ${count} alternatives, got ${kind} that fits ${passing === null ? 'none' : 'several'}`;

function unknownProperty({ parentSchema }: ErrorObject, name: unknown): string {
  const properties: unknown = parentSchema?.['properties'];
  const known = isObject(properties) ? Object.keys(properties) : [];
  const guess = known.length <= 50 ? closest(String(name).slice(0, MAX_NAME), known) : undefined;
  const hint =
    guess === undefined
      ? `it takes ${known.length === 0 ? 'none' : list(known, quote)}`
      : `did you mean ${quote(guess)}?`;
  return `has the unknown property ${quote(name)}; ${hint}`;
}

/**
 * Keywords that sum up what others say in detail: they come first, so that a cut list still says
 * what matters.
 */
const isSummary = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';

/** At most twenty problems, each once. */
export function problemsOf(errors: readonly ErrorObject[]): readonly SchemaProblem[] {
  // `if` only says that `then` or `else` failed, which is an error of its own.
  const telling = errors.filter(({ keyword }) => keyword !== 'if');
  const problems = new Map<string, SchemaProblem>();
  for (const error of [
    ...telling.filter(isSummary),
    ...telling.filter((error) => !isSummary(error)),
  ]) {
    if (problems.size === MAX_PROBLEMS) break;
    const problem = problemOf(error);
    problems.set(JSON.stringify(problem), problem);
  }
  return Object.freeze([...problems.values()]);
}

function problemOf(error: ErrorObject): SchemaProblem {
  const { keyword, instancePath, propertyName } = error;
  // Ajv types them as any; each message knows the ones of its keyword.
  const params = error.params as Params;
  const base = instancePath.split('/').map(cut).join('/');
  const path =
    keyword === 'required' ? pointer(base, cut(String(params['missingProperty']))) : base;
  const message = MESSAGES.get(keyword)?.(error, params) ?? 'does not fit the schema';
  return Object.freeze({
    path,
    message:
      propertyName === undefined
        ? message
        : `has the property name ${quote(propertyName)}, which ${message}`,
  });
}

/** The problems as one clause, to stand after a colon: where, and what was expected there. */
export function describeProblems(problems: readonly SchemaProblem[]): string {
  const shown = problems
    .slice(0, MAX_DESCRIBED)
    .map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
  const rest = problems.length - shown.length;
  return shown.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}
