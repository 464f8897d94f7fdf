/** Tells people that a call waits, where no agent listens: by a command, or by a line on the controlling terminal. */

import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { type Command, endOfCommand, startCommand } from '../artifacts/builtins/run-command.ts';
import type { NotifyCommand, NotifySettings } from '../config/index.ts';
import { systemClock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { Approval } from '../policy/index.ts';
import { shellWord } from './approvals-source.ts';
import { safeText } from './text-table.ts';

/** What a person is told. The code is in nothing else that leaves the process. */
export interface Notice {
  readonly approval: Approval;
  /** `null` where none could be made: the call is approved at a terminal then. */
  readonly code: string | null;
  /** The folder of the approvals. */
  readonly dir: string;
}

export interface Notifier {
  /** Whether anybody can be told right now. Without that no code is made. */
  canTell(): boolean;
  /** Rejects with a message that holds nothing of the notice. */
  tell(notice: Notice): Promise<void>;
}

export interface NotifierParts {
  /** The folder that the command runs in. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Long enough for a message over the network, and short enough that a command that hangs is noticed. */
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 4096;

/** The notifier that the file asks for. */
export const notifierFrom = (settings: NotifySettings, parts: NotifierParts): Notifier =>
  settings === 'terminal' ? terminalNotifier : commandNotifier(settings, parts);

/** The question is on standard input and in no argument: every user of the machine can read the arguments of a program. */
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
        ...{
          env: known,
          stdin: `${JSON.stringify(noticeOf(notice))}\n`,
          timeoutMs,
          clock: systemClock,
        },
        // What the command prints may repeat the code: it is read, so that the command can end, and dropped.
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
    ...{
      id,
      kind,
      tool_name: toolName,
      tool_call_id: callId,
      session_id: turn.sessionId,
      shown,
      options: [...options],
    },
    ...{
      requested_at: requestedAt,
      expires_at: expiresAt,
      code,
      dir,
      approve: approveLine({ approval, code, dir }),
    },
  };
}

/** What a person types who has the code and no terminal at hand. */
const approveLine = ({ approval: { id }, code, dir }: Notice): string =>
  `allium approvals approve ${shellWord(id)} --dir ${shellWord(dir)}${code === null ? '' : ` --code ${code}`}`;

/** The bell and two lines, also where standard error goes to a file: a client's log is read by agents. */
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
