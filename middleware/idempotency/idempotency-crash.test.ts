import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, testClock } from '../../conformance/index.ts';
import { composeToolCallers } from '../../src/index.ts';
import { built } from '../../src/stores/built.fixture.ts';
import { fileClaims } from '../../src/stores/index.ts';
import { idempotency } from './idempotency.ts';

const work = mkdtempSync(join(tmpdir(), 'allium-crash-'));
const program = built('middleware/idempotency/crash.fixture.ts');

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

function run(
  dir: string,
  log: string,
  point = 'never',
  killAfter = Number.POSITIVE_INFINITY,
): Promise<Ended> {
  const child = spawn(process.execPath, [program, dir, log, point], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.length >= killAfter) child.kill('SIGKILL');
  });
  return new Promise((resolve_) =>
    child.on('close', (_code, signal) => resolve_({ signal, output })),
  );
}

const ordersIn = (log: string) =>
  existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
const linesOf = (log: string) => ordersIn(log).length;

/** The same call in this process, so much later that every lease has run out. */
async function later(dir: string, order = 0) {
  const executor = echoExecutor();
  const clock = testClock(Date.now() + 60_000);
  const result = await composeToolCallers(
    [idempotency({ mode: 'effect', store: fileClaims({ dir, clock }) })],
    { clock },
  )(makeCall({ toolArgs: { order } }), executor);
  return { result, runs: executor.calls.length };
}

afterAll(() => rmSync(work, { recursive: true, force: true }));

let cases = 0;
const place = () => {
  cases += 1;
  return { dir: join(work, `claims-${cases}`), log: join(work, `log-${cases}`) };
};

describe('an effect in a process that is killed', () => {
  it.each([
    ['before the claim', 0, 1, 'ok'],
    ['before the effect', 0, 0, 'outcome_unknown'],
    ['after the effect', 1, 0, 'outcome_unknown'],
    ['before the answer is kept', 1, 0, 'outcome_unknown'],
    ['after the answer is kept', 1, 0, 'ok'],
  ])('%s happened %i times, and happens %i times more', async (point, before, after, status) => {
    const { dir, log } = place();
    const { signal } = await run(dir, log, point);
    const { result, runs } = await later(dir);

    expect(signal).toBe('SIGKILL');
    expect(linesOf(log)).toBe(before);
    expect(result.status).toBe(status);
    expect(runs).toBe(after);
  });

  it.each([100, 1000, 3000])(
    'anywhere after %i characters of output is never repeated',
    async (killAfter) => {
      const { dir, log } = place();
      await run(dir, log, 'many', killAfter);
      const orders = ordersIn(log);

      expect(orders.length).toBeGreaterThan(0);
      expect(new Set(orders).size).toBe(orders.length);
      for (const order of orders) expect((await later(dir, Number(order))).runs).toBe(0);
    },
  );

  it('is not repeated by another process, which waits for the lease to run out', async () => {
    const { dir, log } = place();
    await run(dir, log, 'after the effect');
    const { output } = await run(dir, log);

    expect(JSON.parse(output)).toMatchObject({ status: 'outcome_unknown', own: true });
    expect(linesOf(log)).toBe(1);
  });

  it('happens twice where the answer is only kept afterwards', async () => {
    const { dir, log } = place();
    // No claim is left behind before the effect: this is what a cache that looks, runs and keeps
    // comes to.
    await run(dir, log, 'after the effect');
    rmSync(dir, { recursive: true });
    await run(dir, log);

    expect(linesOf(log)).toBe(2);
  });
});

describe('an effect asked for by several processes at once', () => {
  it('happens once, and all of them get its answer', async () => {
    const { dir, log } = place();
    const ended = await Promise.all(Array.from({ length: 4 }, () => run(dir, log)));

    expect(linesOf(log)).toBe(1);
    expect(ended.map(({ output }) => JSON.parse(output) as unknown)).toEqual(
      Array.from({ length: 4 }, () => ({ status: 'ok', result: { receipt: 42 }, own: true })),
    );
  });
});
