/**
 * A process whose calls somebody approves, until it is killed. Started by the runs about approvals.
 */

import { appendFileSync } from 'node:fs';
import { consent } from '../../../middleware/consent/consent.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { defineTool, type GovernedTools, governTools } from '../../../src/index.ts';
import { answerApproval, type ApprovalStore, fileApprovals } from '../../../src/policy/index.ts';

/** What the process is told, as JSON in its first argument. */
export interface HostOrders {
  readonly dir: string;
  /** Every run of the tool adds its call's id here, by a write that a kill cannot take back. */
  readonly effects: string;
  /** Begins every call id. */
  readonly name: string;
  /**
   * `forgetful` is the mistake that the runs must find: it keeps in memory only that it has taken a
   * call up.
   */
  readonly kind: 'allium' | 'forgetful';
}

const LANES = 4;
const MAX_WORK_MS = 6;
const pause = (ms: number) => new Promise<void>((resolve) => void systemClock.after(ms, resolve));

/** A tool with one effect that can be counted, in the middle of its work. */
export function hostOf(approvals: ApprovalStore, effects: string): GovernedTools {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    async execute(_args, { callId }) {
      await pause(callId.length % MAX_WORK_MS);
      appendFileSync(effects, `${callId}\n`);
      await pause((callId.length + 3) % MAX_WORK_MS);
      return 'paid';
    },
  });
  return governTools({ tools: [pay], layers: [consent({ default: 'ask' })], approvals });
}

function forgetful(approvals: ApprovalStore): ApprovalStore {
  return {
    ...approvals,
    replace: (approval) => (approval.taken === null ? approvals.replace(approval) : true),
  };
}

async function lane(governed: GovernedTools, store: ApprovalStore, name: string): Promise<never> {
  for (let nth = 0; ; nth += 1) {
    const id = `${name}-${'x'.repeat(nth % MAX_WORK_MS)}${nth}`;
    const { interruption } = await governed.call({ name: 'pay', arguments: { nth }, id });
    await answerApproval(store, interruption?.id ?? '', { decision: 'allow_once' });
    await governed.resume(interruption?.id ?? '');
    // The first call compiles and loads: killed before, most hosts would have done nothing yet.
    if (nth === 0) process.stdout.write('ready\n');
  }
}

if (process.argv[2] !== undefined && process.argv[1] === import.meta.filename) {
  // Its parent wrote it.
  const { dir, effects, name, kind } = JSON.parse(process.argv[2]) as HostOrders;
  const store = kind === 'allium' ? fileApprovals({ dir }) : forgetful(fileApprovals({ dir }));
  const governed = hostOf(store, effects);
  await Promise.all(
    Array.from({ length: LANES }, (_, nth) => lane(governed, store, `${name}-${nth}`)),
  );
}
