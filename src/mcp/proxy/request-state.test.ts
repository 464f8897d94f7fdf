import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestStates } from './rounds.ts';

const CALL = { name: 'note', arguments: { to: 'a' } };
const FOREVER = 1000;

function statesBench() {
  const givenUp: string[] = [];
  const states = requestStates<string>((held) => void givenUp.push(held));
  return { states, givenUp, state: states.issue(CALL, FOREVER, 'mine') };
}

describe('request states', () => {
  it('give back what was held, whatever else the round carries', () => {
    const { states, state, givenUp } = statesBench();

    expect(
      states.redeem(state, { ...CALL, _meta: { progressToken: 1 }, inputResponses: {} }, 0),
    ).toEqual({ held: 'mine' });
    expect(givenUp).toEqual([]);
  });

  it('are good for one use', () => {
    const { states, state } = statesBench();
    states.redeem(state, CALL, 0);

    expect(states.redeem(state, CALL, 0)).toHaveProperty('problem');
  });

  it.each([
    ['other arguments', { name: 'note', arguments: { to: 'b' } }],
    ['more arguments', { name: 'note', arguments: { to: 'a', cc: 'b' } }],
    ['no arguments', { name: 'note' }],
    ['another tool', { name: 'other', arguments: { to: 'a' } }],
  ])('are spent by a try with %s, and the call is given up', (_what, params) => {
    const { states, state, givenUp } = statesBench();

    expect(states.redeem(state, params, 0)).toHaveProperty('problem');
    expect(states.redeem(state, CALL, 0)).toHaveProperty('problem');
    expect(givenUp).toEqual(['mine']);
  });

  it('end when their time does', () => {
    const { states, state, givenUp } = statesBench();

    expect(states.redeem(state, CALL, FOREVER)).toEqual({ problem: 'the state is too old' });
    expect(givenUp).toEqual(['mine']);
  });

  it('of another process, and things that are none, are refused without an error', () => {
    const { states, givenUp } = statesBench();

    for (const foreign of [
      statesBench().state,
      '',
      'allium1.',
      'allium1..',
      'allium1.e30.x',
      7,
      null,
      undefined,
      {},
      ['allium1.'],
      'x'.repeat(1e6),
    ])
      expect(states.redeem(foreign, CALL, 0)).toEqual({
        problem: 'the state is not one that was given out here',
      });
    expect(givenUp).toEqual([]);
  });

  it('do not outlive a change of a single character', () => {
    const { states, state } = statesBench();

    fc.assert(
      fc.property(
        fc.nat(state.length - 1),
        fc.constantFrom('A', 'z', '0', '-', '.', '\u0000'),
        (at, put) => {
          const changed = state.slice(0, at) + put + state.slice(at + 1);
          fc.pre(changed !== state);
          expect(states.redeem(changed, CALL, 0)).toHaveProperty('problem');
        },
      ),
    );
    expect(states.redeem(state, CALL, 0)).toEqual({ held: 'mine' });
  });

  it('say nothing of the call that they are for', () => {
    const { state } = statesBench();
    const [, body = ''] = state.split('.');

    expect(
      Object.keys(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as object),
    ).toEqual(['nonce', 'expiresAt']);
  });

  it('that are revoked are gone, and nothing is given up for them', () => {
    const { states, state, givenUp } = statesBench();
    states.revoke(state);
    states.revoke('nonsense');

    expect(states.redeem(state, CALL, 0)).toHaveProperty('problem');
    expect(givenUp).toEqual([]);
  });

  it('beyond what one client could have give up the oldest', () => {
    const { states, state, givenUp } = statesBench();
    for (let count = 0; count < 10_000; count += 1) states.issue(CALL, FOREVER, String(count));

    expect(givenUp).toEqual(['mine']);
    expect(states.redeem(state, CALL, 0)).toHaveProperty('problem');
  });
});
