/** The approvals of a command that asks people, who are told of each one that is kept. */

import { join } from 'node:path';
import type { NotifySettings } from '../config/index.ts';
import { codeFor, createCode } from '../policy/approvals/approval-code.ts';
import { withAdd } from '../policy/approvals/approval-store.ts';
import { type Approval, type ApprovalStore, fileApprovals } from '../policy/index.ts';
import { codeKey } from '../receipts/key-files.ts';
import { type Notice, type Notifier, notifierFrom, type NotifierParts } from './notify.ts';

export interface ToldParts extends NotifierParts {
  /** Absent: nobody is told. */
  readonly notify: NotifySettings | undefined;
  readonly stateDir: string;
  /** Told what went wrong with telling people. Never gets a code or an argument. */
  readonly report: (problem: string) => void;
}

export interface ToldApprovals {
  readonly store: ApprovalStore;
  /** Resolves when everybody was told, or could not be. */
  settled(): Promise<void>;
}

/** The folder of the keys that belong to a folder of approvals: both lie in the state folder. */
export const keysBeside = (dir: string): string => join(dir, '..', 'keys');

/** A question is kept whether or not somebody can be told of it, and the call does not wait for the telling. */
export function toldApprovals({ notify, stateDir, report, ...parts }: ToldParts): ToldApprovals {
  const dir = join(stateDir, 'approvals');
  const files = fileApprovals({ dir });
  if (notify === undefined) return { store: files, settled: async () => {} };
  const notifier = notifierFrom(notify, parts);
  const telling = new Set<Promise<void>>();
  const add = async (given: Approval): Promise<void> => {
    const notice = await noticeFor(given, { notifier, dir, report });
    await files.add(notice.approval);
    const told = notifier
      .tell(notice)
      .catch((thrown: unknown) =>
        report(
          `nobody was told of ${given.id}: ${thrown instanceof Error ? thrown.message : 'it failed'}`,
        ),
      )
      .finally(() => telling.delete(told));
    telling.add(told);
  };
  return {
    store: withAdd(files, add),
    async settled() {
      await Promise.all(telling);
    },
  };
}

interface CodeParts extends Pick<ToldParts, 'report'> {
  readonly notifier: Notifier;
  readonly dir: string;
}

/** With a code where somebody can be told it. It goes to the notifier and is forgotten here: only its hash is kept. */
async function noticeFor(
  approval: Approval,
  { notifier, dir, report }: CodeParts,
): Promise<Notice> {
  if (!notifier.canTell()) return { approval, code: null, dir };
  try {
    const code = createCode();
    const kept = await codeFor(codeKey(keysBeside(dir)), approval.id, code);
    return { approval: Object.freeze({ ...approval, code: kept }), code, dir };
  } catch {
    report(`${approval.id} has no code: the key for codes cannot be used`);
    return { approval, code: null, dir };
  }
}
