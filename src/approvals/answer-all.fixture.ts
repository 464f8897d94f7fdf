/**
 * A process that looks at every approval of a folder, waits until it is told to, answers them all
 * at once, and says which answers counted.
 */

import { answerApproval } from './store/answer-approval.ts';
import type { Approval, ApprovalStore } from './store/approval.ts';
import { fileApprovals } from './store/approval-stores.ts';

const [dir = '', decision = '', kind = ''] = process.argv.slice(2);
const files = fileApprovals({ dir });
const seen = new Map((await files.list()).map((approval) => [approval.id, approval]));

/**
 * What was seen before the start is what the first look gives: the worst that two processes can do
 * to each other.
 */
const store: ApprovalStore = {
  ...files,
  get(id) {
    const before = seen.get(id);
    seen.delete(id);
    return before ?? files.get(id);
  },
  ...(kind === 'naive' ? { replace: writeAnyway } : {}),
};

/** The mistake that the test must find: whatever is there now is replaced. */
async function writeAnyway(approval: Approval): Promise<boolean> {
  const now = await files.get(approval.id);
  const isDone = await files.replace({ ...approval, revision: (now?.revision ?? 0) + 1 });
  return isDone || writeAnyway(approval);
}

async function answerAll(): Promise<void> {
  const ids = [...seen.keys()];
  const won = await Promise.all(
    ids.map((id) =>
      answerApproval(store, id, { decision }).then(
        () => true,
        () => false,
      ),
    ),
  );
  process.stdout.write(`${JSON.stringify(ids.filter((_id, at) => won[at]))}\n`);
  process.exit(0);
}

process.stdout.write('ready\n');
process.stdin.once('data', () => void answerAll());
