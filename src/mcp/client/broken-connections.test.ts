import { rmSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock } from '../../index.ts';
import { connected, governed, isAlive, PAGES, scripted } from './peers.fixture.ts';

/** Waits that are over at once, and how long they would have been. */
function hurried() {
  const waits: number[] = [];
  const clock: Clock = {
    ...systemClock,
    after(ms, task) {
      waits.push(ms);
      return systemClock.after(Math.min(ms, 5), task);
    },
  };
  return { clock, waits };
}

const pidsIn = (effects: readonly string[]): readonly number[] =>
  effects.filter((line) => line.startsWith('started')).map((line) => Number(line.split(' ')[1]));
const kill = (pid: number | undefined) => process.kill(pid ?? Number.NaN, 'SIGKILL');

describe('a server that dies', () => {
  it('in the middle of a call leaves it answered once and never repeated, twenty times', async () => {
    const { target, effects } = scripted();
    const { server } = await connected(target, { clock: hurried().clock });
    const tools = governed(server);
    const hangs = () => effects().filter((line) => line.startsWith('hang')).length;

    for (let times = 1; times <= 20; times += 1) {
      const call = tools.call({ name: 'hang', arguments: {} });
      await vi.waitFor(() => expect(hangs()).toBe(times), { interval: 5 });
      kill(pidsIn(effects()).at(-1));
      expect(await call).toMatchObject({
        status: 'executor_error',
        errorCategory: 'network',
        executed: 'unknown',
      });
    }
    expect(hangs()).toBe(20);
    expect(pidsIn(effects())).toHaveLength(20);
  });

  it('takes every call with it that is under way, and none that is not', async () => {
    const { target, effects } = scripted();
    const { server } = await connected(target);
    const tools = governed(server);
    const calls = Array.from({ length: 5 }, () => tools.call({ name: 'hang', arguments: {} }));
    await vi.waitFor(() =>
      expect(effects().filter((line) => line.startsWith('hang'))).toHaveLength(5),
    );
    kill(pidsIn(effects()).at(-1));

    expect((await Promise.all(calls)).map(({ executed }) => executed)).toEqual(
      Array<string>(5).fill('unknown'),
    );
    expect(await tools.call({ name: 'twice', arguments: {} })).toMatchObject({
      status: 'ok',
      renderedResult: 'first',
    });
  });

  it('is started again for the next call, and its list is read again', async () => {
    const { target, list, effects } = scripted();
    const { server, kinds } = await connected(target);
    const tools = governed(server);
    const before = server.tools;
    list([
      {
        tools: [{ name: 'twice', description: 'not what it was', inputSchema: { type: 'object' } }],
      },
    ]);
    kill(pidsIn(effects()).at(-1));
    await vi.waitFor(() => expect(kinds()).toContain('connection_lost'));

    expect(await tools.call({ name: 'twice', arguments: {} })).toMatchObject({
      errorCategory: 'definition_changed',
      executed: 'no',
    });
    expect(kinds()).toContain('definition_changed');
    expect(server.tools).not.toBe(before);
  });

  it('is tried to start a few times with longer and longer pauses, and the call says that nothing was sent', async () => {
    const { target, effects } = scripted();
    const { clock, waits } = hurried();
    const { server, kinds } = await connected(target, {
      clock,
      maxConnects: 4,
      connectTimeoutMs: 2000,
    });
    const tools = governed(server);
    scriptGone(target.args[0]);
    kill(pidsIn(effects()).at(-1));
    await vi.waitFor(() => expect(kinds()).toContain('connection_lost'));
    waits.length = 0;

    expect(await tools.call({ name: 'twice', arguments: {} })).toMatchObject({
      status: 'executor_error',
      errorCategory: 'network',
      errorClass: 'retryable',
      executed: 'no',
    });
    expect(waits.filter((ms) => [100, 200, 400, 800].includes(ms))).toEqual([100, 200, 400]);
  });

  it('by too much text is given up', async () => {
    const { server } = await connected(scripted().target);
    const tools = governed(server);

    expect(await tools.call({ name: 'flood', arguments: {} })).toMatchObject({
      errorCategory: 'network',
      executed: 'unknown',
    });
    expect(await tools.call({ name: 'twice', arguments: {} })).toMatchObject({ status: 'ok' });
  });
});

describe('closing', () => {
  it('ends a server with everything it has started, which the transport of the SDK does not', async () => {
    const { server } = await connected(scripted().target);
    const { result } = await governed(server).call({ name: 'family', arguments: {} });
    const { pids } = result as { pids: number[] };
    expect(pids.map(isAlive)).toEqual([true, true]);
    await server.close();

    await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]));
    expect((await orphanOf(scripted().target)).isLeft).toBe(true);
  });

  it('asks a server that stays to end, and then ends it', async () => {
    const { target, effects } = scripted(PAGES, 'stay');
    const { server } = await connected(target);
    await server.close();

    expect(effects()).toContain('asked to end');
    expect(pidsIn(effects()).map(isAlive)).toEqual([false]);
  });

  it('answers what is under way, and takes nothing more', async () => {
    const { target, effects } = scripted();
    const { server } = await connected(target);
    const tools = governed(server);
    const call = tools.call({ name: 'hang', arguments: {} });
    await vi.waitFor(() => expect(effects().some((line) => line.startsWith('hang'))).toBe(true));
    await Promise.all([server.close(), server.close()]);

    expect(await call).toMatchObject({ executed: 'unknown' });
    expect(await tools.call({ name: 'twice', arguments: {} })).toMatchObject({
      errorCategory: 'closed',
      executed: 'no',
    });
  });

  it('does not wait for a server that never finishes to introduce itself', async () => {
    const { target, effects } = scripted();
    const { server, kinds } = await connected(target);
    const tools = governed(server);
    writeFileSync(target.args[0] ?? '', 'setInterval(() => {}, 1000);');
    kill(pidsIn(effects()).at(-1));
    await vi.waitFor(() => expect(kinds()).toContain('connection_lost'));
    const call = tools.call({ name: 'twice', arguments: {} });
    await new Promise((resolve) => setImmediate(resolve));
    await server.close();

    expect(await call).toMatchObject({ executed: 'no' });
  }, 20_000);

  it('ends a pause between two attempts and leaves no timer behind', async () => {
    const { target, effects } = scripted();
    const timers = new Set<number>();
    let made = 0;
    const clock: Clock = {
      ...systemClock,
      // Pauses of the link never end by themselves here.
      after(ms, task) {
        const id = (made += 1);
        timers.add(id);
        const takeBack = [100, 200, 400].includes(ms)
          ? () => {}
          : systemClock.after(ms, () => (timers.delete(id), task()));
        return () => (timers.delete(id), takeBack());
      },
    };
    const { server, kinds } = await connected(target, { clock });
    const tools = governed(server);
    scriptGone(target.args[0]);
    kill(pidsIn(effects()).at(-1));
    await vi.waitFor(() => expect(kinds()).toContain('connection_lost'));
    const call = tools.call({ name: 'twice', arguments: {} });
    await vi.waitFor(() =>
      expect(kinds().filter((kind) => kind === 'connection_lost').length).toBeGreaterThan(1),
    );
    await server.close();

    expect(await call).toMatchObject({ executed: 'no' });
    expect([...timers]).toEqual([]);
  });
});

describe('a child process', () => {
  it('writes its standard error where it is told to, and nothing of it to ours', async () => {
    const stderr = new PassThrough();
    const write = vi.spyOn(process.stdout, 'write');
    await connected(scripted().target, { stderr });

    expect(String(stderr.read())).toMatch(/^started \d+\n$/);
    expect(write).not.toHaveBeenCalled();
    write.mockRestore();
  });

  it('writes it to a logger otherwise, line by line', async () => {
    const lines: string[] = [];
    const nothing = () => {};
    const logger = {
      debug: (_fields: object, line: string) => void lines.push(line),
      info: nothing,
      warn: nothing,
      error: nothing,
    };
    await connected(scripted().target, { logger });

    await vi.waitFor(() => expect(lines).toEqual([expect.stringMatching(/^started \d+$/)]));
  });

  it('gets what it is given and a few variables that tell nothing', async () => {
    vi.stubEnv('ALLIUM_TEST_SECRET', 'x');
    const { server } = await connected({ ...scripted().target, env: { GIVEN: 'y' } });
    const { result } = await governed(server).call({ name: 'meta', arguments: {} });
    vi.unstubAllEnvs();
    const { env } = result as { env: string[] };

    expect(env).toContain('GIVEN');
    expect(env).toContain('PATH');
    expect(env).not.toContain('ALLIUM_TEST_SECRET');
  });
});

/** From now on the server cannot be started. */
function scriptGone(file: string | undefined): void {
  rmSync(file ?? '');
}

/**
 * The naive twin: the same server on the SDK's transport. Whether what it started is left when it
 * is closed.
 */
async function orphanOf({
  command,
  args,
}: {
  readonly command: string;
  readonly args: readonly string[];
}): Promise<{ isLeft: boolean }> {
  const client = new Client({ name: 'naive', version: '1' });
  await client.connect(new StdioClientTransport({ command, args: [...args], stderr: 'ignore' }));
  const { structuredContent } = await client.callTool({ name: 'family', arguments: {} });
  const [, child = Number.NaN] = (structuredContent as { pids: number[] }).pids;
  await client.close();
  const isLeft = isAlive(child);
  if (isLeft) kill(child);
  return { isLeft };
}
