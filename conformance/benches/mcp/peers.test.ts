import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../src/core/json/json-value.ts';
import { built } from '../../../src/stores/built.fixture.ts';
import { everyNth } from '../../how-many.fixture.ts';
import { DRIVERS } from './clients.ts';
import type { ConnectOptions, Connection } from './driver.ts';
import { SYNTHETIC_SECRET } from './dual-tools.ts';
import { eraOf } from './matrix.ts';
import { preparePeer, SERVERS, type ServerName, servesHttp, startHttpPeer } from './peers.ts';
import { createPlace, type Place, startProgram } from './processes.ts';

const dualFile = built('conformance/benches/mcp/dual-server.ts');

let place: Place;
beforeEach(() => void (place = createPlace()));
afterEach(() => place.close());

const PROBES: Readonly<
  Record<ServerName, readonly [tool: string, args: JsonObject, shown: string]>
> = {
  everything: ['get-sum', { a: 2, b: 3 }, 'is 5'],
  filesystem: ['list_allowed_directories', {}, 'root'],
  memory: ['read_graph', {}, 'entities'],
  dual: ['add', { a: 2, b: 3 }, '5'],
};

async function probe(connection: Connection, server: ServerName): Promise<void> {
  const [tool, args, shown] = PROBES[server];
  expect((await connection.listTools()).map(({ name }) => name)).toContain(tool);
  const outcome = await connection.call(tool, args);
  expect(outcome).toMatchObject({ kind: 'result', isError: false });
  expect(JSON.stringify(outcome)).toContain(shown);
}

const all = DRIVERS.flatMap((driver) =>
  SERVERS.map((server) => [driver.name, server, driver] as const),
);
// One server further for each client: every client and nearly every server is met once.
const pairs = everyNth(SERVERS.length + 1, all);

describe('real clients and real servers', () => {
  it.each(pairs)(
    'understand each other on stdio and leave no process behind: %s, %s',
    async (_name, server, driver) => {
      const peer = preparePeer(server, place, dualFile);
      const connection = await driver.connect(peer.command, { isModern: peer.isModern });

      expect(connection.era).toBe(eraOf(driver, server));
      await probe(connection, server);
      await connection.close();
      expect(await place.endProcesses()).toBe(0);
    },
  );

  const byHttp = pairs.filter(([, server]) => servesHttp(server));
  it.each(byHttp)('understand each other by HTTP: %s, %s', async (_name, server, driver) => {
    const peer = preparePeer(server, place, dualFile);
    const http = await startHttpPeer(peer);
    const connection = await driver.connect({ url: http.url }, { isModern: peer.isModern });

    expect(connection.era).toBe(eraOf(driver, server));
    await probe(connection, server);
    await connection.close();
    await http.stop();
    expect(await place.endProcesses()).toBe(0);
  });
});

describe.each(DRIVERS.map((driver) => [driver.name, driver] as const))(
  'the dual server, to %s,',
  (_name, driver) => {
    const connect = async (options: ConnectOptions = {}) => {
      const peer = preparePeer('dual', place, dualFile);
      return {
        connection: await driver.connect(peer.command, { isModern: true, ...options }),
        peer,
      };
    };

    it('has effects that can be counted, secrets in text and data, questions, a reason of its own', async () => {
      const { connection, peer } = await connect({
        onElicit: () => ({ action: 'accept', content: { colour: 'red' } }),
      });
      await connection.call('write_note', { text: 'one' });
      const leaked = await connection.call('leak', {});

      expect(readFileSync(peer.notes, 'utf8')).toBe('one\n');
      expect(leaked.kind === 'result' && leaked.whole.split(SYNTHETIC_SECRET).length - 1).toBe(2);
      expect(await connection.call('ask', {})).toMatchObject({ text: 'you like red' });
      expect(await connection.call('own_reason', { reason: 'rain' })).toMatchObject({
        text: 'because rain',
      });
      await connection.close();
    });

    it('changes a description and says so', async () => {
      const { connection } = await connect();
      let changes = 0;
      if (connection.era === 'legacy') connection.onToolsChanged(() => void (changes += 1));
      await connection.call('change', { description: 'Adds, otherwise.' });

      expect((await connection.listTools()).find(({ name }) => name === 'add')?.description).toBe(
        'Adds, otherwise.',
      );
      if (connection.era === 'legacy') await vi.waitFor(() => expect(changes).toBeGreaterThan(0));
      await connection.close();
    });

    it('is slow until it is told to end, reports meanwhile, and hears of a client that leaves', async () => {
      const { connection, peer } = await connect();
      const file = join(place.folder, 'go');
      const steps: number[] = [];
      const waiting = connection.call(
        'slow',
        { text: 'a', file },
        { onProgress: (step) => void steps.push(step) },
      );
      await vi.waitFor(() => expect(steps.length).toBeGreaterThan(1), 10_000);
      writeFileSync(file, '');
      expect(await waiting).toMatchObject({ text: 'done a' });

      const leave = new AbortController();
      const left = connection.call('slow', { text: 'b', ms: 60_000 }, { signal: leave.signal });
      await vi.waitFor(() => expect(readFileSync(peer.notes, 'utf8')).toContain('begun b'), 10_000);
      leave.abort();
      expect(await left).toMatchObject({ kind: 'error' });
      await vi.waitFor(
        () => expect(readFileSync(peer.notes, 'utf8')).toContain('stopped b'),
        10_000,
      );
      await connection.close();
    });
  },
);

describe('a place', () => {
  it('ends what is left of it', async () => {
    const program = startProgram({
      command: process.execPath,
      args: ['-e', 'setInterval(() => {}, 1000)'],
      env: place.env,
    });

    expect(await place.endProcesses(0)).toBe(1);
    await program.ended;
    await place.close();
    expect(existsSync(place.folder)).toBe(false);
  });
});
