import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, testClock } from '../../../../conformance/test-kit.ts';
import { type ComposeOptions, composeToolCallers } from '../compose.ts';
import { defineLayer, type ToolLayer } from '../../contract/layer.ts';
import { checkOptions, expected } from '../../contract/options.ts';
import { layer } from './layers.fixture.ts';

describe('law 10: options are checked when a layer is made', () => {
  /** A layer as the bundled ones are made. */
  function rateLimit(options: unknown): ToolLayer {
    checkOptions('rateLimit', options, {
      maxCalls: expected.required(expected.integer(1)),
      per: expected.oneOf('tool', 'session'),
    });
    return defineLayer(layer('rateLimit'));
  }

  it.each([
    ['a missing one', {}, { option: 'maxCalls', got: 'nothing' }],
    ['a misspelt one', { maxCall: 1 }, { option: 'maxCall', expected: 'maxCalls | per' }],
    [
      'a mistyped one',
      { maxCalls: '3' },
      { option: 'maxCalls', expected: 'a whole number of at least 1', got: 'a string' },
    ],
    ['one out of range', { maxCalls: 0 }, { option: 'maxCalls', got: '0' }],
    [
      'an unknown word',
      { maxCalls: 1, per: 'hour' },
      { option: 'per', expected: 'one of "tool", "session"' },
    ],
    ['no object at all', 3, { option: 'options', expected: 'an object' }],
  ])('and %s throws with layer, option, expected and got', (_, options, details) => {
    expect(() => rateLimit(options)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        details: expect.objectContaining({ layer: 'rateLimit', ...details }) as unknown,
      }),
    );
  });

  it.each([
    ['a clock that is none', { clock: 5 }],
    ['ids that nobody makes', { createId: 'id' }],
    ['a misspelt option', { clok: testClock() }],
    ['null', null],
  ])('and compose refuses %s', (_, options) => {
    const compose = () => composeToolCallers([], options as unknown as ComposeOptions); // Wrong on purpose.

    expect(compose).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it('and by the first call nothing can be misconfigured', async () => {
    const result = await composeToolCallers([rateLimit({ maxCalls: 1 })])(
      makeCall(),
      echoExecutor(),
    );

    expect(result.ok).toBe(true);
  });
});
