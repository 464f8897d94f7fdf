/** Where commands look for what people decided, and who decides. */

import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { RecordProblem } from '../../system/record-files.ts';
import { type CliIo, finding, UsageError } from '../io/io.ts';
import { stateOf } from '../receipts/receipts-source.ts';
import { safeText } from '../io/text-table.ts';

/** Options of every subcommand. */
export interface KeptOptions {
  readonly dir?: string;
}

/** The option that names the folder. */
export const inFolder =
  (name: string) =>
  (command: Command): Command =>
    command.option(
      '--dir <folder>',
      `the folder of the ${name} (default: "${name}" in $ALLIUM_STATE_DIR, or in .allium)`,
    );

/** Files that hold nothing, left out of what was printed. Answers the exit code. */
export function leftOut(problems: readonly RecordProblem[], io: CliIo, hint?: string): number {
  for (const { file, message } of problems) finding(io, `${safeText(file)}: ${safeText(message)}`);
  if (problems.length === 0) return 0;
  return hint === undefined ? 1 : finding(io, hint);
}

/**
 * The folder of that name, as a stack from a file keeps it. One that was named must be there;
 * without it nobody has decided anything yet.
 */
export function keptIn(name: string, { dir }: KeptOptions, io: CliIo): string {
  const folder = dir === undefined ? join(stateOf({}, io), name) : resolve(io.cwd, dir);
  if (dir !== undefined && !existsSync(folder))
    throw new UsageError(`${safeText(folder)}: there is no such folder`);
  return folder;
}

/** What a store throws is about its folder and files, which is a mistake in the call. */
export async function asked<T>(ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof Error && !('code' in error) ? new UsageError(error.message) : error;
  }
}

/** For the record, not as proof. A user without an entry has no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown user';
  }
}
