import { describe, expect, it } from 'vitest';
import { CAPTAIN_ORDER, captainStandIns } from '../../conformance/captain-stand-ins.ts';
import { composeToolCallers } from './compose.ts';
import { explainStack } from './explain.ts';
import type { ToolLayer } from './layer.ts';

describe('explainStack', () => {
  it('draws the captain stack in columns, one line for each layer', () => {
    expect(explainStack(captainStandIns()).split('\n')).toEqual([
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
    const drawn = explainStack(captainStandIns([...CAPTAIN_ORDER].reverse())).split('\n');

    expect(drawn.slice(14)).toEqual([
      '✗ "timeout" must stand inside "consent": timeout outside consent would count the human\'s time',
      '! "dryRun" should stand inside "consent": a preview would be shown before anybody was asked',
      '! "rateLimit" should stand inside "idempotency": an answer from the cache would use up the limit',
      '! "summary" should stand inside "auditLog": the receipt would lack the summary',
      '✗ "auditLog" must stand outside "consent": audit inside consent would miss refusals',
    ]);
  });

  it('draws stacks in a stack and functions as compose takes them', () => {
    const named: ToolLayer = { name: 'named', caller: (call, next) => next(call) };
    const drawn = explainStack([named, composeToolCallers([named, (call, next) => next(call)]), (call, next) => next(call)]);

    expect(drawn.split('\n').slice(1, 6)).toEqual(['  1  named', '  2  named', '  3  caller 2', '  4  caller 3', '     executor']);
  });

  it('draws an empty stack', () => {
    expect(explainStack([])).toBe('call ↓  result ↑\n     executor\n\nThe order breaks no rule.');
  });

  it('refuses what is no stack', () => {
    for (const members of [undefined, {}, [null], ['auditLog']]) {
      const odd = members as unknown as ToolLayer[]; // No list of layers: that is the case.

      expect(() => explainStack(odd)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_LAYER' }));
    }
  });
});
