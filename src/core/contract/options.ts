/** Options are checked when a layer is made: by the first call nothing can be misconfigured. */

import { closest } from './closest.ts';
import { AlliumError } from './errors.ts';
import { isObject } from '../json/json.ts';
import type { JsonObject } from '../json/json-value.ts';

/** One kind of value an option may have. */
export interface Expectation {
  readonly text: string;
  readonly test: (value: unknown) => boolean;
  readonly required?: boolean;
  /** The option is a number: a wrong number is shown as it is. */
  readonly numeric?: boolean;
  /** What a wrong value was perhaps meant to be. Must not repeat the value, which may be secret. */
  readonly hint?: (value: unknown) => string | undefined;
  /** The values that a file may hold. @default any */
  readonly schema?: JsonObject;
}

/**
 * One option, stated once: the check, the schema of files and the table of the layer's page come
 * from it.
 */
export interface Option extends Expectation {
  /** What the option is, in Markdown. */
  readonly says: string;
  /** In Markdown; options that are required have none. */
  readonly fallback?: string;
}

/** Every option of a layer, by its name. */
export type OptionTable<T = Record<string, unknown>> = Readonly<Record<keyof T, Option>>;

export const option = (kind: Expectation, says: string, fallback?: string): Option =>
  Object.freeze({ ...kind, says, ...(fallback === undefined ? {} : { fallback }) });

/** The schema of an object that has these options and no others. */
export function optionsSchema(options: OptionTable): JsonObject {
  const entries = Object.entries(options);
  const required = entries.flatMap(([name, one]) => (one.required === true ? [name] : []));
  return {
    type: 'object',
    title: 'an object',
    properties: Object.fromEntries(
      entries.map(([name, { schema, says, fallback }]) => [
        name,
        {
          ...schema,
          description: fallback === undefined ? says : `${says} (default: ${fallback})`,
        },
      ]),
    ),
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
  };
}

function isMet(value: unknown, options: OptionTable): boolean {
  try {
    checkOptions('', value, options);
    return true;
  } catch {
    return false;
  }
}

type Kind = Expectation & { readonly schema: JsonObject };

const kind = (text: string, test: Expectation['test'], schema: JsonObject): Kind =>
  Object.freeze({ text, test, schema: Object.freeze(schema) });

const kinds = {
  string: kind('a non-empty string', (value) => typeof value === 'string' && value !== '', {
    type: 'string',
    minLength: 1,
    title: 'a non-empty string',
  }),
  boolean: kind('true or false', (value) => typeof value === 'boolean', {
    type: 'boolean',
    title: 'true or false',
  }),
  /** A file names an export of a module, or a member of the call. */
  function: kind('a function', (value) => typeof value === 'function', {
    $ref: '#/$defs/function',
  }),
  object: kind('an object', isObject, { type: 'object', title: 'an object' }),
  /** What code makes, such as a store: an object with these methods. A file names an export. */
  made: (text: string, ...methods: readonly string[]): Kind =>
    kind(
      text,
      (value) => isObject(value) && methods.every((name) => typeof value[name] === 'function'),
      { $ref: '#/$defs/made' },
    ),
  integer: (min: number, max?: number): Kind => {
    const text =
      max === undefined
        ? `a whole number of at least ${min}`
        : `a whole number from ${min} to ${max}`;
    const isWithin = (value: number) => value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER);
    return Object.freeze({
      ...kind(text, (value) => Number.isSafeInteger(value) && isWithin(value as number), {
        type: 'integer',
        minimum: min,
        ...(max === undefined ? {} : { maximum: max }),
        title: text,
      }),
      numeric: true,
    });
  },
  oneOf: (...values: readonly string[]): Kind => {
    const text = `one of ${values.map((value) => `"${value}"`).join(', ')}`;
    return Object.freeze({
      ...kind(text, (value) => values.includes(value as string), { enum: values, title: text }),
      hint: (value: unknown) => {
        const guess = typeof value === 'string' ? closest(value, values) : undefined;
        return guess === undefined ? undefined : `did you mean "${guess}"?`;
      },
    });
  },
  either: (text: string, ...choices: readonly Expectation[]): Kind =>
    kind(text, (value) => choices.some(({ test }) => test(value)), {
      title: text,
      anyOf: choices.map(({ schema }) => schema ?? {}),
    }),
  listOf: (item: Expectation): Kind =>
    kind(
      `a list, each ${item.text}`,
      (value) => Array.isArray(value) && Array.from<unknown>(value).every(item.test),
      { type: 'array', items: item.schema ?? {}, title: 'a list' },
    ),
  mapOf: (item: Expectation): Kind =>
    kind(
      `an object, each value ${item.text}`,
      (value) => isObject(value) && Object.values(value).every(item.test),
      { type: 'object', additionalProperties: item.schema ?? {}, title: 'an object' },
    ),
  /** An object with these members and no others. */
  shape: (options: OptionTable): Kind =>
    kind('an object', (value) => isMet(value, options), optionsSchema(options)),
  required: <T extends Expectation>(item: T): T => Object.freeze({ ...item, required: true }),
};

/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const timer = kinds.integer(1, MAX_TIMER_MS);

const never = kind("'never'", (value) => value === 'never', { const: 'never' });

/** The kinds of values the bundled layers use; any `{ text, test }` will do beside them. */
export const expected = Object.freeze({
  ...kinds,
  /** How long a person may take. */
  expiry: Object.freeze({
    ...kinds.either(`${timer.text}, or 'never'`, timer, never),
    numeric: true,
  }),
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
  // Every call passes here: `for…in` makes no list of the names.
  for (const key in options) {
    if (Object.hasOwn(options, key) && !Object.hasOwn(expectations, key))
      throw unknownOption(owner, key, Object.keys(expectations));
  }
  for (const key in expectations) {
    const wanted = Object.hasOwn(expectations, key) ? expectations[key] : undefined;
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
