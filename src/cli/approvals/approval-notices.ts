/** The approvals of a command that asks people, who are told of each one that is kept. */

import { join } from 'node:path';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { NotifyCommand, NotifySettings } from '../../config/index.ts';
import { codeFor, createCode } from '../../approvals/store/approval-code.ts';
import { withAdd } from '../../approvals/store/approval.ts';
import { type Approval, type ApprovalStore, fileApprovals } from '../../policy/index.ts';
import { codeKey } from '../../receipts/key-files.ts';
import { type Command, endOfCommand, startCommand } from '../../artifacts/builtins/run-command.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { shellWord } from './approvals-source.ts';
import { safeText } from '../io/text-table.ts';

export interface NoticeParts extends NotifierParts {
  /** Absent: nobody is told. */
  readonly notify: NotifySettings | undefined;
  readonly stateDir: string;
  /** Told what went wrong with telling people. Never gets a code or an argument. */
  readonly report: (problem: string) => void;
}

export interface ApprovalNotices {
  readonly store: ApprovalStore;
  /** Resolves when everybody was told, or could not be. */
  settled(): Promise<void>;
}

/** The folder of the keys that belong to a folder of approvals: both lie in the state folder. */
export const keysBeside = (dir: string): string => join(dir, '..', 'keys');

/**
 * A question is kept whether or not somebody can be told of it, and the call does not wait for the
 * telling.
 */
export function approvalNotices({
  notify,
  stateDir,
  report,
  ...parts
}: NoticeParts): ApprovalNotices {
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
          `no person was told of ${given.id}: ${thrown instanceof Error ? thrown.message : 'it failed'}`,
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

interface CodeParts extends Pick<NoticeParts, 'report'> {
  readonly notifier: Notifier;
  readonly dir: string;
}

/**
 * With a code where somebody can be told it. It goes to the notifier and is forgotten here: only
 * its hash is kept.
 */
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

/** What a person is told. The code is in nothing else that leaves the process. */
interface Notice {
  readonly approval: Approval;
  /** `null` where none could be made: the call is approved at a terminal then. */
  readonly code: string | null;
  /** The folder of the approvals. */
  readonly dir: string;
}

interface Notifier {
  /** Whether anybody can be told right now. Without that no code is made. */
  canTell(): boolean;
  /** Rejects with a message that holds nothing of the notice. */
  tell(notice: Notice): Promise<void>;
}

interface NotifierParts {
  /** The folder that the command runs in. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Long enough for a message over the network, and short enough that a command that hangs is
 * noticed.
 */
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 4096;

/** The notifier that the file asks for. */
const notifierFrom = (settings: NotifySettings, parts: NotifierParts): Notifier =>
  settings === 'terminal' ? terminalNotifier : commandNotifier(settings, parts);

/**
 * The question is on standard input and in no argument: every user of the machine can read the
 * arguments of a program.
 */
function commandNotifier(
  { command, timeoutMs = DEFAULT_TIMEOUT_MS }: NotifyCommand,
  { folder, env }: NotifierParts,
): Notifier {
  const [program = '', ...args] = command;
  const known = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return {
    canTell: () => true,
    async tell(notice) {
      const run: Command = {
        argv: [program, ...args],
        env: known,
        stdin: `${JSON.stringify(noticeOf(notice))}\n`,
        timeoutMs,
        clock: systemClock,
        // What the command prints may repeat the code: it is read, so that the command can end, and
        // dropped.
        maxOutputBytes: MAX_OUTPUT_BYTES,
        signal: new AbortController().signal,
      };
      const ended = await endOfCommand(startCommand(run, folder), run).catch(() => null);
      if (ended === null) throw new Error('the command of "notify" could not be started');
      if (ended.timedOut)
        throw new Error(`the command of "notify" took longer than ${timeoutMs} ms and was ended`);
      if (ended.exitCode !== 0)
        throw new Error(`the command of "notify" ended with ${ended.exitCode}`);
    },
  };
}

/** What a command gets, in the spelling of everything that leaves the process. */
function noticeOf({ approval, code, dir }: Notice): JsonObject {
  const { id, kind, toolName, callId, turn, shown, options, requestedAt, expiresAt } = approval;
  return {
    id,
    kind,
    tool_name: toolName,
    tool_call_id: callId,
    session_id: turn.sessionId,
    shown,
    options: [...options],
    requested_at: requestedAt,
    expires_at: expiresAt,
    code,
    dir,
    approve: approveLine({ approval, code, dir }),
  };
}

/** What a person types who has the code and no terminal at hand. */
const approveLine = ({ approval: { id }, code, dir }: Notice): string =>
  `allium approvals approve ${shellWord(id)} --dir ${shellWord(dir)}${code === null ? '' : ` --code ${code}`}`;

/**
 * The bell and two lines, also where standard error goes to a file: a client's log is read by
 * agents.
 */
const terminalNotifier: Notifier = {
  canTell() {
    const file = openScreen();
    if (file !== null) closeSync(file);
    return file !== null;
  },
  async tell({ approval: { id, toolName }, code, dir }) {
    const file = openScreen();
    if (file === null) throw new Error('there is no terminal to tell anybody on');
    try {
      const look = `allium approvals show ${shellWord(id)} --dir ${shellWord(dir)}`;
      const lines = [
        `${safeText(toolName)} waits for your decision: ${look}`,
        ...(code === null ? [] : [`its code is ${code}`]),
      ];
      writeSync(file, `\u0007\r\n${lines.map((line) => `allium: ${line}\r\n`).join('')}`);
    } catch {
      throw new Error('the terminal could not be written to');
    } finally {
      closeSync(file);
    }
  },
};

/** Does not wait: a terminal that was stopped with Ctrl-S would hold up every call. */
function openScreen(): number | null {
  try {
    return openSync('/dev/tty', constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}
