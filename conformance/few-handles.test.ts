import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryReceipts, verifyReceipts } from '../src/receipts/index.ts';
import { built } from '../src/stores/built.fixture.ts';
import type { HandleOrders } from './few-handles.fixture.ts';

interface Told {
  readonly dir: string;
  readonly id: string;
  readonly executed: string;
  readonly status: string;
  readonly ran: boolean;
}

const program = built('conformance/few-handles.fixture.ts');
let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'allium-handles-'));
}, 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }), 120_000);

/** Runs the calls in a process that may open 1024 files: loading modules alone takes hundreds. */
function run(orders: HandleOrders): readonly Told[] {
  const args = [
    '-c',
    'ulimit -n 1024; exec "$@"',
    'sh',
    process.execPath,
    program,
    JSON.stringify(orders),
  ];
  const { stdout } = spawnSync('sh', args, { encoding: 'utf8', timeout: 120_000 });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.at(-1)).toBe('done');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Told);
}

/** Calls that ran and have no receipt. */
async function lost(told: readonly Told[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const dir of new Set(told.map((each) => each.dir))) {
    const kept = new Set<string>();
    if (existsSync(dir))
      for await (const { tool_call_id } of queryReceipts(dir)) kept.add(tool_call_id);
    const ran = told.filter((each) => each.dir === dir && (each.ran || each.executed !== 'no'));
    missing.push(...ran.filter(({ id }) => !kept.has(id)).map(({ id }) => `${dir}: ${id}`));
  }
  return missing;
}

describe.skipIf(process.platform === 'win32')('a process that is out of file handles', () => {
  it('refuses calls or keeps their receipts, and never loses both', async () => {
    const told = run({ folder: join(root, 'ours'), naive: false });

    expect(await lost(told)).toEqual([]);
    const refused = told.filter(({ executed }) => executed === 'no');
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['audit_unavailable']));
    expect(refused.length).toBeGreaterThan(5);
    // A session that has its file keeps it; where there is room for one new session, others are
    // closed for the next.
    expect(refused.filter(({ id }) => id.startsWith('open-'))).toEqual([]);
    const canBegin = new Set(
      told.filter(({ id, executed }) => id === 'new-0' && executed === 'yes').map(({ dir }) => dir),
    );
    expect(refused.filter(({ dir }) => canBegin.has(dir))).toEqual([]);
    expect(canBegin.size).toBeGreaterThan(5);
    expect(told.filter(({ executed }) => executed === 'yes').length).toBeGreaterThan(100);
    for (const dir of new Set(told.map((each) => each.dir)))
      expect((await verifyReceipts(dir)).problems).toEqual([]);
  }, 150_000);

  it('loses both where nobody asks before the tool runs: the twin that the test catches', async () => {
    const told = run({ folder: join(root, 'naive'), naive: true });

    expect((await lost(told)).length).toBeGreaterThan(0);
  }, 150_000);
});
