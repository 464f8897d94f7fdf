import { describe, expect, it } from 'vitest';
import { stateOf } from './own-call.ts';
import { makeCall } from '../../../conformance/test-kit.ts';
import { traceWith } from './account.ts';

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

describe('traceWith', () => {
  it('keeps the span of the pass, the last one that is given', () => {
    const call = makeCall();
    traceWith(call, PARENT.replace('01', '00'));
    traceWith(call, PARENT);

    expect(stateOf(call).trace).toBe(PARENT);
  });

  it.each(['', 'x', `${PARENT}-more`, PARENT.toUpperCase(), `${PARENT}\n`, 'x'.repeat(1_000_000)])(
    'ignores what is no traceparent (%#)',
    (text) => {
      const call = makeCall();
      traceWith(call, text);

      expect(stateOf(call).trace).toBeNull();
    },
  );
});
