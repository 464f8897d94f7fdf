/**
 * What it costs that a receipt is on disk before anybody goes on: 64 writers at a time through the
 * receipt files with durability `fsync`, against a loop that writes 64 lines at once, waits for the
 * disk, and does nothing else meanwhile. Receipts are made the way the audit log makes them. The
 * lines of the loop are as long as ours, byte by byte: the same JSON with chain fields that never
 * change, so that it has nothing to hash. It blocks its thread, so that it has nobody to wake
 * either. Written through a descriptor with `O_DSYNC` it is as fast.
 *
 * Throughput is taken by the wall clock, because waiting is what is measured. Both sides are
 * measured in turns, so that every round gives a pair. How long one flush takes belongs to this
 * machine; the ratio travels.
 */

import { strict as assert } from 'node:assert';
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Receipt, ReceiptFields } from 'allium/receipts';
import type { Measured } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { renderRows, type Report, rowsOf, throughputGoal } from './report.ts';
import { receiptFiles } from './stack-scenario.ts';

const GROUP = 'durable receipts, 64 at a time';
const AT_A_TIME = 64;
/** Waves per sample: some ten milliseconds on a fast disk. */
const WAVES = 20;
const MIN_SHARE = 0.7;
const RAW = 'write + fdatasync';
const OURS = "append(…, 'fsync')";

export async function durableBench(options: BenchOptions): Promise<Report> {
  const raw = rawLoop();
  const ours = receiptLoop();
  const cases = [raw, ours].filter(({ name }) => options.matches({ group: GROUP, name }));
  try {
    for (const { run } of cases) for (let pass = 0; pass < 5; pass++) await run();
    options.onProgress(`${GROUP}: measuring ${options.rounds} rounds`);
    const samples = cases.map(() => new Array<number>());
    for (let round = 0; round < options.rounds; round++) {
      for (let i = 0; i < cases.length; i++) {
        const at = (round + i) % cases.length;
        const subject = cases[at];
        if (subject !== undefined) samples[at]?.push(await nsPerReceipt(subject.run));
        await turnOfTheLoop();
      }
    }
    const measured = cases.map(
      ({ name }, index): Measured => ({ group: GROUP, name, samples: samples[index] ?? [] }),
    );
    const rows = rowsOf(measured, RAW);
    return {
      bench: 'durable',
      text: renderRows(rows, RAW),
      data: rows,
      goals: [throughputGoal(measured, GROUP, OURS, RAW, MIN_SHARE)],
    };
  } finally {
    for (const { close } of [raw, ours]) await close();
  }
}

interface Loop {
  readonly name: string;
  /** Makes `AT_A_TIME * WAVES` receipts durable. */
  readonly run: () => Promise<void>;
  readonly close: () => Promise<void>;
}

async function nsPerReceipt(run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return ((performance.now() - startedAt) * 1e6) / (AT_A_TIME * WAVES);
}

/** Each line a receipt of its own; a batch is one write and one wait for the disk. */
function rawLoop(): Loop {
  const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'));
  const file = openSync(join(folder, 'lines.jsonl'), 'a');
  let n = 0;
  return {
    name: RAW,
    run: async () => {
      for (let wave = 0; wave < WAVES; wave++) {
        let lines = '';
        for (let i = 0; i < AT_A_TIME; i++) lines += rawLine((n += 1));
        writeSync(file, lines, null, 'latin1');
        fdatasyncSync(file);
      }
    },
    close: async () => {
      closeSync(file);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sixty-four callers, each going on when its receipt is kept. */
function receiptLoop(): Loop {
  const { folder, sink, remove } = receiptFiles();
  let n = 0;
  const caller = async (): Promise<void> => {
    for (let wave = 0; wave < WAVES; wave++) {
      const draft = { fields: fieldsAt((n += 1)), audit: AUDIT, emittedMs: EMITTED_MS };
      await sink.appendDraft?.(draft.fields.session_id, draft, 'fsync').kept;
    }
  };
  return {
    name: OURS,
    run: async () => void (await Promise.all(Array.from({ length: AT_A_TIME }, caller))),
    close: async () => {
      await sink.flush();
      proveAllThere(folder, n);
      await remove();
    },
  };
}

/**
 * Throws unless every receipt that was acknowledged is in a file, once, and as long as the line of
 * the other loop.
 */
function proveAllThere(folder: string, count: number): void {
  const files = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
  const found = files.flatMap((file) => [
    ...readFileSync(join(folder, file), 'utf8').matchAll(
      /^.*"tool_call_id":"call-(\d+)".*,"seq":(\d+),.*\n/gm,
    ),
  ]);
  assert.equal(found.length, count, 'receipts are missing, or there are too many');
  assert.equal(new Set(found.map(([, id]) => id)).size, count, 'a receipt was written twice');
  const withoutPlace = (line: string) =>
    line.replace(/"file:[^"#]*#/, '"#').replace(/"(prev_hash|hash)":"[^"]*"/g, '');
  for (const [line, id] of found)
    assert.equal(
      withoutPlace(line),
      withoutPlace(rawLine(Number(id))),
      'the lines that are compared differ',
    );
  const [first] = found;
  assert.ok(
    first !== undefined && Math.abs(first[0].length - rawLine(Number(first[1])).length) < 8,
    'the lines that are compared differ in length',
  );
}

const HASH = `sha256:${'0'.repeat(64)}`;

const CHAIN_FIELDS = `,"prev_hash":"${HASH}","hash":"${HASH}"}\n`;

/** What has as many bytes as the receipt of the same number in a chain. */
const rawLine = (n: number): string =>
  `${JSON.stringify(receiptAt(n)).slice(0, -1)},"seq":${n}${CHAIN_FIELDS}`;

const EMITTED_AT = '2026-01-01T00:00:00.000Z';
const EMITTED_MS = Date.parse(EMITTED_AT);
const AUDIT = Object.freeze({
  kind: 'search',
  layers: [{ name: 'timeout', status: 'ok' }],
  summary: 'search_orders: ok',
});
/** As long as the names of our files here. */
const FILE = pathToFileURL(
  join(tmpdir(), 'allium-bench-123456', 'receipts', `bench-session-${'0'.repeat(8)}.jsonl`),
).href;

/**
 * The same receipt as an object that has everything, written out in one: the loop is to be as fast
 * as it can be, and objects that are made alike would share their shapes with those of the other
 * side and slow both down.
 */
const receiptAt = (n: number): Receipt => ({
  schema_version: 1,
  record: 'receipt',
  session_id: 'bench-session',
  run_id: 'run-1',
  tool_call_id: `call-${n}`,
  tool_name: 'search_orders',
  iteration: 1,
  turn_index: 0,
  emit_order: 0,
  reason: 'The user asked which of their orders are late.',
  kind: 'search',
  executor: 'local',
  status: 'ok',
  error_category: null,
  executed: 'yes',
  blocked_by: null,
  duration_ms: 1.5,
  requested_hash: HASH,
  approved_hash: HASH,
  executed_hash: HASH,
  args_hash: HASH,
  result_hash: HASH,
  model: 'model-1',
  provider: 'provider-1',
  audit: {
    kind: AUDIT.kind,
    layers: AUDIT.layers,
    summary: AUDIT.summary,
    receipt_uri: `${FILE}#seq=${n}`,
  },
  emitted_at: EMITTED_AT,
});

/** A receipt of the usual size. */
const fieldsAt = (n: number): ReceiptFields => ({
  schema_version: 1,
  record: 'receipt',
  session_id: 'bench-session',
  run_id: 'run-1',
  tool_call_id: `call-${n}`,
  tool_name: 'search_orders',
  iteration: 1,
  turn_index: 0,
  emit_order: 0,
  reason: 'The user asked which of their orders are late.',
  kind: 'search',
  executor: 'local',
  status: 'ok',
  error_category: null,
  executed: 'yes',
  blocked_by: null,
  duration_ms: 1.5,
  requested_hash: HASH,
  approved_hash: HASH,
  executed_hash: HASH,
  args_hash: HASH,
  result_hash: HASH,
  model: 'model-1',
  provider: 'provider-1',
});
