import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { clientV1 } from '../../../conformance/benches/mcp/client-v1.ts';
import { clientV2 } from '../../../conformance/benches/mcp/client-v2.ts';
import type { Driver } from '../../../conformance/benches/mcp/driver.ts';
import { verifyReceipts } from '../../receipts/index.ts';
import { proxyWords, spawnPlace, startSpawned } from './spawned.fixture.ts';

const RECEIPTS =
  'version: 1\nsession: { id: shared }\nstate: { dir: ./state }\nlayers:\n  - auditLog: local\n';
const EVERYTHING = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

/** The calls on record in each chain, as far as it is written. */
const receiptsIn = (folder: string): readonly (readonly string[])[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) =>
      [
        ...readFileSync(join(folder, file), 'utf8').matchAll(
          /"record":"receipt".*?"tool_call_id":"([^"]+)"/g,
        ),
      ].map(([, id = '']) => id),
    );

/** Who has ended, and was asked by nobody how, is not alive. */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return (
      process.platform !== 'linux' ||
      !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    );
  } catch {
    return false;
  }
};

describe('pitfalls of processes', () => {
  it.each<[string, Driver]>([
    ['v1', clientV1],
    ['v2', clientV2],
  ])(
    '1 · output schema: the client of SDK %s reads a dry run of get-structured-content',
    async (_name, driver) => {
      const folder = spawnPlace('version: 1\nlayers:\n  - dryRun: {}\n');
      const { PATH = '' } = process.env;
      const args = proxyWords([process.execPath, EVERYTHING, 'stdio']);
      args.splice(2, 0, '--config', folder);
      const connection = await driver.connect({
        command: process.execPath,
        args,
        env: { PATH, HOME: folder },
      });
      onTestFinished(() => connection.close());

      const tools = await connection.listTools();
      const outcome = await connection.call('get-structured-content', { location: 'New York' });

      expect(tools.find(({ name }) => name === 'get-structured-content')).toMatchObject({
        hasOutputSchema: true,
      });
      expect(outcome).toMatchObject({
        kind: 'result',
        isError: true,
        text: expect.stringContaining('dry run') as string,
      });
    },
  );

  it('10 · two proxies of one session that write at the same time have a chain each, and lose nothing', async () => {
    const folder = spawnPlace(RECEIPTS);
    const receipts = join(folder, 'state', 'receipts');
    const both = await Promise.all([startSpawned(folder), startSpawned(folder)]);

    // In turns: each has written before the other and writes after it, so both are writers all the
    // time.
    const grown: (readonly number[])[] = [];
    for (const [turn, proxy] of [...both, ...both].entries()) {
      await proxy.call(`turn ${turn}`, 'env', { name: 'NONE' });
      grown.push(
        receiptsIn(receipts)
          .map((chain) => chain.length)
          .sort(),
      );
    }
    await Promise.all(
      both.flatMap((proxy) =>
        Array.from({ length: 50 }, (_, index) => proxy.call(index, 'env', { name: 'NONE' })),
      ),
    );
    await Promise.all(both.map((proxy) => proxy.leave()));

    const chains = receiptsIn(receipts);
    expect(grown).toEqual([[1], [1, 1], [1, 2], [2, 2]]);
    expect(chains.map((chain) => chain.length)).toEqual([52, 52]);
    expect(new Set(chains.flat()).size).toBe(104);
    expect(await verifyReceipts(receipts)).toMatchObject({ ok: true, problems: [], count: 104 });
  });

  it('11 · standard output carries messages alone, and what the server says beside them goes to standard error', async () => {
    const proxy = await startSpawned(spawnPlace(RECEIPTS));
    await proxy.call(0, 'env', { name: 'NONE' });
    proxy.send('not a message\n');
    await vi.waitFor(() => expect(proxy.err()).toContain('the client sent'));

    expect(await proxy.leave()).toBe(0);
    expect(
      proxy.lines.every((line) => (JSON.parse(line) as { jsonrpc: unknown }).jsonrpc === '2.0'),
    ).toBe(true);
    expect(proxy.err()).toContain('the server is here');
    expect(proxy.err()).not.toContain('not a message');
  });

  it('11 · a server that dies has every open call answered once, and the proxy ends with it', async () => {
    const proxy = await startSpawned(spawnPlace(RECEIPTS));
    const open = [
      proxy.request('a', 'tools/call', { name: 'wait' }),
      proxy.request('b', 'tools/call', { name: 'wait' }),
    ];

    const died = proxy.request('c', 'tools/call', { name: 'die' });
    const answers = await Promise.all([...open, died]);

    expect(answers.map(({ result }) => result)).toEqual(
      answers.map(
        () =>
          expect.objectContaining({
            isError: true,
            _meta: expect.objectContaining({
              'allium/status': 'executor_error',
              'allium/executed': 'unknown',
            }) as unknown,
          }) as unknown,
      ),
    );
    expect(await proxy.ended).toBe(1);
    expect(proxy.lines.filter((line) => /"id":"[abc]"/.test(line))).toHaveLength(3);
  });

  it('11 · a client that leaves ends the server, and whatever the server has started', async () => {
    const proxy = await startSpawned(spawnPlace(RECEIPTS));
    const grandchild = Number(await proxy.call(1, 'child'));
    onTestFinished(() => {
      if (isAlive(grandchild)) process.kill(grandchild, 'SIGKILL');
    });
    expect(isAlive(grandchild)).toBe(true);

    await proxy.leave();

    await vi.waitFor(() => expect(isAlive(grandchild)).toBe(false));
  });

  it('18 · variables reach the server, and words of its command arrive as they are', async () => {
    const folder = spawnPlace(RECEIPTS);
    const proxy = await startSpawned(folder, { OF_THE_CLIENT: 'as "it" is; $HOME' });

    expect(await proxy.call(1, 'env', { name: 'OF_THE_CLIENT' })).toBe('as "it" is; $HOME');
    await proxy.leave();
    expect(existsSync(join(folder, 'state', 'receipts'))).toBe(true);
  });
});
