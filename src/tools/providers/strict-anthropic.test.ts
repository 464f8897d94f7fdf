import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { mapIn } from '../parameters/local-ref.ts';
import { toAnthropicStrict } from './export-tools.ts';

const strict = (schema: JsonSchema): JsonSchema => toAnthropicStrict(schema, 'subject');
const strictValue = (value: JsonValue): JsonValue | undefined =>
  mapIn(strict({ properties: { value } }), 'properties').value;
const told = (rules: JsonValue): string =>
  `Further rules, as JSON Schema: ${JSON.stringify(rules)}`;

function refusal(schema: JsonSchema): string {
  try {
    return JSON.stringify(strict(schema));
  } catch (error) {
    return isAlliumError(error, 'ERR_SCHEMA_UNSUPPORTED') ? error.message : String(error);
  }
}

describe('toAnthropicStrict', () => {
  it('closes objects and lets optional properties stay out', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'object', properties: { c: { type: 'number' } } },
      },
      required: ['a'],
    };

    expect(strict(schema)).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'object', properties: { c: { type: 'number' } }, additionalProperties: false },
      },
      required: ['a'],
      additionalProperties: false,
    });
  });

  it('turns oneOf into anyOf', () => {
    expect(strictValue({ oneOf: [{ type: 'string' }, { type: 'null' }] })).toEqual({
      anyOf: [{ type: 'string' }, { type: 'null' }],
    });
  });

  it.each([
    'date-time',
    'time',
    'date',
    'duration',
    'email',
    'hostname',
    'uri',
    'ipv4',
    'ipv6',
    'uuid',
  ])('keeps the format %s', (format) => {
    expect(strictValue({ type: 'string', format })).toEqual({ type: 'string', format });
  });

  it.each<[JsonValue, JsonValue, JsonValue]>([
    [{ type: 'string', format: 'regex' }, { type: 'string' }, { format: 'regex' }],
    [
      { type: 'string', minLength: 1, pattern: '^a' },
      { type: 'string' },
      { minLength: 1, pattern: '^a' },
    ],
    [{ type: 'number', minimum: 1 }, { type: 'number' }, { minimum: 1 }],
    [
      { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 3 },
      { type: 'array', items: { type: 'string' } },
      { minItems: 2, maxItems: 3 },
    ],
  ])('moves constraints into the description: %j', (value, wanted, rules) => {
    expect(strictValue(value)).toEqual({ ...(wanted as object), description: told(rules) });
  });

  it.each([0, 1])('keeps minItems %i', (minItems) => {
    expect(strictValue({ type: 'array', items: { type: 'string' }, minItems })).toEqual({
      type: 'array',
      items: { type: 'string' },
      minItems,
    });
  });

  it('merges allOf, whose branches would each be closed against the others', () => {
    const result = strict({
      allOf: [
        { properties: { a: { type: 'string' } } },
        { properties: { b: { type: 'string' } }, required: ['b'] },
      ],
    });

    expect(result).toMatchObject({
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required: ['b'],
    });
    expect(result.allOf).toBeUndefined();
  });

  it('keeps definitions that several places share', () => {
    const $defs = { A: { type: 'array', items: { $ref: '#/$defs/B' } }, B: { type: 'string' } };

    expect(
      strict({ properties: { x: { $ref: '#/$defs/A' }, y: { $ref: '#/$defs/B' } }, $defs }).$defs,
    ).toEqual($defs);
  });

  it.each<[string, JsonSchema]>([
    ['to the root', { properties: { kids: { type: 'array', items: { $ref: '#' } } } }],
    [
      'of a definition',
      {
        properties: { a: { $ref: '#/$defs/A' } },
        $defs: { A: { properties: { next: { $ref: '#/$defs/A' } } } },
      },
    ],
    [
      'of two definitions',
      {
        properties: { a: { $ref: '#/$defs/A' } },
        $defs: {
          A: { type: 'array', items: { $ref: '#/$defs/B' } },
          B: { properties: { a: { $ref: '#/$defs/A' } } },
        },
      },
    ],
  ])('refuses a reference back: %s', (_, schema) => {
    expect(refusal(schema)).toBe(
      'tool "subject" cannot be strict for anthropic: a schema must not refer back to itself',
    );
  });

  it.each<[string, JsonSchema]>([
    ['a union at the root', { oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }],
    ['a value of any type', { properties: { a: {} } }],
    ['an enum of objects', { properties: { a: { enum: [[]] } } }],
  ])('refuses %s', (_, schema) => {
    expect(refusal(schema)).toMatch(/^tool "subject" cannot be strict for anthropic: /);
  });
});
