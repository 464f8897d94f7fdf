/** OpenAI's strict subset: every property is required, so an optional one may be null instead. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { isSchemaObject, listIn, mapIn } from '../parameters/local-ref.ts';
import { strictSchema, type StrictRules } from './strict-schema.ts';
import { words } from '../../system/words.ts';

const FORMATS: ReadonlySet<JsonValue> = new Set(
  words('date-time time date duration email hostname ipv4 ipv6 uuid'),
);
const ENFORCED: ReadonlySet<string> = new Set(
  words(`
    const enum minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems
  `),
);
/** Lookarounds and back references, which the decoder does not take. */
const BEYOND_REGULAR = /\(\?<?[=!]|\\[1-9]|\\k</;

const RULES: StrictRules = {
  keeps: (keyword, value) => {
    if (keyword === 'format') return FORMATS.has(value);
    if (keyword === 'pattern') return typeof value === 'string' && !BEYOND_REGULAR.test(value);
    return ENFORCED.has(keyword);
  },
  members: (properties, required) => ({
    properties: Object.fromEntries(
      properties.map(([name, schema]) => [
        name,
        required.includes(name) ? schema : nullable(schema),
      ]),
    ),
    required: properties.map(([name]) => name),
  }),
};

/**
 * The schema as OpenAI takes it with `strict: true`. Arguments written for it have null where an
 * optional property was left out; `fromProviderArgs` undoes that. Throws `ERR_SCHEMA_UNSUPPORTED`
 * naming the rule that cannot be met.
 */
export function toOpenAiStrict(schema: JsonSchema, toolName: string): JsonSchema {
  const refuse = (rule: string): AlliumError =>
    new AlliumError(
      'ERR_SCHEMA_UNSUPPORTED',
      `tool "${oneLine(toolName)}" cannot be strict for openai: ${rule}`,
      { toolName },
    );
  const strict = strictSchema(schema, RULES, refuse);
  demandLimits(strict, refuse);
  return strict;
}

const NULL: JsonObject = { type: 'null' };
const PLAIN: ReadonlySet<JsonValue> = new Set(['string', 'number', 'integer', 'boolean', 'null']);

function nullable(schema: JsonObject): JsonObject {
  const { title, description, ...rest } = schema;
  const { type, enum: values, anyOf } = rest;
  const types = typeof type === 'string' ? [type] : listIn(rest, 'type');
  if (types.length > 0 && types.every((one) => PLAIN.has(one)) && !Object.hasOwn(rest, 'const'))
    return {
      ...schema,
      type: types.includes('null') ? (type ?? 'null') : [...types, 'null'],
      ...(Array.isArray(values) && !values.includes(null)
        ? { enum: [...listIn(rest, 'enum'), null] }
        : {}),
    };
  const variants = anyOf === undefined ? [rest] : listIn(rest, 'anyOf');
  if (variants.some((variant) => isSchemaObject(variant) && variant.type === 'null')) return schema;
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    anyOf: [...variants, NULL],
  };
}

const LIMITS = Object.freeze({
  properties: 5_000,
  levels: 10,
  characters: 120_000,
  enumValues: 1_000,
  longEnum: 250,
  longEnumCharacters: 15_000,
});

interface Size {
  properties: number;
  levels: number;
  characters: number;
  enumValues: number;
  longestEnum: number;
}

/**
 * OpenAI refuses the whole request for one tool over a limit, so it is better known here.
 * References are not followed.
 */
function demandLimits(schema: JsonSchema, refuse: (rule: string) => AlliumError): void {
  const size: Size = { properties: 0, levels: 0, characters: 0, enumValues: 0, longestEnum: 0 };
  measure(schema, 0, size);
  if (size.properties > LIMITS.properties)
    throw refuse(`at most ${LIMITS.properties} properties, this has ${size.properties}`);
  if (size.levels > LIMITS.levels)
    throw refuse(`objects may be nested ${LIMITS.levels} levels deep, these are ${size.levels}`);
  if (size.enumValues > LIMITS.enumValues)
    throw refuse(`at most ${LIMITS.enumValues} enum values, this has ${size.enumValues}`);
  if (size.characters > LIMITS.characters)
    throw refuse(`names and enum values may have ${LIMITS.characters} characters in all`);
  if (size.longestEnum > LIMITS.longEnumCharacters)
    throw refuse(
      `an enum of more than ${LIMITS.longEnum} values may have ${LIMITS.longEnumCharacters} characters`,
    );
}

function measure(schema: JsonValue, level: number, size: Size): void {
  if (!isSchemaObject(schema)) return;
  const here = Object.hasOwn(schema, 'properties') ? level + 1 : level;
  size.levels = Math.max(size.levels, here);
  const values = listIn(schema, 'enum');
  const characters = values.reduce<number>((sum, value) => sum + lengthOf(value), 0);
  size.enumValues += values.length;
  size.characters += characters + lengthOf(schema.const);
  if (values.length > LIMITS.longEnum) size.longestEnum = Math.max(size.longestEnum, characters);
  for (const keyword of ['properties', '$defs']) {
    for (const [name, inner] of Object.entries(mapIn(schema, keyword))) {
      size.characters += name.length;
      if (keyword === 'properties') size.properties += 1;
      measure(inner, keyword === 'properties' ? here : 0, size);
    }
  }
  for (const inner of [schema.items ?? null, ...listIn(schema, 'anyOf')])
    measure(inner, here, size);
}

const lengthOf = (value: JsonValue | undefined): number =>
  typeof value === 'string' ? value.length : 0;
