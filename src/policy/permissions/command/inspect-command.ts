/** What a command line would run and write, for tools that say so before they do it. */

import type { CommandConcern } from './command-reading.ts';
import { type CommandSource, readCommand } from './read-command.ts';

/** What was seen in a command. */
export interface CommandInspection {
  /** Every program, in the order of being found; `null` where the name is only known when it runs. */
  readonly programs: readonly (string | null)[];
  /** Every file that a redirect writes, as written in the line; `null` where the name is only known when it runs. */
  readonly writes: readonly (string | null)[];
  /** What could not be followed or read, each once. Where this is not empty the lists may be incomplete. */
  readonly concerns: readonly CommandConcern[];
}

/**
 * Reads a line for bash or a POSIX shell, or a list of arguments, without running anything. A tool can propose a `filesystem.write`
 * for each file, so that `pathPolicy` sees it too. It does not know which files the programs themselves write.
 */
export function inspectCommand(source: CommandSource): CommandInspection {
  const { invocations, findings, writes } = readCommand(source);
  const concerns = [...invocations.flatMap((invocation) => invocation.findings), ...findings].map(
    ({ code }) => code,
  );
  return {
    programs: invocations.map(({ words }) => words[0]?.literal ?? null),
    writes: [...writes],
    concerns: [...new Set(concerns)],
  };
}
