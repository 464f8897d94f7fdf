import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strictCheck, undescribed } from '../core/wire/schema-check.fixture.ts';
import { canonicalJson, fromWire, type JsonObject, type JsonValue, toWire } from '../index.ts';
import { validateJson } from '../tools/schema/validator.ts';
import {
  full,
  least,
  read,
  taken,
  valid,
} from '../../middleware/handoff-artifact/handoff.fixture.ts';
import { HANDOFF_SCHEMA } from './handoff-schema.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const wireProblems = (record: object) =>
  validateJson(HANDOFF_SCHEMA, toWire({ handoff: record }).handoff as JsonValue);

describe('HANDOFF_SCHEMA', () => {
  it('compiles where a validator is strict, and describes every property', () => {
    const problems = strictCheck(HANDOFF_SCHEMA);

    expect(undescribed(HANDOFF_SCHEMA)).toEqual([]);
    expect(problems(toWire({ handoff: valid(read(full)).record }).handoff)).toEqual([]);
    expect(
      problems({
        ...(toWire({ handoff: taken({}).record }).handoff as JsonObject),
        created_at: 'now',
      }),
    ).not.toEqual([]);
  });

  it('takes records as they are on the wire', () => {
    expect(wireProblems(valid(read(full)).record)).toEqual([]);
    expect(wireProblems(taken({}).record)).toEqual([]);
  });

  it('refuses a record in which anything required is missing, or anything is added', () => {
    const wire = toWire({ handoff: taken({}).record }).handoff as JsonObject;

    for (const name of Object.keys(wire)) {
      const { [name]: _, ...rest } = wire;
      expect(validateJson(HANDOFF_SCHEMA, rest), name).not.toEqual([]);
    }
    expect(validateJson(HANDOFF_SCHEMA, { ...wire, approval: {} })).not.toEqual([]);
    expect(
      validateJson(HANDOFF_SCHEMA, { ...wire, target_persona_or_human: { kind: 'human' } }),
    ).not.toEqual([]);
  });

  it('describes every field a record can have', () => {
    const described = Object.keys(HANDOFF_SCHEMA.properties as JsonObject).sort();

    expect(
      Object.keys(toWire({ handoff: valid(read(full)).record }).handoff as JsonObject).sort(),
    ).toEqual(described);
  });

  it('fits whatever is made of a payload, and each can be hashed', () => {
    const names = fc.constantFrom(
      ...Object.keys(fromWire({ handoff: full }).handoff as JsonObject),
      '__proto__',
      'toString',
    );
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
      fc.string({ unit: 'binary', minLength: 1 }),
    );
    let seen = 0;
    fc.assert(
      fc.property(fc.dictionary(names, value, { maxKeys: 12 }), (payload) => {
        const reading = read({ ...least, ...payload });
        if ('invalid' in reading) return;
        seen += 1;
        expect(() => canonicalJson(toWire({ handoff: reading.record }))).not.toThrow();
        expect(wireProblems(reading.record)).toEqual([]);
      }),
      { numRuns: howMany(100, 300) },
    );

    // About half of them are records. Much fewer would try nothing.
    expect(seen).toBeGreaterThan(20);
  });
});
