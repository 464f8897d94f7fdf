import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { fromProviderArgs } from './provider-messages.ts';

const back = (inputSchema: JsonSchema, args: JsonObject): JsonObject =>
  fromProviderArgs({ name: 'subject', description: '', inputSchema, annotations: {} }, args);

describe('fromProviderArgs', () => {
  const text = { type: 'string' };

  it('drops null where the property is optional and not nullable', () => {
    expect(
      back({ properties: { a: text, b: text }, required: ['b'] }, { a: null, b: 'x' }),
    ).toEqual({ b: 'x' });
  });

  it.each<[string, JsonSchema]>([
    ['the property is required', { properties: { a: text }, required: ['a'] }],
    ['the property is nullable', { properties: { a: { type: ['string', 'null'] } } }],
    ['the property may be anything', { properties: { a: {} } }],
    ['an enum lists null', { properties: { a: { enum: ['x', null] } } }],
    ['one alternative is null', { properties: { a: { anyOf: [text, { type: 'null' }] } } }],
    [
      'a reference leads to a nullable type',
      { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: ['string', 'null'] } } },
    ],
    ['nobody declares the property', { properties: { b: text } }],
    [
      'a referenced part requires it',
      {
        properties: { a: text },
        allOf: [{ $ref: '#/$defs/r' }],
        $defs: { r: { required: ['a'] } },
      },
    ],
  ])('keeps null where %s', (_, schema) => {
    const args = { a: null };

    expect(back(schema, args)).toBe(args);
  });

  it.each<[string, JsonValue]>([
    ['an enum', { enum: ['x'] }],
    ['a const', { const: 'x' }],
    ['alternatives', { oneOf: [text, { type: 'number' }] }],
    ['a reference', { $ref: '#/$defs/text' }],
    ['the same reference twice', { anyOf: [{ $ref: '#/$defs/text' }, { $ref: '#/$defs/text' }] }],
  ])('sees that null does not fit %s', (_, a) => {
    expect(back({ properties: { a }, $defs: { text } }, { a: null })).toEqual({});
  });

  it('goes into objects, lists, references, branches and tuples', () => {
    const inner = { type: 'object', properties: { a: text } };
    const schema = {
      allOf: [{ properties: { one: inner } }],
      properties: {
        two: { type: 'array', items: { $ref: '#/$defs/inner' } },
        three: { anyOf: [text, inner] },
        four: { prefixItems: [text, inner] },
      },
      $defs: { inner },
    };

    expect(
      back(schema, {
        one: { a: null },
        two: [{ a: null }, { a: 'x' }],
        three: { a: null },
        four: ['x', { a: null }],
      }),
    ).toEqual({
      one: {},
      two: [{}, { a: 'x' }],
      three: {},
      four: ['x', {}],
    });
  });

  it('does not change the arguments it got, and freezes what it makes', () => {
    const args = { a: null, b: { c: 1 } };
    const result = back({ properties: { a: text } }, args);

    expect(args).toEqual({ a: null, b: { c: 1 } });
    expect(Object.isFrozen(result)).toBe(true);
  });

  it('is not confused by inherited names', () => {
    const args = JSON.parse('{"constructor":null,"__proto__":null,"toString":null}') as JsonObject;

    expect(back({ properties: { a: text } }, args)).toBe(args);
  });

  it('comes to an end with schemas that contain themselves or double at every step', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        `d${index}`,
        { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
      ]),
    );

    expect(back({ allOf: [{ $ref: '#' }], properties: { a: text } }, { a: null })).toEqual({});
    expect(
      back(
        { properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...$defs, d60: text } },
        { a: null },
      ),
    ).toEqual({});
  });
});
