/** What a command reads and writes, handed in: a command never touches `process` itself. */

import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';

/** The outside of a command. */
export interface CliIo {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /**
   * Aborted on the first Ctrl-C, and when nobody reads any more. A command then ends what it does
   * and leaves nothing half done.
   */
  readonly signal: AbortSignal;
  /**
   * Throws a `UsageError` that begins with `what` where there is none. @default the terminal that
   * controls this process
   */
  readonly openTerminal?: (what: string) => Terminal;
}

/** Both ends of the terminal that a program was started from, until it is closed. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable & { readonly columns?: number };
  readonly close: () => void;
}

/**
 * What a command does. It answers the exit code: 0 fine, 1 a finding, 2 usage or a missing file.
 */
export type Action = () => Promise<number> | number;

/** Adds one command. `run` gives its action an exit code and its errors a line. */
export type AddCommand = (
  program: Command,
  io: CliIo,
  run: (action: Action) => Promise<void>,
) => void;

/**
 * A mistake in how the command was called, or a file that is not there. Shown as one line; the exit
 * code is 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * A command of subcommands, each with the options of all and the help under its name. Answers what
 * adds one.
 */
export function commandGroup(
  program: Command,
  name: string,
  description: string,
  help: Readonly<Record<string, string>>,
  shared: (subcommand: Command) => Command,
): (usage: string, description: string) => Command {
  const helpOn = (usage: string) => help[usage.split(' ')[0] ?? ''] ?? '';
  const group = program.command(name).description(description).helpCommand(false);
  group.addHelpText('after', helpOn(name));
  return (usage, what) =>
    shared(group.command(usage).description(what)).addHelpText('after', helpOn(usage));
}

/** Says why there is nothing to show or to do. Answers the exit code. */
export function finding({ stderr }: CliIo, text: string): number {
  stderr.write(`allium: ${text}\n`);
  return 1;
}

/**
 * Writes a line. Waits while the reader is slow, so that a long output does not pile up in memory.
 */
export function writeLine(stream: Writable, line: string): Promise<void> | void {
  if (stream.write(`${line}\n`) || stream.destroyed) return;
  return new Promise((resolve) => {
    const go = (): void => {
      stream.off('drain', go).off('close', go).off('error', go);
      resolve();
    };
    stream.on('drain', go).on('close', go).on('error', go);
  });
}
