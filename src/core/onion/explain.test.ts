import { describe, expect, it } from 'vitest';
import { captainLayers } from '../../../conformance/captain.fixture.ts';
import { composeToolCallers } from './compose.ts';
import { explainStack } from './explain.ts';
import type { ToolLayer } from '../contract/layer.ts';

describe('explainStack', () => {
  it('draws the captain stack in columns, one line for each layer', () => {
    expect(explainStack(captainLayers()).split('\n')).toEqual([
      'call ↓  result ↑',
      '   1  auditLog         observes',
      '   2  telemetry        observes',
      '   3  summary          observes',
      '   4  consent',
      '   5  requiredReason   rewrites arguments, changes what the model is shown',
      '   6  redaction        rewrites arguments, cleans the record',
      '   7  handoffArtifact',
      '   8  idempotency',
      '   9  rateLimit',
      '  10  dryRun',
      '  11  timeout',
      '      executor',
      '',
      'The order breaks no rule.',
    ]);
  });

  it('prints broken rules below the drawing instead of throwing', () => {
    const drawn = explainStack(
      captainLayers(['timeout', 'requiredReason', 'summary', 'consent']),
    ).split('\n');

    expect(drawn.slice(7)).toEqual([
      '✗ "timeout" must stand inside "consent": outside it, the time a person takes to decide would count as the tool being slow',
      '! "summary" should stand outside "requiredReason": inside it, the reason replaces the line written for people',
    ]);
  });

  it('draws stacks in a stack and functions as compose takes them', () => {
    const named: ToolLayer = { name: 'named', caller: (call, next) => next(call) };
    const drawn = explainStack([
      named,
      composeToolCallers([named, (call, next) => next(call)]),
      (call, next) => next(call),
    ]);

    expect(drawn.split('\n').slice(1, 6)).toEqual([
      '  1  named',
      '  2  named',
      '  3  caller 2',
      '  4  caller 3',
      '     executor',
    ]);
  });

  it('draws an empty stack', () => {
    expect(explainStack([])).toBe('call ↓  result ↑\n     executor\n\nThe order breaks no rule.');
  });

  it('refuses what is no stack', () => {
    for (const members of [undefined, {}, [null], ['auditLog']]) {
      const odd = members as unknown as ToolLayer[]; // No list of layers: that is the case.

      expect(() => explainStack(odd)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_LAYER' }),
      );
    }
  });
});
