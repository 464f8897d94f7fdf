import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../core/json/json-value.ts';
import type { ArgConstraint } from './arg-constraint.ts';
import { failingArgument } from './arg-constraints.ts';
import { allows, checkPolicy, intersectPolicies } from './capability-policy.ts';

const passes = (
  argument: string,
  constraint: ArgConstraint | readonly ArgConstraint[],
  args: JsonObject,
) => allows({ argConstraints: { tool: { [argument]: constraint } } }, { toolName: 'tool', args });

describe('argConstraints', () => {
  it('leave other tools and other arguments alone', () => {
    const policy = { argConstraints: { tool: { branch: { oneOf: ['main'] } } } };

    expect(allows(policy, { toolName: 'tool', args: { branch: 'main', force: true } })).toBe(true);
    expect(
      ['other', 'constructor', '__proto__'].map((toolName) =>
        allows(policy, { toolName, args: {} }),
      ),
    ).toEqual([true, true, true]);
    expect(allows(policy, { toolName: 'tool' })).toBe(true);
  });

  it.each<[string, ArgConstraint, JsonObject, boolean]>([
    ['oneOf takes a value of the list', { oneOf: ['a', 1, null, false] }, { x: null }, true],
    ['oneOf takes no other', { oneOf: ['a', 1] }, { x: '1' }, false],
    ['oneOf takes no list that holds one', { oneOf: ['a'] }, { x: ['a'] }, false],
    ['oneOf empty takes nothing', { oneOf: [] }, { x: 'a' }, false],
    ['prefix takes a text that begins so', { prefix: 'fix/' }, { x: 'fix/1' }, true],
    ['prefix takes no other', { prefix: 'fix/' }, { x: ' fix/1' }, false],
    ['prefix takes no list', { prefix: 'fix/' }, { x: ['fix/1'] }, false],
    ['within takes a path inside', { within: ['/srv'] }, { x: '/srv/./a' }, true],
    [
      'within takes no way out, which a prefix would',
      { within: ['/srv'] },
      { x: '/srv/../etc/passwd' },
      false,
    ],
    ['within takes no relative path', { within: ['/'] }, { x: 'etc/passwd' }, false],
    ['minimum and maximum take what is between', { minimum: 1, maximum: 2 }, { x: 2 }, true],
    ['minimum takes nothing lower', { minimum: 1 }, { x: 0 }, false],
    ['maximum takes nothing higher', { maximum: 2 }, { x: 2.1 }, false],
    ['maximum takes no text', { maximum: 2 }, { x: '1' }, false],
    ['maxLength counts characters', { maxLength: 2 }, { x: '😀😀' }, true],
    ['maxLength takes no longer text', { maxLength: 2 }, { x: '😀😀😀' }, false],
    ['maxLength takes no list', { maxLength: 2 }, { x: [] }, false],
    ['a missing argument fails', { maximum: 2 }, {}, false],
    ['absent allowed takes a missing argument', { maximum: 2, absent: 'allowed' }, {}, true],
    ['absent allowed takes no other value', { maximum: 2, absent: 'allowed' }, { x: 3 }, false],
    ['absent required takes a missing argument', { absent: 'required' }, {}, true],
    ['absent required takes no value', { absent: 'required' }, { x: null }, false],
    ['what nobody knows takes nothing', { pattern: '.*' } as ArgConstraint, { x: 'a' }, false],
    ['what demands nothing takes nothing', {}, { x: 'a' }, false],
  ])('%s', (_name, constraint, args, answer) => {
    expect(passes('x', constraint, args)).toBe(answer);
  });

  it.each<[string, JsonObject, boolean]>([
    ['/a/b', { a: { b: 'yes' } }, true],
    ['/a/b', { a: { b: 'no' } }, false],
    ['/a/b', { a: 'yes' }, false],
    ['/a/1', { a: ['no', 'yes'] }, true],
    ['/a/01', { a: ['no', 'yes'] }, false],
    ['/a/length', { a: [] }, false],
    ['/a~1b', { 'a/b': 'yes' }, true],
    ['a/b', { 'a/b': 'yes' }, true],
    ['/m~0n', { 'm~n': 'yes' }, true],
    ['constructor', {}, false],
    ['__proto__', {}, false],
    ['__proto__', JSON.parse('{"__proto__": "yes"}') as JsonObject, true],
  ])('find %s in %j: %s', (argument, args, answer) => {
    expect(passes(argument, { oneOf: ['yes'] }, args)).toBe(answer);
  });

  it('all have to hold, however they were combined and spelt', () => {
    const a = { argConstraints: { tool: { n: [{ minimum: 1 }, { maximum: 9 }] } } };
    const b = { argConstraints: { tool: { '/n': { maximum: 5 } }, other: {} } };
    const met = intersectPolicies(a, b);

    expect(met).toEqual({
      argConstraints: { tool: { n: [{ maximum: 5 }, { maximum: 9 }, { minimum: 1 }] } },
    });
    expect(JSON.stringify(intersectPolicies(b, a))).toBe(JSON.stringify(met));
    expect([0, 1, 5, 6].map((n) => allows(met, { toolName: 'tool', args: { n } }))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('share nothing with what they were made from', () => {
    const oneOf = ['a'];
    const met = intersectPolicies({ argConstraints: { tool: { x: { oneOf } } } }, {});
    oneOf.push('b');

    expect(allows(met, { toolName: 'tool', args: { x: 'b' } })).toBe(false);
  });

  it('say which argument failed and what would pass, never what it was', () => {
    const said = (x: ArgConstraint) =>
      failingArgument({ tool: { x } }, 'tool', { x: 'hunter2\nSYSTEM' });

    expect(said({ oneOf: ['a', 1] })).toBe('its argument "x" must be one of "a", 1');
    expect(said({ within: ['/srv'], absent: 'allowed' })).toBe(
      'its argument "x" must be an absolute path in /srv, or be left out',
    );
    expect(said({ minimum: 1, maximum: 2 })).toBe(
      'its argument "x" must be at least 1, and at most 2',
    );
    expect(said({ prefix: 'fix/', maxLength: 3 })).toBe(
      'its argument "x" must be a text that begins with "fix/", and a text of at most 3 characters',
    );
    expect(said({ absent: 'required' })).toBe('its argument "x" must be left out');
    expect(said({ oneOf: Array.from({ length: 12 }, (_, index) => index) })).toContain(
      'and 2 more',
    );
  });

  it('take nothing where an entry cannot be read', () => {
    for (const entry of [
      5,
      'x',
      null,
      [],
      { '': { maximum: 1 } },
      { '/a~2': { maximum: 1 } },
      { x: [] },
    ]) {
      const policy = { argConstraints: { tool: entry } } as never;
      expect(allows(policy, { toolName: 'tool', args: { x: 1, '': 1 } })).toBe(false);
      expect(
        allows(intersectPolicies(policy, {}), { toolName: 'tool', args: { x: 1, '': 1 } }),
      ).toBe(false);
      expect(() => checkPolicy('owner', policy)).toThrow('argConstraints');
    }
  });

  it.each<[unknown]>([
    [{}],
    [{ absent: 'allowed' }],
    [{ absent: 'required', oneOf: ['a'] }],
    [{ absent: true }],
    [{ equals: 'a' }],
    [{ oneOf: 'a' }],
    [{ oneOf: [{}] }],
    [{ prefix: '' }],
    [{ within: ['srv'] }],
    [{ minimum: Number.NaN }],
    [{ maxLength: -1 }],
  ])('are not built with %j', (constraint) => {
    expect(() => checkPolicy('owner', { argConstraints: { tool: { x: constraint } } })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
