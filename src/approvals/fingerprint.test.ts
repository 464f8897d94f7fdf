import { describe, expect, it } from 'vitest';
import { withCall } from '../core/onion/own-call.ts';
import { makeCall } from '../../conformance/index.ts';
import { definitionHashOf, fingerprintOf, standingKeyOf } from './fingerprint.ts';

const schema = Object.freeze({ type: 'object' });
const call = makeCall({ toolArgs: { to: 'bob', amount: 5 }, schema });

const OTHERS = [
  ['tool', makeCall({ toolArgs: { to: 'bob', amount: 5 }, schema, toolName: 'other' })],
  ['argument', withCall(call, { toolArgs: { to: 'bob', amount: 6 } })],
  ['argument more', withCall(call, { toolArgs: { to: 'bob', amount: 5, force: true } })],
  [
    'session',
    makeCall({ toolArgs: { to: 'bob', amount: 5 }, schema, turn: { sessionId: 'session-2' } }),
  ],
  [
    'schema',
    makeCall({
      toolArgs: { to: 'bob', amount: 5 },
      schema: Object.freeze({ type: 'object', title: 'other' }),
    }),
  ],
  ['description', makeCall({ toolArgs: { to: 'bob', amount: 5 }, schema, description: 'other' })],
  [
    'annotation',
    makeCall({ toolArgs: { to: 'bob', amount: 5 }, schema, annotations: { readOnly: true } }),
  ],
] as const;

describe('fingerprintOf', () => {
  it('is the same for the same call, whatever the order of its arguments', () => {
    expect(fingerprintOf(call)).toBe(
      fingerprintOf(makeCall({ toolArgs: { amount: 5, to: 'bob' }, schema })),
    );
    expect(fingerprintOf(call)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it.each([
    ...OTHERS,
    ['call', makeCall({ toolArgs: { to: 'bob', amount: 5 }, schema, callId: 'call-2' })] as const,
  ])('is another one for another %s', (_what, other) => {
    expect(fingerprintOf(other)).not.toBe(fingerprintOf(call));
  });

  it('is not there for text that is not well-formed', () => {
    expect(() => fingerprintOf(makeCall({ toolArgs: { to: '\ud800' } }))).toThrow(
      expect.objectContaining({ code: 'ERR_NOT_JSON' }) as Error,
    );
  });
});

describe('standingKeyOf', () => {
  it('is the same for another call with the same arguments', () => {
    expect(
      standingKeyOf(makeCall({ toolArgs: { to: 'bob', amount: 5 }, schema, callId: 'call-2' })),
    ).toBe(standingKeyOf(call));
  });

  it.each(OTHERS)('is another one for another %s', (_what, other) => {
    expect(standingKeyOf(other)).not.toBe(standingKeyOf(call));
  });
});

describe('definitionHashOf', () => {
  it('notices a change of a definition that is not frozen', () => {
    const open: { type: string; title?: string } = { type: 'object' };
    const about = makeCall({ schema: open });
    const before = definitionHashOf(about);
    open.title = 'other';

    expect(definitionHashOf(about)).not.toBe(before);
  });
});
