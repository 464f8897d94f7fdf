/** The command line: one program, a file for each command, and one place that turns what went wrong into a line and a number. */

import { Command, CommanderError } from 'commander';
import { isAlliumError } from '../index.ts';
import { addConformance } from './conformance.ts';
import { type Action, type CliIo, UsageError } from './io.ts';

/** Adds one command. `run` gives its action an exit code and its errors a line. */
export type AddCommand = (program: Command, io: CliIo, run: (action: Action) => Promise<void>) => void;

const COMMANDS: readonly AddCommand[] = [addConformance];

/** Runs the command line and answers the exit code. Never throws. */
export async function runCli(args: readonly string[], io: CliIo, commands: readonly AddCommand[] = COMMANDS): Promise<number> {
  let code = 0;
  const run = async (action: Action): Promise<void> => {
    code = await action();
  };
  const program = programFor(io);
  for (const add of commands) add(program, io, run);
  // Subcommands do not inherit how the program ends: without this the first usage mistake would end the process.
  for (const command of everyCommand(program))
    command.exitOverride().configureOutput(outputFor(io)).showHelpAfterError('(--help shows how)');
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    return codeOf(error, io);
  }
}

function programFor(io: CliIo): Command {
  return new Command('allium')
    .description('Govern the tool calls of AI agents.')
    .exitOverride()
    .configureOutput(outputFor(io))
    .showSuggestionAfterError(true);
}

const outputFor = ({ stdout, stderr }: CliIo) => ({
  writeOut: (text: string) => void stdout.write(text),
  writeErr: (text: string) => void stderr.write(text),
});

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap((child) => everyCommand(child))];

/** One line that says what and where. Stack traces are for `ALLIUM_DEBUG`. */
function codeOf(error: unknown, { stderr, env, signal }: CliIo): number {
  // commander has written its own line already. Help is no mistake.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (signal.aborted) return 130;
  const isExpected = error instanceof UsageError || isAlliumError(error);
  const text = error instanceof Error ? error.message : String(error);
  stderr.write(`allium: ${isExpected ? '' : 'unexpected: '}${isExpected ? text : (text.split('\n')[0] ?? '')}\n`);
  if (env.ALLIUM_DEBUG !== undefined && error instanceof Error) stderr.write(`${error.stack ?? ''}\n`);
  return isExpected ? 2 : 1;
}
