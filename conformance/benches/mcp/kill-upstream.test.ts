import { describe, expect, it } from 'vitest';
import { built } from '../../../src/stores/built.fixture.ts';
import { runKills } from './kill-upstream.ts';
import { programProxy } from './proxy-command.ts';

const program = (name: string) => programProxy(built(`conformance/benches/mcp/${name}.fixture.ts`));
const dualFile = built('conformance/benches/mcp/dual-server.ts');

describe('a server that is killed behind the relay', () => {
  it('leaves every call answered once, and no effect twice', async () => {
    const figures = await runKills({
      kills: 5,
      seed: 20_260_101,
      startProxy: program('bare-relay'),
      dualFile,
    });

    expect(figures).toMatchObject({
      kills: 5,
      unanswered: 0,
      answeredTwice: 0,
      twice: 0,
      lost: 0,
      problems: [],
    });
    expect(figures.done).toBeGreaterThan(0);
    expect(figures.failed).toBeGreaterThan(0);
  });

  it('has effects twice where a proxy tries again, and the runs find it', async () => {
    let twice = 0;
    // A kill between an effect and its answer is a matter of luck.
    for (let seed = 1; seed <= 20 && twice === 0; seed += 1)
      ({ twice } = await runKills({
        kills: 1,
        seed,
        startProxy: program('retrying-pipe'),
        dualFile,
      }));

    expect(twice).toBeGreaterThan(0);
  });

  it('leaves calls without an answer where a proxy says nothing, and the runs find it', async () => {
    let unanswered = 0;
    // A kill while a call is under way is a matter of luck.
    for (let seed = 1; seed <= 20 && unanswered === 0; seed += 1)
      ({ unanswered } = await runKills({
        kills: 1,
        seed,
        startProxy: program('naive-pipe'),
        dualFile,
        withinMs: 1000,
      }));

    expect(unanswered).toBeGreaterThan(0);
  });
});
