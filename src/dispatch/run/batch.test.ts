import { describe, expect, it } from 'vitest';
import { settle } from '../../../conformance/test-kit.ts';
import { defineLayer } from '../../core/contract/layer.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { setup } from '../testing.fixture.ts';

/** Finishes in whatever order the test says. */
function shuffledTool() {
  const open = new Map<number, () => void>();
  let now = 0;
  let most = 0;
  const tool = defineTool({
    name: 'work',
    description: '',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    async execute({ n }) {
      now += 1;
      most = Math.max(most, now);
      await new Promise<void>((resolve) => open.set(n, resolve));
      now -= 1;
      return n;
    },
  });
  return { tool, finish: (n: number) => open.get(n)?.(), most: () => most };
}

const requests = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: 'work', arguments: { n }, id: `c${n}` }));

describe('a batch', () => {
  it('runs one call after another unless told otherwise', async () => {
    const { tool, finish, most } = shuffledTool();
    const { governed } = setup({ toolList: () => [tool] });
    const running = governed.batch(requests(3));

    for (const n of [0, 1, 2]) {
      await settle();
      finish(n);
    }
    await running;

    expect(most()).toBe(1);
  });

  it('goes on with the next call when all layers are done with the one before', async () => {
    const { tool, finish } = shuffledTool();
    const order: string[] = [];
    const slow = defineLayer({
      name: 'slow',
      observes: true,
      async caller(call, next) {
        order.push(`${call.callId} in`);
        const result = await next(call);
        await settle();
        order.push(`${call.callId} out`);
        return result;
      },
    });
    const { governed } = setup({ toolList: () => [tool], layers: [slow] });
    const running = governed.batch(requests(2));

    for (const n of [0, 1]) {
      await settle();
      finish(n);
      await settle();
      await settle();
    }
    await running;

    expect(order).toEqual(['c0 in', 'c0 out', 'c1 in', 'c1 out']);
  });

  it('answers in the order the model emitted, whatever finishes first', async () => {
    const { tool, finish, most } = shuffledTool();
    const { governed } = setup({ toolList: () => [tool] });
    const running = governed.batch(requests(6), { maxConcurrent: 3 });

    for (const n of [2, 0, 1, 5, 4, 3]) {
      await settle();
      finish(n);
    }
    const results = await running;

    expect(results.map(({ result }) => result)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual([
      'c0',
      'c1',
      'c2',
      'c3',
      'c4',
      'c5',
    ]);
    expect(most()).toBe(3);
  });

  it('tells each call its place', async () => {
    const places: unknown[] = [];
    const note = defineLayer({
      name: 'note',
      caller(call, next) {
        places.push(call.turn.emitOrder);
        return next(call);
      },
    });
    const { governed } = setup({ layers: [note] });

    await governed.batch(
      Array.from({ length: 3 }, () => ({ name: 'echo', arguments: {} })),
      { turn: { runId: 'r' } },
    );

    expect(places).toEqual([0, 1, 2]);
  });

  it('decides each call on its own, also when one of them raises', async () => {
    const { governed, ran } = setup({ onUnknownTool: 'throw' });

    const results = await governed.batch([
      { name: 'echo', arguments: { text: 'a' } },
      { name: 'nobody', arguments: {} },
      { name: 'echo', arguments: '{' },
      { name: 'echo', arguments: { text: 'b' } },
    ]);

    expect(results.map(({ status }) => status)).toEqual([
      'ok',
      'tool_not_found',
      'schema_violation',
      'ok',
    ]);
    expect(ran).toHaveLength(2);
  });

  it('answers every call after a cancellation, and starts none of the rest', async () => {
    const controller = new AbortController();
    let started = 0;
    const tool = defineTool({
      name: 'work',
      description: '',
      inputSchema: { type: 'object' },
      execute: (_args, { signal }) => {
        started += 1;
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('stopped'))),
        );
      },
    });
    const { governed } = setup({ toolList: () => [tool] });
    const running = governed.batch(requests(4), { signal: controller.signal });
    await settle();
    controller.abort();

    expect((await running).map(({ status, executed }) => `${status} ${executed}`)).toEqual([
      'cancelled unknown',
      'cancelled no',
      'cancelled no',
      'cancelled no',
    ]);
    expect(started).toBe(1);
  });

  it('handles two calls with the same id by their place', async () => {
    const { governed } = setup();

    const results = await governed.batch([
      { name: 'echo', arguments: { text: 'a' }, id: 'same' },
      { name: 'echo', arguments: { text: 'b' }, id: 'same' },
    ]);

    expect(results.map(({ result }) => result)).toEqual([{ text: 'a' }, { text: 'b' }]);
  });

  it('of nothing is nothing', async () => {
    expect(await setup().governed.batch([])).toEqual([]);
  });

  it('refuses a concurrency of zero', async () => {
    await expect(setup().governed.batch([], { maxConcurrent: 0 })).rejects.toThrow('maxConcurrent');
  });
});
