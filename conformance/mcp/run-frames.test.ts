import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtIn } from '../../src/stores/built.fixture.ts';
import { createRandom } from '../fuzz/random.ts';
import { MUTATIONS, mutatedFrame, VALID } from './mutate-frames.ts';
import { noProxy, programProxy } from './proxy-command.ts';
import { runFrames } from './run-frames.ts';

let built = '';
let serverFile = '';
const program = (name: string) =>
  programProxy(builtIn(built, `conformance/mcp/${name}.fixture.ts`));
beforeAll(() => {
  built = mkdtempSync(join(tmpdir(), 'allium-frames-'));
  serverFile = builtIn(built, 'conformance/mcp/frame-server.ts');
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

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
  it('finds the relay alive after 4 000 hostile lines, with every call answered once; calls and lists are not its business', async () => {
    const figures = await runFrames({
      count: 2000,
      seed: 20_260_101,
      startProxy: program('bare-relay'),
      serverFile,
    });

    expect(Object.keys(figures.violations)).toEqual([
      'a list reached the client as the server wrote it',
    ]);
    expect(figures).toMatchObject({ frames: 4000, calls: 200, answered: 200 });
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
