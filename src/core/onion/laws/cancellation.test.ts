import { describe, expect, it } from 'vitest';
import { causeOf, ok, refuse } from '../results.ts';
import { withCall } from '../own-call.ts';
import { echoExecutor, makeCall } from '../../../../conformance/test-kit.ts';
import { composeToolCallers } from '../compose.ts';
import type { Next, ToolCaller } from '../../contract/layer.ts';
import { layer, lineOf, pass } from './layers.fixture.ts';

const throwing: Next = () => Promise.reject(new Error('broke'));

describe('law 5: cancellation is a result', () => {
  it('and nothing runs for a caller that has gone before the call', async () => {
    const executor = echoExecutor();
    const result = await composeToolCallers([layer('outer')])(
      makeCall({ signal: AbortSignal.abort() }),
      executor,
    );

    expect(result).toMatchObject({
      ok: false,
      status: 'cancelled',
      errorCategory: 'cancelled',
      executed: 'no',
    });
    expect(executor.calls).toEqual([]);
  });

  it.each<[string, (swap: AbortSignal) => ToolCaller]>([
    ['waits', () => pass],
    [
      'passes on a signal of its own',
      (swap) => (call, next) => next(withCall(call, { signal: swap })),
    ],
  ])(
    'and the signal is looked at again right before the executor, although a layer %s',
    async (_, make) => {
      const host = new AbortController();
      const asking = layer('asking', async (call, next) => {
        host.abort();
        return next(call);
      });
      const executor = echoExecutor();
      const stack = [layer('outer', make(new AbortController().signal)), asking];
      const result = await composeToolCallers(stack)(makeCall({ signal: host.signal }), executor);

      expect(result).toMatchObject({ status: 'cancelled', executed: 'no' });
      expect(executor.calls).toEqual([]);
    },
  );

  it('also when the executor heeds the signal by throwing', async () => {
    const host = new AbortController();
    const executor: Next = async () => {
      host.abort();
      throw host.signal.reason;
    };
    const result = await composeToolCallers([layer('outer')])(
      makeCall({ signal: host.signal }),
      executor,
    );

    expect(result).toMatchObject({ status: 'cancelled', executed: 'unknown' });
    expect(causeOf(result)).toBe(host.signal.reason);
  });

  it('and what the tool answered nevertheless is kept', async () => {
    const host = new AbortController();
    const stubborn: Next = async (call) => {
      host.abort();
      return ok(call, 'done anyway');
    };
    const result = await composeToolCallers([layer('outer')])(
      makeCall({ signal: host.signal }),
      stubborn,
    );

    expect(result).toMatchObject({ ok: true, executed: 'yes', result: 'done anyway' });
  });

  it('and a layer that turns it into a success is overruled', async () => {
    const cheerful = layer('cheerful', async (call, next) => {
      await next(call);
      return ok(call, 'all is well');
    });
    const result = await composeToolCallers([layer('outer'), cheerful])(
      makeCall({ signal: AbortSignal.abort() }),
      echoExecutor(),
    );

    expect(result).toMatchObject({ ok: false, status: 'cancelled' });
    expect(lineOf(result, 'cheerful')).toMatchObject({
      status: 'exception',
      error: 'turned a cancelled call into a success',
    });
  });

  it('and two layers together cannot turn it into a success', async () => {
    const renaming = layer('renaming', async (call, next) =>
      (await next(call)).ok ? ok(call) : refuse(call, 'outage', 'Not now.'),
    );
    const cheerful = layer('cheerful', async (call, next) =>
      (await next(call)).ok ? ok(call) : ok(call, 'from the cache'),
    );
    const result = await composeToolCallers([cheerful, renaming])(
      makeCall({ signal: AbortSignal.abort() }),
      echoExecutor(),
    );

    expect(result).toMatchObject({ ok: false, status: 'cancelled' });
    expect(lineOf(result, 'cheerful')).toMatchObject({ status: 'exception' });
  });

  it('while a call nobody took back may be saved by a layer', async () => {
    const saving = layer('saving', async (call, next) =>
      (await next(call)).ok ? ok(call) : ok(call, 'from the cache'),
    );
    const result = await composeToolCallers([saving])(makeCall(), throwing);

    expect(result).toMatchObject({ ok: true, result: 'from the cache', executed: 'unknown' });
  });

  it('but a layer that took back only its own attempt may try again', async () => {
    const retry = layer('retry', async (call, next) => {
      const first = await next(withCall(call, { signal: AbortSignal.abort() }));
      return first.status === 'cancelled' ? next(call) : first;
    });
    const executor = echoExecutor();
    const result = await composeToolCallers([retry])(makeCall(), executor);

    expect(result).toMatchObject({ ok: true, executed: 'yes' });
    expect(executor.calls).toHaveLength(1);
  });
});
