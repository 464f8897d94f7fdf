import { describe, expect, it } from 'vitest';
import {
  type GovernedTools,
  type GovernOptions,
  governTools,
} from '../../../src/dispatch/govern-tools.ts';
import { fuzzDispatch } from './fuzz-dispatch.ts';
import { howMany } from '../../how-many.fixture.ts';

describe('fuzzDispatch', () => {
  it('finds nothing wrong with governTools', async () => {
    const calls = howMany(3_000, 50_000);
    const figures = await fuzzDispatch({ calls, seed: 20_260_101 });

    expect(figures.violations).toEqual({});
    expect(figures).toMatchObject({ calls, unhandled: 0 });
    expect(figures.toolRuns).toBeGreaterThan(calls / 10);
    expect(Object.keys(figures.statuses)).toEqual(
      expect.arrayContaining([
        'ok',
        'tool_not_found',
        'schema_violation',
        'executor_error',
        'cancelled',
        'limit_exceeded',
      ]),
    );
  });

  it('finds what is wrong with a dispatcher that tells endings twice, or not at all', async () => {
    const tellsTwice = (options: GovernOptions): GovernedTools => {
      const governed = governTools(options);
      return {
        ...governed,
        on: ((name: '*', listener: (event: object) => void) =>
          governed.on(name, (event) => {
            if (event.type === 'tool_call_update' && event.status === 'failed') return;
            listener(event);
            if (event.type === 'tool_call_update' && event.status === 'completed') listener(event);
          })) as GovernedTools['on'],
      };
    };

    const { violations } = await fuzzDispatch({ calls: 500, seed: 1, govern: tellsTwice });

    expect(Object.keys(violations)).toEqual(
      expect.arrayContaining([
        'does not have exactly one ending',
        'was told to end otherwise than it was answered',
      ]),
    );
  });
});
