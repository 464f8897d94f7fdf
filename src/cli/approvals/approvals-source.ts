/** Approvals by the beginning of their id, and what is said where nothing was decided or run. */

import { isAlliumError } from '../../core/contract/errors.ts';
import type { Approval, ApprovalStore } from '../../policy/index.ts';
import { lineOf } from '../io/failure.ts';
import { type CliIo, UsageError } from '../io/io.ts';
import { asked } from './kept-source.ts';
import { safeText } from '../io/text-table.ts';

/**
 * The approval of that id, or the only one whose id begins like that, with or without `approval_`.
 */
export async function approvalIn(store: ApprovalStore, given: string): Promise<Approval | null> {
  const exact = await asked(() => store.get(given));
  if (exact !== null || given === '') return exact;
  const all = await asked(() => store.list({ ended: true }));
  const found = all.filter(({ id }) => id.startsWith(given) || id.startsWith(`approval_${given}`));
  if (found.length > 1)
    throw new UsageError(
      `${found.length} approvals begin with "${safeText(given)}"; write more of the id`,
    );
  return found[0] ?? null;
}

export function noApproval(given: string, io: CliIo): number {
  io.stderr.write(`allium: ERR_UNKNOWN_APPROVAL: there is no approval "${safeText(given)}"\n`);
  return 1;
}

const FINDINGS = [
  ...([
    'ERR_UNKNOWN_APPROVAL',
    'ERR_APPROVAL_PENDING',
    'ERR_APPROVAL_RESOLVED',
    'ERR_APPROVAL_EXPIRED',
  ] as const),
  ...(['ERR_APPROVALS_UNAVAILABLE', 'ERR_APPROVAL_CODE', 'ERR_UNKNOWN_TOOL'] as const),
] as const;

/**
 * Runs what decides about an approval, or takes it up. That it is too late for that is a finding,
 * and no mistake in the call.
 */
export async function orFinding(work: () => Promise<number>, io: CliIo): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const code = FINDINGS.find((known) => isAlliumError(error, known));
    if (code === undefined || !(error instanceof Error)) throw error;
    io.stderr.write(`${lineOf(`allium: ${code}: ${error.message}`)}\n`);
    return 1;
  }
}

/** A word as a shell takes it for one. */
export const shellWord = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${safeText(text).replaceAll("'", "'\\''")}'`;
