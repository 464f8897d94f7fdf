import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { snapshotObject } from '../../core/json/json.ts';
import { hideParameters } from './hide-parameters.ts';

const hide = (schema: object, ...names: string[]) =>
  hideParameters(snapshotObject(schema), new Set(names));

describe('hideParameters', () => {
  it('takes a parameter out of properties and required', () => {
    expect(
      hide({ type: 'object', properties: { a: {}, key: {} }, required: ['a', 'key'] }, 'key'),
    ).toEqual({
      type: 'object',
      properties: { a: {} },
      required: ['a'],
    });
  });

  it('gives back the very schema where nothing is hidden', () => {
    const schema = snapshotObject({ type: 'object' });

    expect(hideParameters(schema, new Set())).toBe(schema);
  });

  it('reaches through a root reference without touching what others use', () => {
    const schema = {
      $ref: '#/$defs/args',
      $defs: {
        args: {
          type: 'object',
          properties: { key: {}, child: { $ref: '#/$defs/args' } },
          required: ['key'],
        },
      },
    };

    const hidden = hide(schema, 'key');

    expect(hidden).toMatchObject({
      type: 'object',
      properties: { child: { $ref: '#/$defs/args' } },
      required: [],
    });
    expect(hidden.properties).not.toHaveProperty('key');
    expect(hidden).toHaveProperty('$defs.args.properties.key');
  });

  it('reaches into branches, examples and defaults', () => {
    const schema = {
      allOf: [{ properties: { key: {} }, required: ['key'] }, { $ref: '#/definitions/more' }],
      definitions: { more: { properties: { key: {} } } },
      examples: [{ key: 1, a: 2 }],
      default: { key: 1 },
    };

    expect(JSON.stringify(hide(schema, 'key'))).not.toContain('key');
  });

  it('forgets definitions that only the hidden parameter used', () => {
    const hidden = hide(
      {
        properties: { key: { $ref: '#/$defs/secretShape' }, a: { $ref: '#/$defs/kept' } },
        $defs: { secretShape: { $ref: '#/$defs/deeper' }, deeper: {}, kept: {} },
      },
      'key',
    );

    expect(hidden.$defs).toEqual({ kept: {} });
  });

  it('ends for schemas that refer to themselves', () => {
    expect(hide({ $ref: '#', properties: { key: {} } }, 'key')).toEqual({
      $ref: '#',
      properties: {},
    });
    expect(
      hide(
        { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a', properties: { key: {} } } } },
        'key',
      ),
    ).toHaveProperty('properties', {});
  });

  it('leaves no hidden name at the root of any object schema', () => {
    const name = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { minLength: 1, maxLength: 6 }),
        fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
        (names, hiddenNames) => {
          const all = [...new Set([...names, ...hiddenNames])];
          const hidden = hide(
            {
              type: 'object',
              properties: Object.fromEntries(all.map((key) => [key, { type: 'string' }])),
              required: all,
            },
            ...hiddenNames,
          );

          expect(
            Object.keys(hidden.properties ?? {}).filter((key) => hiddenNames.includes(key)),
          ).toEqual([]);
          expect((hidden.required as string[]).filter((key) => hiddenNames.includes(key))).toEqual(
            [],
          );
        },
      ),
    );
  });
});
