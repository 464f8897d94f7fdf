import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../../conformance/benches/fuzz/random.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import type { ToolExecutor } from '../../tools/tool.ts';
import { commandHost, endAll, govern, processHost } from './hosts.fixture.ts';
import { hostBridge } from './host-bridge.ts';
import type { BridgeChannel } from './wire.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

afterEach(endAll);

/** Answers in any order, and some twice. */
const SHUFFLED = `
  (globalThis.kept ??= []).push(request);
  globalThis.timer ??= setTimeout(() => {
    globalThis.timer = undefined;
    for (const one of globalThis.kept.splice(0).sort((a, b) => (a.id * 7919) % 101 - (b.id * 7919) % 101)) {
      say({ id: one.id, result: { value: one.params.arguments.n } });
      if (one.id % 10 === 0) say({ id: one.id, result: { value: 'twice' } });
    }
  }, 5);`;

/** A client that matches answers by their order. */
function naiveBridge({ readable, writable }: BridgeChannel) {
  const waiting: ((value: unknown) => void)[] = [];
  createInterface({ input: readable }).on('line', (line) => {
    const { result } = JSON.parse(line) as { result: { value: unknown } };
    waiting.shift()?.(result.value);
  });
  writable.on('error', () => {});
  const ask = (args: object): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      writable.write(
        `${JSON.stringify({ id: waiting.length, method: 'tool/call', params: { arguments: args } })}\n`,
      );
    });
  const executor: ToolExecutor = { kind: 'host_bridge', execute: ({ args }) => ask(args) };
  return { ask, executor, open: () => waiting.length };
}

const answers = (results: readonly ToolResult[]) =>
  results.filter((result) => result.result === result.arguments.n).length;

describe('many calls over a bridge', () => {
  it('are each answered by their own id, two thousand at a time', async () => {
    const { channel } = processHost(SHUFFLED);
    const bridge = await hostBridge(channel);
    const governed = govern({ tools: bridge.tools, executor: bridge });
    const results = await Promise.all(
      Array.from({ length: 2_000 }, (_, n) => governed.call({ name: 'echo', arguments: { n } })),
    );

    expect(results.filter(({ status }) => status === 'ok')).toHaveLength(2_000);
    expect(answers(results)).toBe(2_000);
  });

  it('have a naive twin, which goes by the order of answers and mixes them up', async () => {
    const { channel } = processHost(SHUFFLED);
    const { tools } = await hostBridge(processHost('').channel);
    const naive = naiveBridge(channel);
    const byName = [...tools].map(({ execute: _way, ...tool }) => tool);
    const governed = govern({ tools: byName, executor: naive.executor });
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, n) => governed.call({ name: 'echo', arguments: { n } })),
    );

    expect(answers(results)).toBeLessThan(100);
  });
});

/** It never answers all hundred: however fast it is, it is killed with calls that it has. */
const SIXTY =
  'if ((globalThis.count = (globalThis.count ?? 0) + 1) <= 60) say({ id: request.id, result: { value: request.params.arguments.n } });';

/** How a hundred calls to a host end that is killed after so many of them. */
async function endingsUnderLoad(killAfter: number): Promise<readonly string[]> {
  const { child, channel } = processHost(SIXTY);
  const bridge = await hostBridge(channel);
  const governed = govern({ tools: bridge.tools, executor: bridge });
  let ended = 0;
  const results = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const result = await governed.call({ name: 'echo', arguments: { n } });
      if (ended++ === killAfter) child.kill('SIGKILL');
      return result;
    }),
  );
  await bridge.closed;
  expect(await governed.call({ name: 'echo', arguments: { n: 1 } })).toMatchObject({
    errorCategory: 'network',
    executed: 'no',
  });
  return results.map(({ status, errorCategory, executed, result, arguments: { n } }) =>
    status === 'ok' && result === n
      ? 'answered'
      : `${String(errorCategory)}, executed: ${executed}`,
  );
}

describe('a host that is killed', () => {
  it('leaves no call without an answer, time and again under load', async () => {
    const random = createRandom(11);
    const tally = new Map<string, number>();
    const runs = howMany(6, 20);
    for (let run = 0; run < runs; run += 1) {
      for (const ending of await endingsUnderLoad(random.below(50)))
        tally.set(ending, (tally.get(ending) ?? 0) + 1);
    }

    const total = [...tally.values()].reduce((sum, count) => sum + count, 0);
    expect(total).toBe(runs * 100);
    expect(
      [...tally.keys()].filter(
        (ending) =>
          !['answered', 'network, executed: unknown', 'network, executed: no'].includes(ending),
      ),
    ).toEqual([]);
    expect(tally.get('network, executed: unknown') ?? 0).toBeGreaterThan(0);
  });

  it('has a naive twin, whose calls are never answered', async () => {
    const { child, channel } = processHost('');
    const naive = naiveBridge(channel);
    let answered = 0;
    void naive.ask({}).then(() => (answered += 1));
    child.kill('SIGKILL');
    await once(child, 'exit');

    expect([answered, naive.open()]).toEqual([0, 1]);
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('NOT RUN: the host in Python, because python3 is not installed');

describe.skipIf(!hasPython)('a host in Python', () => {
  it('answers every call, and ends when the bridge is closed', async () => {
    const { child, channel } = commandHost('python3', ['examples/host-bridge/host.py']);
    const bridge = await hostBridge(channel);
    const governed = govern({ tools: bridge.tools, executor: bridge });
    const titles = Array.from({ length: 500 }, (_, n) => (n % 2 === 0 ? 'shopping' : `nöte ${n}`));
    const results = await Promise.all(
      titles.map((title) => governed.call({ name: 'read_note', arguments: { title } })),
    );
    const exit = once(child, 'exit');
    await governed.close();

    expect(results.filter(({ result }) => result === 'milk and two onions')).toHaveLength(250);
    expect(
      results.filter(({ error }, n) => error === `There is no '${titles[n] ?? ''}'.`),
    ).toHaveLength(250);
    expect(await exit).toEqual([0, null]);
  });
});
