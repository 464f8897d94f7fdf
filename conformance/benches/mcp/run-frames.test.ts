import { describe, expect, it } from 'vitest';
import { built } from '../../../src/stores/built.fixture.ts';
import { howMany } from '../../how-many.fixture.ts';
import { createRandom } from '../fuzz/random.ts';
import { MUTATIONS, mutatedFrame, VALID } from './mutate-frames.ts';
import { noProxy, programProxy } from './proxy-command.ts';
import { runFrames } from './run-frames.ts';

const program = (name: string) => programProxy(built(`conformance/benches/mcp/${name}.fixture.ts`));
const serverFile = built('conformance/benches/mcp/frame-server.ts');

describe('mutatedFrame', () => {
  it('repeats itself with its seed, and has every kind in a thousand', () => {
    const frames = (seed: number) => {
      const random = createRandom(seed);
      return Array.from({ length: 1000 }, () => mutatedFrame(random));
    };
    const [first, again] = [frames(1), frames(1)];

    expect(
      first.every(({ bytes }, index) => bytes.equals(again[index]?.bytes ?? Buffer.alloc(0))),
    ).toBe(true);
    expect(first.map(({ kind }) => kind)).toEqual(expect.arrayContaining(Object.keys(MUTATIONS)));
    expect(first.some(({ bytes }) => bytes.includes(VALID))).toBe(false);
  });
});

describe('runFrames', () => {
  it('finds the relay alive after thousands of hostile lines, with every call answered once; calls and lists are not its business', async () => {
    const count = howMany(500, 2000);
    const figures = await runFrames({
      count,
      seed: 20_260_101,
      startProxy: program('bare-relay'),
      serverFile,
    });

    expect(Object.keys(figures.violations)).toEqual([
      'a list reached the client as the server wrote it',
    ]);
    expect(figures).toMatchObject({ frames: 2 * count, calls: count / 10, answered: count / 10 });
  });

  it('finds that a pipe that trusts its lines ends, and that without a proxy a call is answered twice', async () => {
    const trusting = await runFrames({
      count: 200,
      seed: 1,
      startProxy: program('naive-pipe'),
      serverFile,
    });
    const nobody = await runFrames({ count: 200, seed: 1, startProxy: noProxy, serverFile });

    expect(Object.keys(trusting.violations)).toContain('the proxy ended');
    expect(Object.keys(nobody.violations)).toEqual(
      expect.arrayContaining(['a call was answered twice', 'lines went out that are no messages']),
    );
  });
});
