import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { causeOf, fail, refuse } from '../onion/results.ts';
import { hostileThrowables } from '../../../conformance/hostile-values.ts';
import { makeCall } from '../../../conformance/test-kit.ts';
import { AlliumError, describeThrown, ERROR_CODES, isAlliumError, oneLine } from './errors.ts';

const httpError = (): Error =>
  Object.assign(new Error('request failed', { cause: new Error('token-in-cause') }), {
    config: { headers: { authorization: 'Bearer token-in-config' } },
    response: { data: 'token-in-response' },
  });

describe('AlliumError', () => {
  it('is an error with a code, a message and allowed details', () => {
    const error = new AlliumError('ERR_INVALID_OPTION', 'wrong', {
      layer: 'timeout',
      option: 'maxMs',
    });

    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'AlliumError',
      code: 'ERR_INVALID_OPTION',
      message: 'wrong',
    });
    expect(Object.isFrozen(error.details)).toBe(true);
  });

  it('writes neither its cause nor its result into JSON', () => {
    const result = refuse(
      makeCall({ toolArgs: { password: 'token-in-args' } }),
      'policy_blocked',
      'No.',
    );
    const error = new AlliumError(
      'ERR_CALL_REFUSED',
      'refused',
      { status: 'policy_blocked' },
      { cause: httpError(), result },
    );

    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'AlliumError',
      code: 'ERR_CALL_REFUSED',
      message: 'refused',
      status: 'policy_blocked',
    });
    expect(Object.keys(error)).not.toContain('result');
    expect(error.result).toBe(result);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it('explains every code in a sentence', () => {
    for (const [code, meaning] of Object.entries(ERROR_CODES)) {
      expect(code).toMatch(/^ERR_[A-Z_]+$/);
      expect(meaning).toMatch(/^\w.*\.$/);
    }
  });
});

describe('isAlliumError', () => {
  it('knows its own, by code if asked', () => {
    const error = new AlliumError('ERR_CLOSED', 'closed');

    expect(isAlliumError(error)).toBe(true);
    expect([isAlliumError(error, 'ERR_CLOSED'), isAlliumError(error, 'ERR_NOT_JSON')]).toEqual([
      true,
      false,
    ]);
  });

  it('knows those of another copy of the package', async () => {
    const path = './errors.ts?another-copy';
    const other = (await import(path)) as { readonly AlliumError: typeof AlliumError };
    const error = new other.AlliumError('ERR_CLOSED', 'closed');

    expect(error).not.toBeInstanceOf(AlliumError);
    expect([isAlliumError(error, 'ERR_CLOSED'), isAlliumError(error, 'ERR_NOT_JSON')]).toEqual([
      true,
      false,
    ]);
  });

  it('says no to a mark without an error', () => {
    expect(isAlliumError({ [Symbol.for('allium.error')]: true, code: 'ERR_CLOSED' })).toBe(false);
  });

  it.each(hostileThrowables)('says no to %s', (_, make) => {
    expect(isAlliumError(make())).toBe(false);
  });
});

describe('describeThrown', () => {
  it.each(hostileThrowables)('makes one short line of %s', (_, make) => {
    const line = describeThrown(make());

    expect(line).not.toBe('');
    expect(line.length).toBeLessThanOrEqual(501);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
    expect(line.isWellFormed()).toBe(true);
    expect(line).not.toContain('secret-token');
  });

  it('reads the message and nothing else', () => {
    expect(describeThrown(httpError())).toBe('request failed');
    expect(describeThrown({ code: 'ECONNRESET' })).toBe('threw an object without a message');
    expect([describeThrown(null), describeThrown(7), describeThrown('')]).toEqual([
      'threw null',
      'threw number',
      'threw an empty string',
    ]);
  });
});

describe('a failed result', () => {
  it('keeps its cause for the host and shows it nowhere', () => {
    const cause = httpError();
    const result = fail(makeCall(), 'executor_error', cause);

    expect(causeOf(result)).toBe(cause);
    expect(JSON.stringify(result)).not.toMatch(/token-in/);
    expect(inspect(result, { depth: 10 })).not.toMatch(/token-in/);
    expect(inspect(result, { depth: 10, showHidden: true })).not.toMatch(/token-in/);
  });
});

describe('oneLine', () => {
  it('takes out what could forge a line or hide text', () => {
    expect(oneLine('a\r\nb\u2028c\u202Ed\u0000e')).toBe('a b c d e');
    expect(oneLine('  plain.text-1 ')).toBe('plain.text-1');
    expect(oneLine('half \ud800')).toBe('half \ufffd');
  });

  it('cuts a long text', () => {
    expect(oneLine('x'.repeat(10_000))).toBe(`${'x'.repeat(500)}…`);
  });
});
