import { describe, expect, it } from 'vitest';
import {
  CAPTAIN_ORDER,
  type CaptainName,
  captainLayers,
  type CaptainOptions,
} from '../../../../conformance/captain.fixture.ts';
import { composeToolCallers } from '../compose.ts';
import { explainStack } from '../explain.ts';
import { type ToolCaller } from '../../contract/layer.ts';

describe('law 11: order mistakes are caught when composed', () => {
  /** The captain order with one layer taken out and put right before or after another. */
  function moved(
    name: CaptainName,
    side: 'before' | 'after',
    other: CaptainName,
  ): readonly CaptainName[] {
    const rest = CAPTAIN_ORDER.filter((each) => each !== name);
    const at = rest.indexOf(other) + (side === 'before' ? 0 : 1);
    return [...rest.slice(0, at), name, ...rest.slice(at)];
  }

  it('and the captain order composes without a complaint', () => {
    expect(composeToolCallers(captainLayers()).layers.map(({ name }) => name)).toEqual(
      CAPTAIN_ORDER,
    );
    expect(explainStack(captainLayers())).toMatch(/The order breaks no rule\.$/);
  });

  it.each<[string, readonly CaptainName[], CaptainOptions, string]>([
    [
      'timeout outside consent',
      moved('timeout', 'before', 'consent'),
      {},
      'the time a person takes to decide would count as the tool being slow',
    ],
    [
      'audit inside consent',
      moved('auditLog', 'after', 'consent'),
      {},
      'calls that a person or a rule refused would leave no receipt',
    ],
    [
      'captured payloads outside redaction',
      CAPTAIN_ORDER,
      { captureContent: true },
      'captured arguments would leave as the model sent them',
    ],
    [
      'an effect key of masked values',
      CAPTAIN_ORDER,
      { effectKeys: true },
      'an effect key made from masked values would join two effects',
    ],
  ])('and %s throws with the reason', (_, order, options, because) => {
    const compose = () => composeToolCallers(captainLayers(order, options));

    expect(compose).toThrow(expect.objectContaining({ code: 'ERR_LAYER_ORDER' }));
    expect(compose).toThrow(because);
  });

  it.each<[string, readonly CaptainName[], CaptainOptions]>([
    [
      'captured payloads inside redaction',
      moved('telemetry', 'after', 'redaction'),
      { captureContent: true },
    ],
    [
      'an effect key of what the model sent',
      moved('idempotency', 'before', 'redaction'),
      { effectKeys: true },
    ],
    ['a stack without the other layer', ['timeout'], {}],
  ])('and %s is in order', (_, order, options) => {
    expect(() => composeToolCallers(captainLayers(order, options))).not.toThrow();
  });

  it('also in a stack that is put together from stacks', () => {
    const [timeout, consent] = [['timeout'], ['consent']].map((order) =>
      composeToolCallers(captainLayers(order as CaptainName[])),
    );

    expect(() => composeToolCallers([timeout, consent] as ToolCaller[])).toThrow(
      expect.objectContaining({ code: 'ERR_LAYER_ORDER' }),
    );
    expect(() => composeToolCallers([consent, timeout] as ToolCaller[])).not.toThrow();
  });

  it('while a violated should is advice only', () => {
    const stack = captainLayers(moved('rateLimit', 'before', 'idempotency'));

    expect(() => composeToolCallers(stack)).not.toThrow();
    expect(explainStack(stack)).toContain(
      '! "rateLimit" should stand inside "idempotency": outside it, an answer that is given again would use up the limit',
    );
  });
});
