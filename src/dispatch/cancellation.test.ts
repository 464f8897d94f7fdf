import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { settle } from '../../conformance/test-kit.ts';
import { timeout } from '../../middleware/timeout/timeout.ts';
import { defineLayer } from '../core/contract/layer.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { ToolContext } from '../tools/tool.ts';
import { setup, storyOf } from './testing.fixture.ts';

const toolOf = (execute: (args: unknown, context: ToolContext) => unknown, timeoutMs?: number) =>
  defineTool({
    name: 'work',
    description: '',
    inputSchema: { type: 'object' },
    execute,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });

const never = () => new Promise<never>(() => {});

describe('a call whose caller has gone', () => {
  it('runs nothing when it was cancelled before', async () => {
    const { governed, events, ran } = setup();

    const result = await governed.call(
      { name: 'echo', arguments: {}, id: 'c1' },
      { signal: AbortSignal.abort() },
    );

    expect(result).toMatchObject({
      status: 'cancelled',
      executed: 'no',
      toolCallId: 'c1',
      ok: false,
    });
    expect(storyOf(events)).toEqual(['pending', 'audit', 'cancelled']);
    expect(ran).toEqual([]);
  });

  it('runs nothing when it was cancelled while a layer thought', async () => {
    const controller = new AbortController();
    const ponder = defineLayer({
      name: 'ponder',
      async caller(call, next) {
        controller.abort();
        await settle();
        return next(call);
      },
    });
    const { governed, ran } = setup({ layers: [ponder] });

    expect(
      await governed.call({ name: 'echo', arguments: {} }, { signal: controller.signal }),
    ).toMatchObject({
      status: 'cancelled',
      executed: 'no',
    });
    expect(ran).toEqual([]);
  });

  it('runs nothing even if a layer hands on a signal of its own', async () => {
    const controller = new AbortController();
    const detach = defineLayer({
      name: 'detach',
      caller(call, next) {
        controller.abort();
        return next({ ...call, signal: new AbortController().signal });
      },
    });
    const { governed, ran } = setup({ layers: [detach] });

    expect(
      (await governed.call({ name: 'echo', arguments: {} }, { signal: controller.signal })).status,
    ).toBe('cancelled');
    expect(ran).toEqual([]);
  });

  it('gets cancelled with executed unknown when the tool heeds the signal', async () => {
    const controller = new AbortController();
    const tool = toolOf(
      (_args, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('stopped'))),
        ),
    );
    const { governed } = setup({ toolList: () => [tool] });

    const calling = governed.call({ name: 'work', arguments: {} }, { signal: controller.signal });
    await settle();
    controller.abort();

    expect(await calling).toMatchObject({ status: 'cancelled', executed: 'unknown' });
  });

  it('is answered after the grace when the tool does not heed it', async () => {
    const controller = new AbortController();
    const { governed, clock, events } = setup({ toolList: () => [toolOf(never)] });

    const calling = governed.call({ name: 'work', arguments: {} }, { signal: controller.signal });
    await settle();
    controller.abort();
    await clock.advance(100);

    expect(await calling).toMatchObject({ status: 'cancelled', executed: 'unknown' });
    expect(storyOf(events)).toEqual(
      ['pending', 'in_progress', 'audit', 'cancelled'].filter((step) => step !== 'audit'),
    );
  });

  it('says that the tool ran when it still answered within the grace, and is no success', async () => {
    const controller = new AbortController();
    let finish = (_value: unknown) => {};
    const { governed } = setup({
      toolList: () => [toolOf(() => new Promise((resolve) => (finish = resolve)))],
    });

    const calling = governed.call({ name: 'work', arguments: {} }, { signal: controller.signal });
    await settle();
    controller.abort();
    await settle();
    finish('done after all');

    expect(await calling).toMatchObject({
      status: 'cancelled',
      ok: false,
      executed: 'yes',
      result: null,
    });
  });

  it('keeps a result that was there before the cancellation', async () => {
    const controller = new AbortController();
    const { governed } = setup();

    const result = await governed.call(
      { name: 'echo', arguments: {} },
      { signal: controller.signal },
    );
    controller.abort();

    expect(result.status).toBe('ok');
  });

  it('leaves no listener and no timer behind', async () => {
    const controller = new AbortController();
    const { governed, clock } = setup({
      toolList: (ran) => [toolOf(() => 'quick', 50), toolOfEcho(ran)],
    });

    for (const name of ['work', 'echo', 'nobody'])
      await governed.call({ name, arguments: {} }, { signal: controller.signal });

    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

const toolOfEcho = (_ran: unknown) =>
  defineTool({
    name: 'echo',
    description: '',
    inputSchema: { type: 'object' },
    execute: (args) => args,
  });

describe("a tool's own time limit", () => {
  it('aborts the tool and answers timeout, executed unknown', async () => {
    let heard: unknown = null;
    const tool = toolOf((_args, { signal }) => {
      signal.addEventListener('abort', () => void (heard = signal.reason));
      return never();
    }, 500);
    const { governed, clock } = setup({ toolList: () => [tool] });

    const calling = governed.call({ name: 'work', arguments: {} });
    await clock.advance(500);
    expect(heard).toMatchObject({ name: 'TimeoutError' });
    await clock.advance(100);

    expect(await calling).toMatchObject({
      status: 'timeout',
      executed: 'unknown',
      errorClass: 'retryable',
    });
    expect(clock.pending).toBe(0);
  });

  it.each([
    ["the tool's own", 50, 500],
    ["the layer's", 500, 50],
  ])('wins over a longer one: %s', async (_whose, timeoutMs, maxMs) => {
    const { governed, clock } = setup({
      toolList: () => [toolOf(never, timeoutMs)],
      layers: [timeout({ maxMs })],
    });

    const calling = governed.call({ name: 'work', arguments: {} });
    await clock.advance(50);
    await clock.advance(100);

    expect(await calling).toMatchObject({ status: 'timeout', executed: 'unknown' });
    expect(clock.pending).toBe(0);
  });

  it('lets a tool answer that is quick enough', async () => {
    const { governed, clock } = setup({ toolList: () => [toolOf(() => 'quick', 500)] });

    expect((await governed.call({ name: 'work', arguments: {} })).status).toBe('ok');
    expect(clock.pending).toBe(0);
  });
});
