/** One demand on one argument. */

import type { JsonPrimitive, JsonValue } from '../core/json/json-value.ts';
import { oneLine } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';
import { type Expectation, expected } from '../core/contract/options.ts';
import { absolutePath, commonRoots, isWithin } from './workspace-roots.ts';

/**
 * What an argument has to be; everything that is said has to hold, and an argument that is missing
 * fails. There is no pattern: what a policy lets pass has to be plain to whoever reads it.
 */
export interface ArgConstraint {
  /** One of these texts, numbers, `true`, `false` or `null`. An empty list lets nothing pass. */
  readonly oneOf?: readonly JsonPrimitive[];
  /**
   * A text that begins so. Not for paths or addresses: `..` or a host name that goes on leads out
   * of any prefix.
   */
  readonly prefix?: string;
  /**
   * An absolute path in one of these folders, by its text: links are not followed. An empty list
   * lets nothing pass.
   */
  readonly within?: readonly string[];
  /** A number that is not lower. */
  readonly minimum?: number;
  /** A number that is not higher. */
  readonly maximum?: number;
  /** A text of no more characters. */
  readonly maxLength?: number;
  /**
   * `allowed`: it may also be left out. `required`: it has to be left out, and nothing else can be
   * said about it.
   */
  readonly absent?: 'allowed' | 'required';
}

const scalar: Expectation = {
  text: 'a text, a number, true, false or null',
  test: (value) =>
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    Number.isFinite(value),
};
const finite: Expectation = { text: 'a number', test: (value) => Number.isFinite(value) };

const FORMS: Readonly<Record<keyof ArgConstraint, Expectation>> = {
  absent: expected.oneOf('allowed', 'required'),
  maximum: finite,
  maxLength: expected.integer(0),
  minimum: finite,
  oneOf: expected.listOf(scalar),
  prefix: expected.string,
  within: expected.listOf(absolutePath),
};

/**
 * The order of the members in the one form. The names are those of `FORMS`, which the type does not
 * tell.
 */
const KEYS = Object.keys(FORMS) as readonly (keyof ArgConstraint)[];

/** Lets nothing pass. Stands in for what cannot be read. */
export const NOTHING_PASSES: ArgConstraint = Object.freeze({ oneOf: Object.freeze([]) });

/**
 * Whether this is a constraint. One that demands nothing is none: a misspelt or forgotten word must
 * not let everything pass.
 */
export function isConstraint(value: unknown): value is ArgConstraint {
  if (!isObject(value)) return false;
  if (texts.has(value)) return true;
  const given = Object.keys(value).filter((key) => value[key] !== undefined);
  // The cast is safe: the name was just looked up.
  const isKnown = (key: string) =>
    Object.hasOwn(FORMS, key) && FORMS[key as keyof ArgConstraint].test(value[key]);
  if (!given.every(isKnown)) return false;
  if (value.absent === undefined) return given.length > 0;
  return value.absent === 'required' ? given.length === 1 : given.length > 1;
}

/** Constraints in their one form, with their text: frozen, so that neither is worked out again. */
const texts = new WeakMap<object, string>();

/** The text of a constraint that `ownConstraint` made. */
export const constraintText = (own: ArgConstraint): string => texts.get(own) ?? JSON.stringify(own);

/** The one form of a constraint, which shares nothing with what it was made from. */
export function ownConstraint(constraint: ArgConstraint): ArgConstraint {
  if (texts.has(constraint)) return constraint;
  const own: Record<string, unknown> = {};
  for (const key of KEYS) {
    const value = constraint[key];
    if (value !== undefined) own[key] = ownValue(key, value);
  }
  texts.set(own, JSON.stringify(own));
  // Every member comes from a constraint, under its own name.
  return Object.freeze(own);
}

function ownValue(key: keyof ArgConstraint, value: unknown): unknown {
  // Adding nothing makes a plain zero of a negative one.
  if (typeof value === 'number') return value + 0;
  if (!Array.isArray(value)) return value;
  // The only lists of a constraint are folders and plain values: `isConstraint` has looked at them.
  return key === 'within'
    ? commonRoots(value as readonly string[], value as readonly string[])
    : sortedValues(value as JsonPrimitive[]);
}

const sortedValues = (values: readonly JsonPrimitive[]): readonly JsonPrimitive[] =>
  Object.freeze(
    [...new Set(values)].sort((a, b) => compareTexts(JSON.stringify(a), JSON.stringify(b))),
  );

const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Whether a value is what a constraint demands; `undefined` is an argument that is missing. */
export function meetsConstraint(constraint: ArgConstraint, value: JsonValue | undefined): boolean {
  const { absent, maximum, maxLength, minimum, oneOf, prefix, within } = constraint;
  if (value === undefined) return absent !== undefined;
  if (absent === 'required') return false;
  // Wider than it is, so that any value may be looked for.
  return (
    (oneOf === undefined || (oneOf as readonly JsonValue[]).includes(value)) &&
    (prefix === undefined || (typeof value === 'string' && value.startsWith(prefix))) &&
    (within === undefined || isWithin(within, value)) &&
    (minimum === undefined || (typeof value === 'number' && value >= minimum)) &&
    (maximum === undefined || (typeof value === 'number' && value <= maximum)) &&
    (maxLength === undefined || (typeof value === 'string' && hasAtMost(maxLength, value)))
  );
}

/** Characters and not halves of them. Counting stops early: the text comes from outside. */
function hasAtMost(count: number, text: string): boolean {
  if (text.length <= count) return true;
  if (text.length > count * 2) return false;
  return Array.from(text).length <= count;
}

const SHOWN = 10;

/** What would pass, for the model: a policy's own words, and never the value that did not. */
export function describeConstraint(constraint: ArgConstraint): string {
  const { absent, maximum, maxLength, minimum, oneOf, prefix, within } = constraint;
  if (absent === 'required') return 'must be left out';
  const parts = [
    oneOf &&
      (oneOf.length === 0
        ? 'something that nothing is'
        : `one of ${listed(oneOf.map((value) => JSON.stringify(value)))}`),
    prefix && `a text that begins with ${JSON.stringify(prefix)}`,
    within &&
      (within.length === 0
        ? 'a path in a folder, and none is allowed'
        : `an absolute path in ${listed(within)}`),
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
    maxLength !== undefined && `a text of at most ${maxLength} characters`,
  ];
  const wanted = parts.filter((part) => typeof part === 'string').join(', and ');
  return oneLine(`must be ${wanted}${absent === undefined ? '' : ', or be left out'}`);
}

const listed = (texts: readonly string[]): string =>
  `${texts.slice(0, SHOWN).join(', ')}${texts.length > SHOWN ? ` and ${texts.length - SHOWN} more` : ''}`;
