import { describe, expect, expectTypeOf, it } from 'vitest';
import { annotate, causeOf, fail, isRendered, ok, raise, refuse, withResult } from './results.ts';
import { isResult } from './make-result.ts';
import { withCall } from './own-call.ts';
import { makeCall } from '../../../conformance/test-kit.ts';
import type { ToolResult } from '../contract/result.ts';

const SECRET = 'hunter2';
/** Every text of a result that a model or a log may get to see. */
const surfacesOf = ({ content, renderedResult, observation, error, result }: ToolResult): string =>
  JSON.stringify({ content, renderedResult, observation, error, result });

describe('ok', () => {
  it('answers for its call', () => {
    const result = ok(makeCall({ toolName: 'add', toolArgs: { a: 1 }, callId: 'c-7' }), { sum: 3 });

    expect(result).toMatchObject({
      ok: true,
      status: 'ok',
      toolName: 'add',
      toolCallId: 'c-7',
      arguments: { a: 1 },
      result: { sum: 3 },
    });
    expect(result).toMatchObject({
      error: null,
      errorCategory: null,
      errorClass: null,
      executed: 'no',
      executor: 'local',
      approval: null,
    });
    expect(result.observation).toBe('[result of add]\n{"sum":3}\n[end of add result]\n');
    expect(result.content).toEqual([{ type: 'text', text: '{"sum":3}' }]);
  });

  it('renders text as it is, and blocks before values', () => {
    const content = [
      { type: 'text', text: 'one' } as const,
      { type: 'image', data: 'aaaa', mimeType: 'image/png' } as const,
    ];

    expect(ok(makeCall(), 'plain').renderedResult).toBe('plain');
    expect(ok(makeCall(), { n: 1 }, { content }).renderedResult).toBe('one\n[image: image/png]');
    expect(ok(makeCall(), { n: 1 }, { content }).content).toEqual(content);
  });

  it('takes a copy that nobody can change', () => {
    const value = { list: [1] };
    const result = ok(makeCall(), value);
    value.list.push(2);

    expect(result.result).toEqual({ list: [1] });
  });

  it('refuses what JSON cannot say', () => {
    for (const value of [1n, Number.NaN, () => 1, new Map()]) {
      expect(() => ok(makeCall(), value)).toThrow(
        expect.objectContaining({ code: 'ERR_NOT_JSON' }),
      );
    }
  });
});

describe('refuse', () => {
  it('carries its code in both places and a sentence for the model', () => {
    const result = refuse(makeCall(), 'rate_limited', 'Wait a moment.', { retryAfterMs: 500 });

    expect(result).toMatchObject({
      ok: false,
      status: 'rate_limited',
      errorCategory: 'rate_limited',
      errorClass: 'retryable',
    });
    expect(result).toMatchObject({
      error: 'Wait a moment.',
      renderedResult: 'Wait a moment.',
      metadata: { retryAfterMs: 500 },
    });
    expect(result.observation).toBe('[blocked: echo — rate_limited]');
  });

  it('keeps names and statuses on one line', () => {
    const result = refuse(makeCall({ toolName: 'a\nb' }), 'x\n[result of a]', 'No.');

    expect(result.observation).toBe('[blocked: a b — x?result of a?]');
  });

  it('freezes the interruption it was given', () => {
    const interruption = {
      kind: 'approval_required' as const,
      id: 'i',
      fingerprint: 'f',
      shown: { path: '/tmp' },
      options: ['allow_once'],
    };
    const result = refuse(makeCall(), 'approval_required', 'Ask.', { interruption });
    interruption.shown.path = '/etc';

    expect(result.interruption?.shown).toEqual({ path: '/tmp' });
  });
});

describe('fail', () => {
  it('describes the cause where no message is given', () => {
    const result = fail(makeCall(), 'executor_error', new Error('disk full'), undefined, {
      category: 'io',
      errorClass: 'fatal',
    });

    expect(result).toMatchObject({ error: 'disk full', errorCategory: 'io', errorClass: 'fatal' });
    expect(result.observation).toBe('[error from echo]\ndisk full\n[end of echo error]\n');
  });
});

describe('withResult', () => {
  it('re-renders every text surface from a new value', () => {
    const masked = withResult(ok(makeCall(), `pw ${SECRET}`), { result: 'pw ***' });

    expect(surfacesOf(masked)).not.toContain(SECRET);
    expect(masked.content).toEqual([{ type: 'text', text: 'pw ***' }]);
    expect(masked.observation).toBe('[result of echo]\npw ***\n[end of echo result]\n');
  });

  it('re-renders every text surface from a new error', () => {
    const masked = withResult(
      fail(makeCall(), 'executor_error', new Error(`bad ${SECRET}`), undefined, {
        category: 'exception',
      }),
      {
        error: 'bad ***',
      },
    );

    expect(surfacesOf(masked)).not.toContain(SECRET);
    expect(masked).toMatchObject({ error: 'bad ***', renderedResult: 'bad ***' });
  });

  it('puts a new text into derived content, and leaves blocks that were given', () => {
    const content = [{ type: 'image', data: 'aaaa', mimeType: 'image/png' } as const];

    expect(withResult(ok(makeCall(), 'long'), { renderedResult: 'cut' }).content).toEqual([
      { type: 'text', text: 'cut' },
    ]);
    expect(withResult(ok(makeCall(), 1, { content }), { renderedResult: 'cut' }).content).toEqual(
      content,
    );
  });

  it('does not bring back a text that somebody replaced', () => {
    const cut = withResult(ok(makeCall(), `pw ${SECRET}`), { renderedResult: 'cut' });
    const later = withResult(cut, { metadata: { seen: true } });

    expect(later).toMatchObject({ renderedResult: 'cut', metadata: { seen: true } });
    expect(later.observation).not.toContain(SECRET);
    expect(later.content).toEqual([{ type: 'text', text: 'cut' }]);
  });

  it('brings the codes of a new status along, unless others are given', () => {
    const result = ok(makeCall(), SECRET);
    const withheld = withResult(result, {
      ok: false,
      status: 'redacted',
      error: 'Withheld.',
      result: null,
    });

    expect(withheld).toMatchObject({
      errorCategory: 'redacted',
      errorClass: 'fatal',
      renderedResult: 'Withheld.',
      result: null,
    });
    expect(surfacesOf(withheld)).not.toContain(SECRET);
    expect(withResult(result, { ok: false, status: 'redacted' }).error).toBe(
      'The tool ran, but its result was withheld.',
    );
    expect(withResult(withheld, { errorCategory: 'pii' })).toMatchObject({
      status: 'redacted',
      errorCategory: 'pii',
    });
    expect(withResult(withheld, { ok: true, status: 'ok', result: 1 })).toMatchObject({
      error: null,
      errorCategory: null,
      renderedResult: '1',
    });
  });

  it('changes neither which call is answered nor what has run', () => {
    const forged = {
      toolCallId: 'other',
      toolName: 'other',
      executed: 'yes',
      executionDurationMs: 9,
    };
    const result = withResult(ok(makeCall()), forged as object);

    expect(result).toMatchObject({
      toolCallId: 'call-1',
      toolName: 'echo',
      executed: 'no',
      executionDurationMs: 0,
    });
  });

  it('keeps what it is not told to change', () => {
    const failed = raise(fail(makeCall(), 'executor_error', new Error('x')));

    expect(causeOf(withResult(failed, { metadata: { a: 1 } }))).toEqual(new Error('x'));
    expect(withResult(failed, {})).toEqual(failed);
  });
});

describe('annotate outside an onion', () => {
  it('returns a new result with a record of its own', () => {
    const result = ok(makeCall({ annotations: { kind: 'read', readOnly: true } }), 1);
    const once = annotate(result, {
      summary: 'one',
      layers: [{ name: 'a', status: 'ok', startedAt: '', endedAt: '' }],
    });
    const twice = annotate(once, {
      summary: 'two',
      layers: [{ name: 'b', status: 'ok', startedAt: '', endedAt: '' }],
    });

    expect(result.audit).toBeUndefined();
    expect(once.audit).toMatchObject({ summary: 'one', kind: 'read', hints: { readOnly: true } });
    expect(twice.audit).toMatchObject({
      summary: 'two',
      kind: 'read',
      layers: [{ name: 'a' }, { name: 'b' }],
    });
    expect(Object.isFrozen(twice.audit)).toBe(true);
  });
});

describe('a result', () => {
  it('is one only as it was built', () => {
    const result = ok(makeCall(), 1);

    expect(isResult(result)).toBe(true);
    expect(
      [{ ...result }, Object.create(result) as unknown, new Proxy(result, {}), null, 'ok'].some(
        isResult,
      ),
    ).toBe(false);
  });

  it('built for a copy of a call answers for the call', () => {
    const call = makeCall({ toolArgs: { a: 1 } });
    const result = ok({ ...call, callId: 'forged', toolArgs: { a: 2 } }, 1);
    const viaWithCall = ok(withCall({ ...call, callId: 'forged' }, { toolName: 'other' }), 1);

    expect(result).toMatchObject({ toolCallId: 'call-1', arguments: { a: 2 } });
    expect(Object.isFrozen(result.arguments)).toBe(true);
    expect(viaWithCall).toMatchObject({ toolCallId: 'call-1', toolName: 'other' });
  });

  it('cannot be written down as a literal', () => {
    type Literal = Pick<ToolResult, Extract<keyof ToolResult, string>>;
    const literal: Literal = { ...ok(makeCall(), 1) };
    // @ts-expect-error a literal has no brand
    const result: ToolResult = literal;

    expectTypeOf<Literal>().not.toExtend<ToolResult>();
    expectTypeOf(ok(makeCall())).toEqualTypeOf<ToolResult>();
    expect(isResult(result)).toBe(false);
  });
});

describe('isRendered', () => {
  it('is true for a text that only writes out the value or the error, also after other changes', () => {
    const call = makeCall();

    expect(isRendered(ok(call, { a: 1 }))).toBe(true);
    expect(isRendered(refuse(call, 'policy_blocked', 'No.'))).toBe(true);
    expect(isRendered(withResult(ok(call, { a: 1 }), { result: { a: 2 }, approval: null }))).toBe(
      true,
    );
  });

  it('is false for blocks and texts that somebody chose, until the value changes', () => {
    const chosen = withResult(ok(makeCall(), { a: 1 }), { renderedResult: 'short' });

    expect(
      isRendered(ok(makeCall(), { a: 1 }, { content: [{ type: 'text', text: '{"a":1}' }] })),
    ).toBe(false);
    expect(isRendered(chosen)).toBe(false);
    expect(isRendered(withResult(chosen, { metadata: { b: 1 } }))).toBe(false);
    expect(isRendered(withResult(chosen, { result: 2 }))).toBe(true);
  });
});
