import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import type { FromSchema } from './infer-args.ts';

const base = {
  name: 'tool',
  description: 'd',
  inputSchema: { type: 'object' },
  execute: () => null,
} as const;

describe('defineTool', () => {
  it('gives a frozen tool with the defaults of MCP', () => {
    const tool = defineTool(base);

    expect(Object.isFrozen(tool)).toBe(true);
    expect(tool).toMatchObject({
      executor: 'local',
      injected: [],
      annotations: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
    });
  });

  it('takes a read-only tool for harmless unless it says otherwise', () => {
    expect(defineTool({ ...base, annotations: { readOnly: true } }).annotations.destructive).toBe(
      false,
    );
    expect(
      defineTool({ ...base, annotations: { readOnly: true, destructive: true } }).annotations
        .destructive,
    ).toBe(true);
  });

  it('does not change when the definition changes afterwards', () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string' } } };
    const tool = defineTool({ ...base, inputSchema });
    inputSchema.properties.a.type = 'number';

    expect(tool.inputSchema).toMatchObject({ properties: { a: { type: 'string' } } });
    expect(Object.isFrozen(tool.inputSchema.properties)).toBe(true);
  });

  it.each([
    ['no name', { ...base, name: undefined }],
    ['a name with a space', { ...base, name: 'a b' }],
    ['no description', { ...base, description: undefined }],
    ['no schema', { ...base, inputSchema: undefined }],
    ['a schema that is not for objects', { ...base, inputSchema: { type: 'string' } }],
    ['a misspelt field', { ...base, timeoutMS: 5 }],
    ['a time limit of zero', { ...base, timeoutMs: 0 }],
    ['an unknown executor', { ...base, executor: 'cloud' }],
    ['an unknown kind', { ...base, annotations: { kind: 'destroy' } }],
    ['a hidden argument from nowhere', { ...base, injected: [{ name: 'k', from: 'env' }] }],
    [
      'a hidden argument without a store name',
      { ...base, injected: [{ name: 'k', from: 'store:' }] },
    ],
    [
      'two hidden arguments of one name',
      {
        ...base,
        injected: [
          { name: 'k', from: 'state' },
          { name: 'k', from: 'turn' },
        ],
      },
    ],
    ['nothing', undefined],
  ])('refuses %s', (_name, definition) => {
    expect(() => defineTool(definition as never)).toThrow(
      expect.objectContaining({ name: 'AlliumError' }) as Error,
    );
  });

  it('says which field was meant', () => {
    expect(() => defineTool({ ...base, timeoutMS: 5 } as never)).toThrow(
      'did you mean "timeoutMs"?',
    );
  });

  it('takes the JSON Schema of a schema library', () => {
    const tool = defineTool({
      ...base,
      inputSchema: z.object({ city: z.string(), days: z.number().optional() }),
    });

    expect(tool.inputSchema).toMatchObject({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city'],
    });
  });

  it('takes the JSON Schema of a schema library for the output too', () => {
    const tool = defineTool({ ...base, outputSchema: z.object({ ok: z.boolean() }) });

    expect(tool.outputSchema).toMatchObject({
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
    });
  });

  it.each([
    ['a library schema for each member', { ok: z.boolean() }],
    ['a library schema inside a JSON Schema', { type: 'object', properties: { ok: z.boolean() } }],
    ['a library schema that cannot be written as JSON Schema', z.object({ when: z.date() })],
    [
      'a library that cannot write JSON Schema',
      { '~standard': { version: 1, vendor: 'other', validate: () => ({ value: 1 }) } },
    ],
    [
      'an object of a class',
      new (class Schema {
        readonly ok = 'boolean';
      })(),
    ],
    ['a map', new Map([['type', 'object']])],
    ['an object without a keyword', { ok: 'boolean' }],
    ['a list', [{ type: 'object' }]],
    ['a function', () => true],
    ['a text', '{"type":"object"}'],
    ['true', true],
    ['null', null],
  ])('refuses %s as a schema', (_name, schema) => {
    const refusal = expect.objectContaining({ name: 'AlliumError' }) as Error;

    expect(() => defineTool({ ...base, inputSchema: schema } as never)).toThrow(refusal);
    expect(() => defineTool({ ...base, outputSchema: schema } as never)).toThrow(refusal);
  });

  it('names the version of zod that can be written as JSON Schema', () => {
    const old = { '~standard': { version: 1, vendor: 'zod', validate: () => ({ value: 1 }) } };

    expect(() => defineTool({ ...base, inputSchema: old })).toThrow(
      'zod schemas of this version cannot be written as JSON Schema; zod 4.2 and later can',
    );
  });

  it.each([
    {},
    { title: 'Anything' },
    { $ref: '#/$defs/a', $defs: { a: {} } },
    Object.assign(Object.create(null), { type: 'object' }),
  ])('takes %o as a schema', (schema: object) => {
    expect(
      defineTool({ ...base, inputSchema: schema, outputSchema: schema } as never).outputSchema,
    ).toEqual({ ...schema });
  });

  it('lets hidden arguments past a schema library that does not know them', async () => {
    const tool = defineTool({
      ...base,
      inputSchema: z.strictObject({ city: z.string() }),
      injected: [{ name: 'key', from: 'state' }],
    });

    expect(await tool.parse?.({ city: 'x', key: 'hidden' })).toEqual({
      value: { city: 'x', key: 'hidden' },
    });
  });

  it('shows a schema library the hidden arguments it declares, and the model none of them', async () => {
    const tool = defineTool({
      ...base,
      inputSchema: z.strictObject({ city: z.string(), key: z.string() }),
      injected: [{ name: 'key', from: 'state' }],
    });

    expect(JSON.stringify(tool.inputSchema)).not.toContain('key');
    expect(await tool.parse?.({ city: 'x', key: 'hidden' })).toEqual({
      value: { city: 'x', key: 'hidden' },
    });
    expect(await tool.parse?.({ city: 'x', key: 5 })).toMatchObject({
      problems: [{ path: '/key' }],
    });
  });
});

describe('the types of arguments', () => {
  it('come from a schema literal', () => {
    defineTool({
      ...base,
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          size: { enum: ['s', 'm'] },
          count: { type: 'integer' },
          tags: { type: 'array', items: { type: 'string' } },
          where: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
          either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          fixed: { const: 'a' },
          open: {},
        },
        required: ['name', 'size', 'where'],
      },
      execute(args) {
        expectTypeOf(args.name).toEqualTypeOf<string>();
        expectTypeOf(args.size).toEqualTypeOf<'s' | 'm'>();
        expectTypeOf(args.count).toEqualTypeOf<number | undefined>();
        expectTypeOf(args.tags).toEqualTypeOf<readonly string[] | undefined>();
        expectTypeOf(args.where).toEqualTypeOf<{ readonly x: number }>();
        expectTypeOf(args.either).toEqualTypeOf<string | null | undefined>();
        expectTypeOf(args.fixed).toEqualTypeOf<'a' | undefined>();
        expectTypeOf(args.open).toEqualTypeOf<unknown>();
        // @ts-expect-error a member the schema does not declare
        return args.nothing as unknown;
      },
    });
  });

  it('come from a schema library', () => {
    defineTool({
      ...base,
      inputSchema: z.object({
        n: z.number().default(1),
        text: z.string().transform((text) => text.length),
      }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number; text: number }>(),
    });
  });

  it('are unknown where a schema says more than a type can', () => {
    expectTypeOf<FromSchema<{ readonly $ref: '#/$defs/x' }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromSchema<{ readonly type: readonly ['string', 'null'] }>>().toEqualTypeOf<
      string | null
    >();
    expectTypeOf<FromSchema<{ readonly type: 'object' }>>().toEqualTypeOf<
      Readonly<Record<string, unknown>>
    >();
  });
});
