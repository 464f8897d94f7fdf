/**
 * What it costs to read receipts back: verifying a chain against a bare loop over the same files
 * that hashes each line, and finding one call against just reading them. Sides are measured in
 * turns by the wall clock, because signatures are checked on other threads: the first ratio is
 * better with more cores, and means nothing on a busy machine. `RECEIPTS=100000` makes a smaller
 * chain.
 */

import { strict as assert } from 'node:assert';
import { generateKeyPairSync, hash } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localReceiptSink, queryReceipts, type Receipt, verifyReceipts } from 'allium/receipts';
import type { Measured } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { ratioGoal, renderRows, type Report, rowsOf } from './report.ts';

const COUNT = Number(process.env.RECEIPTS ?? 1_000_000);
const MAX_ROUNDS = 7;
const VERIFY = `verify ${COUNT} receipts`;
const FIND = `find one of ${COUNT} calls`;
const HASH_LINES = 'hash each line';
const READ = 'read';
const PIECE = 1024 * 1024;
const MAX_GROWTH_MIB = 64;

interface Side {
  readonly group: string;
  readonly name: string;
  readonly run: () => Promise<void> | void;
}

export async function receiptsBench(options: BenchOptions): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'));
  try {
    options.onProgress(`writing ${COUNT} receipts`);
    const publicKey = await writeChain(folder);
    const sides = sidesFor(folder, publicKey).filter((side) => options.matches(side));
    const measured = await measureSides(sides, options);
    const rows = [
      ...rowsOf(
        measured.filter(({ group }) => group === VERIFY),
        HASH_LINES,
      ),
      ...rowsOf(
        measured.filter(({ group }) => group === FIND),
        READ,
      ),
    ];
    const text = [VERIFY, FIND]
      .map((group) =>
        renderRows(
          rows.filter((row) => row.group === group),
          group === VERIFY ? HASH_LINES : READ,
        ),
      )
      .join('\n\n');
    const growth = await growthMib(() => verifyOnce(folder, publicKey));
    return {
      bench: 'receipts',
      text,
      data: rows,
      goals: [
        ratioGoal(measured, VERIFY, 'verifyReceipts', HASH_LINES, 1.5),
        ratioGoal(measured, FIND, 'queryReceipts', READ, 4),
        {
          text: 'MiB of memory verifying takes at most',
          value: growth,
          relation: '<',
          limit: MAX_GROWTH_MIB,
        },
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sidesFor(folder: string, publicKey: string): readonly Side[] {
  const wanted = `call-${Math.floor(COUNT * 0.9)}`;
  return [
    { group: VERIFY, name: HASH_LINES, run: () => assert.ok(hashLines(folder) > COUNT) },
    { group: VERIFY, name: 'verifyReceipts', run: () => verifyOnce(folder, publicKey) },
    { group: VERIFY, name: 'verifyReceipts without a key', run: () => verifyOnce(folder, null) },
    { group: FIND, name: READ, run: () => void readAll(folder, () => 0) },
    {
      group: FIND,
      name: 'queryReceipts',
      run: async () => {
        let count = 0;
        for await (const { tool_call_id } of queryReceipts(folder, { callId: wanted }))
          if (tool_call_id === wanted) count += 1;
        assert.equal(count, 1);
      },
    },
  ];
}

async function verifyOnce(folder: string, publicKey: string | null): Promise<void> {
  const report = await verifyReceipts(folder, publicKey === null ? {} : { publicKey });
  assert.ok(report.ok);
  assert.equal(report.count, COUNT);
}

/**
 * One round to warm up, then a sample of each side per round. Whole files are long samples: a few
 * rounds do.
 */
async function measureSides(
  sides: readonly Side[],
  { rounds, onProgress }: BenchOptions,
): Promise<readonly Measured[]> {
  const samples = sides.map(() => new Array<number>());
  const all = Math.min(rounds, MAX_ROUNDS);
  for (let round = -1; round < all; round++) {
    onProgress(round < 0 ? 'warming up' : `round ${round + 1} of ${all}`);
    for (const [index, { run }] of sides.entries()) {
      const startedAt = performance.now();
      await run();
      if (round >= 0) samples[index]?.push(((performance.now() - startedAt) * 1e6) / COUNT);
    }
  }
  return sides.map(({ group, name }, index) => ({ group, name, samples: samples[index] ?? [] }));
}

/** How much more memory the process has at most while something runs. */
async function growthMib(run: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 5);
  await run();
  clearInterval(timer);
  return (most - before) / 2 ** 20;
}

/** Reads every file piece by piece. `take` says how many bytes at the front it is done with. */
function readAll(folder: string, take: (bytes: Buffer) => number): void {
  const buffer = Buffer.allocUnsafe(2 * PIECE);
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.jsonl'))) {
    const file = openSync(join(folder, name), 'r');
    for (let carried = 0; ; ) {
      const read = readSync(file, buffer, carried, PIECE, null);
      if (read === 0) break;
      const bytes = buffer.subarray(0, carried + read);
      const done = take(bytes);
      carried = done === 0 ? 0 : bytes.length - done;
      if (done > 0) bytes.copyWithin(0, done);
    }
    closeSync(file);
  }
}

function hashLines(folder: string): number {
  let count = 0;
  readAll(folder, (bytes) => {
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      if (hash('sha256', bytes.subarray(start, end)) !== '') count += 1;
      start = end + 1;
    }
    return start;
  });
  return count;
}

/** A real chain of the usual size, by the writer itself. Answers its public key. */
async function writeChain(folder: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const sink = localReceiptSink({ dir: folder, key: false, signingKey: privateKey });
  for (let n = 1; n <= COUNT; n++) {
    sink.append('bench-session', () => receiptAt(n), 'background');
    if (n % 10_000 === 0) await sink.flush();
  }
  await sink.close();
  return sink.publicKey;
}

/** Digests are most of a receipt, and how fast a search is depends on what they look like. */
const digestOf = (text: string): string => `sha256:${hash('sha256', text)}`;

function receiptAt(n: number): Receipt {
  const [args, result] = [digestOf(`args ${n}`), digestOf(`result ${n}`)];
  return {
    ...{
      schema_version: 1,
      record: 'receipt',
      session_id: 'bench-session',
      run_id: 'run-1',
      tool_call_id: `call-${n}`,
    },
    ...{ tool_name: 'search_orders', iteration: 1, turn_index: 0, emit_order: 0 },
    ...{
      reason: 'The user asked which of their orders are late.',
      kind: 'search',
      executor: 'local',
      status: 'ok',
    },
    ...{
      error_category: null,
      executed: 'yes',
      blocked_by: null,
      duration_ms: 1.5,
      requested_hash: args,
      approved_hash: args,
    },
    ...{
      executed_hash: args,
      args_hash: args,
      result_hash: result,
      model: 'model-1',
      provider: 'provider-1',
    },
    audit: {
      kind: 'search',
      layers: [{ name: 'timeout', status: 'ok' }],
      summary: 'search_orders: ok',
    },
    emitted_at: '2026-01-01T00:00:00.000Z',
  };
}
