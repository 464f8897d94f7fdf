/**
 * Kills processes while they run calls that were approved, takes up what they left, and counts what
 * ran twice.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlliumError } from '../../../src/core/contract/errors.ts';
import type { GovernedTools } from '../../../src/index.ts';
import { type Approval, approvalState, fileApprovals } from '../../../src/policy/index.ts';
import { createRandom } from '../fuzz/random.ts';
import { type HostOrders, hostOf } from './crash-host.ts';
import { killOne } from './crash-runs.ts';

/** How many kills, of what. */
export interface ApprovalRunOptions {
  readonly kills: number;
  readonly seed: number;
  readonly kind: HostOrders['kind'];
  /** The built `crash-host.js`. */
  readonly hostFile: string;
}

/** What came of it. */
export interface ApprovalFigures {
  readonly kills: number;
  readonly approvals: number;
  /** Calls that nobody had taken up: they ran after the restart. */
  readonly resumed: number;
  /** Calls that a process died with. */
  readonly unknown: number;
  /** Of those, the ones that had done their work. */
  readonly unknownThatRan: number;
  /** Calls whose tool ran more than once. */
  readonly twice: number;
  readonly problems: readonly string[];
}

type Sum = { -readonly [Name in keyof ApprovalFigures]: ApprovalFigures[Name] } & {
  problems: string[];
};

const MAX_DELAY_MS = 60;

/**
 * Each host gets a folder of its own, is killed at a random moment, and this process takes its
 * calls up, twice.
 */
export async function approvalRuns({
  kills,
  seed,
  kind,
  hostFile,
}: ApprovalRunOptions): Promise<ApprovalFigures> {
  const random = createRandom(seed);
  const sum: Sum = {
    kills: 0,
    approvals: 0,
    resumed: 0,
    unknown: 0,
    unknownThatRan: 0,
    twice: 0,
    problems: [],
  };
  for (; sum.kills < kills; sum.kills += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'allium-crash-'));
    const [dir, effects] = [join(folder, 'approvals'), join(folder, 'effects')];
    try {
      const orders: HostOrders = { dir, effects, name: `k${sum.kills}`, kind };
      await killOne(hostFile, orders, random.below(MAX_DELAY_MS));
      await takeUp(dir, effects, sum);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return sum;
}

async function takeUp(dir: string, effects: string, sum: Sum): Promise<void> {
  const store = fileApprovals({ dir });
  const governed = hostOf(store, effects);
  const all = await store.list({ ended: true });
  sum.approvals += all.length;
  for (const approval of all) await restart(governed, approval, effects, sum);
  const runs = countRuns(effects);
  for (const { callId } of all) if ((runs.get(callId) ?? 0) > 1) sum.twice += 1;
  // Another look must change nothing.
  for (const { id } of all) {
    const code = await governed
      .resume(id, { decision: 'allow_once' })
      .catch((thrown: unknown) => isAlliumError(thrown) && thrown.code);
    if (code !== 'ERR_APPROVAL_RESOLVED') sum.problems.push(`${id}: was taken up again`);
  }
  await governed.close();
}

async function restart(
  governed: GovernedTools,
  approval: Approval,
  effects: string,
  sum: Sum,
): Promise<void> {
  const { id, callId } = approval;
  const state = approvalState(approval, Date.now());
  const before = countRuns(effects).get(callId) ?? 0;
  const tell = (problem: string) => void sum.problems.push(`${id} (${state}): ${problem}`);
  if (state === 'ended') {
    if (before !== 1) tell(`ran ${before} times`);
    return;
  }
  const decision = state === 'pending' ? ({ decision: 'allow_once' } as const) : undefined;
  const { status, executed } = await governed.resume(id, decision);
  const ran = (countRuns(effects).get(callId) ?? 0) - before;
  if (state === 'lost') {
    sum.unknown += 1;
    sum.unknownThatRan += before;
    if (status !== 'outcome_unknown' || executed !== 'unknown' || ran !== 0)
      tell(`${status}, ran ${ran} times more`);
  } else {
    sum.resumed += 1;
    if (status !== 'ok' || ran !== 1) tell(`${status}, ran ${ran} times`);
  }
}

function countRuns(effects: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const ids = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : [];
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
