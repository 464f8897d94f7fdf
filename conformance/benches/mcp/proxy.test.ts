import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAIN } from '../../../src/cli/run-command.fixture.ts';
import { built } from '../../../src/stores/built.fixture.ts';
import { runKills } from './kill-upstream.ts';
import { CASES, FACTORS, runMatrix } from './matrix.ts';
import { UNANSWERED } from './mutate-frames.ts';
import { pairwise } from './pairwise.ts';
import { createPlace, type ProgramCommand } from './processes.ts';
import { alliumProxy } from './proxy-command.ts';
import { startRawClient } from './raw-client.ts';
import { CONFIG, isUntouchedList, runFrames } from './run-frames.ts';
import { howMany } from '../../how-many.fixture.ts';

const startProxy = alliumProxy(MAIN);
const dualFile = built('conformance/benches/mcp/dual-server.ts');
const serverFile = built('conformance/benches/mcp/frame-server.ts');

/** Those that have something which none before them has. */
function eachOnce(cases: typeof CASES): typeof CASES {
  const met = new Set<string>();
  return cases.filter((one) => {
    const before = met.size;
    for (const factor of FACTORS) met.add(`${factor} ${one[factor]}`);
    return met.size > before;
  });
}

describe('allium proxy', () => {
  it('governs real clients and real servers, whichever of client, server, behaviour, route and era meet', async () => {
    const pairs = pairwise(CASES, FACTORS);
    // Any two of them meet in the long form; here each meets some.
    const cases = howMany(0, 1) === 1 ? pairs : eachOnce(pairs);
    const rows = await runMatrix({ cases, startProxy, dualFile, concurrency: 3 });

    expect(rows).toHaveLength(cases.length);
    expect(rows.length).toBeGreaterThanOrEqual(10);
    expect(rows.filter(({ findings }) => findings.length > 0)).toEqual([]);
  }, 600_000);

  it('goes on working under hostile lines from both sides, and no hidden call gets through', async () => {
    const figures = await runFrames({
      count: howMany(500, 5000),
      seed: 20_260_101,
      startProxy,
      serverFile,
    });

    expect(figures.violations).toEqual({});
    expect(figures).toMatchObject({ frames: howMany(1000, 10_000) });
  }, 120_000);

  it('shows no list as the server wrote it, also to a client that uses an id again before it was answered', async () => {
    const place = createPlace();
    onTestFinished(() => place.close());
    const configFile = join(place.folder, 'allium.yaml');
    writeFileSync(configFile, CONFIG);
    const upstream = {
      command: process.execPath,
      args: [serverFile, '1', '0', '500'],
      env: { ...place.env, FRAMES_SEEN: '/dev/null' },
    };
    const lists: boolean[] = [];
    const client = await startRawClient(
      // It speaks on standard output.
      startProxy({ configFile, upstream, listen: null, env: place.env }) as ProgramCommand,
      (message) => {
        if (JSON.stringify(message).includes('"tools":[{')) lists.push(isUntouchedList(message));
      },
    );
    const send = (method: string) =>
      client.send(`${JSON.stringify({ jsonrpc: '2.0', id: 'x', method })}\n`);
    const answered = client.request('x', 'ping', {});
    await send('tools/list');
    await answered;
    await send(UNANSWERED);
    await client.request('y', 'tools/list', {});

    expect(lists).not.toContain(true);
    const outcome = await client.request('z', 'tools/call', {
      name: 'echo',
      arguments: { text: 'still here' },
    });
    expect(JSON.stringify(outcome)).toContain('still here');
    await client.stop();
  });

  it('answers every call once when its server is killed, and lets no effect happen twice', async () => {
    const kills = howMany(3, 20);
    const figures = await runKills({ kills, seed: 20_260_101, startProxy, dualFile });

    expect(figures).toMatchObject({
      kills,
      unanswered: 0,
      answeredTwice: 0,
      twice: 0,
      lost: 0,
      problems: [],
    });
    expect(figures.done).toBeGreaterThan(0);
  }, 120_000);
});
