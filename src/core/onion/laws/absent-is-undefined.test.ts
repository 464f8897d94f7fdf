import { describe, expect, it } from 'vitest';
import { ok, refuse, withResult } from '../results.ts';
import { makeCall } from '../../../../conformance/test-kit.ts';
import { matchesTool } from '../../contract/layer.ts';
import { checkOptions, expected } from '../../contract/options.ts';

describe('law 9: absent is undefined', () => {
  it.each([0, '', false, [], {}, null])('and %j is a value of a result', async (value) => {
    const call = makeCall();

    expect(ok(call, value).result).toEqual(value);
    expect(withResult(ok(call, 'before'), { result: value }).result).toEqual(value);
    expect(ok(call).result).toBeNull();
  });

  it('and an empty text replaces a text', () => {
    expect(withResult(ok(makeCall(), 'before'), { renderedResult: '' }).renderedResult).toBe('');
    expect(withResult(refuse(makeCall(), 'policy_blocked', 'No.'), { error: '' }).error).toBe('');
  });

  it('and an empty list of tools means none', () => {
    expect(matchesTool([], 'echo')).toBe(false);
    expect(() =>
      checkOptions('scope', { allowed: [] }, { allowed: expected.listOf(expected.string) }),
    ).not.toThrow();
  });

  it('and zero and false are options somebody gave', () => {
    const expectations = {
      graceMs: expected.required(expected.integer(0)),
      strip: expected.required(expected.boolean),
    };

    expect(() => checkOptions('timeout', { graceMs: 0, strip: false }, expectations)).not.toThrow();
    expect(() =>
      checkOptions('timeout', { graceMs: undefined, strip: false }, expectations),
    ).toThrow(/graceMs/);
  });
});
