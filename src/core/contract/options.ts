/** Options are checked when a layer is made: by the first call nothing can be misconfigured. */

import { closest } from './closest.ts';
import { AlliumError } from './errors.ts';
import { isObject } from '../json/json.ts';

/** One kind of value an option may have. */
export interface Expectation {
  readonly text: string;
  readonly test: (value: unknown) => boolean;
  readonly required?: boolean;
  /** The option is a number: a wrong number is shown as it is. */
  readonly numeric?: boolean;
  /** What a wrong value was perhaps meant to be. Must not repeat the value, which may be secret. */
  readonly hint?: (value: unknown) => string | undefined;
}

const expectation = (text: string, test: (value: unknown) => boolean): Expectation =>
  Object.freeze({ text, test });

/** The kinds of values the bundled layers use; any `{ text, test }` will do beside them. */
export const expected = Object.freeze({
  string: expectation('a non-empty string', (value) => typeof value === 'string' && value !== ''),
  boolean: expectation('true or false', (value) => typeof value === 'boolean'),
  function: expectation('a function', (value) => typeof value === 'function'),
  object: expectation('an object', isObject),
  integer: (min: number): Expectation =>
    Object.freeze({
      ...expectation(
        `a whole number of at least ${min}`,
        (value) => Number.isSafeInteger(value) && (value as number) >= min,
      ),
      numeric: true,
    }),
  oneOf: (...values: readonly string[]): Expectation =>
    Object.freeze({
      ...expectation(`one of ${values.map((value) => `"${value}"`).join(', ')}`, (value) =>
        values.includes(value as string),
      ),
      hint: (value: unknown) => {
        const guess = typeof value === 'string' ? closest(value, values) : undefined;
        return guess === undefined ? undefined : `did you mean "${guess}"?`;
      },
    }),
  listOf: (item: Expectation): Expectation =>
    expectation(
      `a list, each ${item.text}`,
      (value) => Array.isArray(value) && Array.from<unknown>(value).every(item.test),
    ),
  mapOf: (item: Expectation): Expectation =>
    expectation(
      `an object, each value ${item.text}`,
      (value) => isObject(value) && Object.values(value).every(item.test),
    ),
  required: (item: Expectation): Expectation => Object.freeze({ ...item, required: true }),
});

/**
 * Throws `ERR_INVALID_OPTION` naming owner, option, expected and got, for the first option that is
 * wrong.
 */
export function checkOptions(
  owner: string,
  options: unknown,
  expectations: Readonly<Record<string, Expectation>>,
): void {
  if (!isObject(options)) throw invalid(owner, 'options', expected.object, options);
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(expectations, key))
      throw unknownOption(owner, key, Object.keys(expectations));
  }
  // Every call passes here: `Object.entries` would make a list for each of them.
  for (const key of Object.keys(expectations)) {
    const wanted = expectations[key];
    if (wanted === undefined) continue;
    const value = Object.hasOwn(options, key) ? options[key] : undefined;
    if (value === undefined ? wanted.required === true : !wanted.test(value))
      throw invalid(owner, key, wanted, value);
  }
}

function unknownOption(owner: string, key: string, known: readonly string[]): AlliumError {
  const guess = closest(key, known);
  const hint = guess === undefined ? `it takes ${known.join(', ')}` : `did you mean "${guess}"?`;
  return new AlliumError('ERR_INVALID_OPTION', `${owner} has no option "${key}"; ${hint}`, {
    layer: owner,
    option: key,
    expected: known.join(' | '),
    got: key,
  });
}

function invalid(
  owner: string,
  option: string,
  { text, numeric, hint }: Expectation,
  value: unknown,
): AlliumError {
  // A number in the place of a secret is a secret: only where a number was asked for is it worth
  // showing.
  const got = numeric === true && typeof value === 'number' ? String(value) : kindOf(value);
  const meant = hint?.(value);
  return new AlliumError(
    'ERR_INVALID_OPTION',
    `${owner}: "${option}" must be ${text}, got ${got}${meant === undefined ? '' : `; ${meant}`}`,
    {
      layer: owner,
      option,
      expected: text,
      got,
    },
  );
}

/** Says what kind of value came, never the value. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
