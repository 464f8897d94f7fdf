/** The command line: one program, a file for each command, and one place that turns what went wrong into a line and a number. */

import { Command, CommanderError } from 'commander';
import { addApprovals } from './approvals.ts';
import { addCall } from './call.ts';
import { addConformance } from './conformance.ts';
import { addExplain } from './explain.ts';
import { failureCode, lineOf } from './failure.ts';
import { addGrants } from './grants.ts';
import { addHelp } from './help.ts';
import { addInit } from './init.ts';
import { type Action, type CliIo } from './io.ts';
import { addPins } from './pins.ts';
import { addPolicy } from './policy.ts';
import { addProxy } from './proxy.ts';
import { addReceipts } from './receipts.ts';
import { addSchema } from './schema.ts';
import { addServe } from './serve.ts';
import { addValidate } from './validate.ts';
import { versionOf } from './version.ts';
import { addWrap } from './wrap.ts';

/** Adds one command. `run` gives its action an exit code and its errors a line. */
export type AddCommand = (program: Command, io: CliIo, run: (action: Action) => Promise<void>) => void;

const COMMANDS: readonly AddCommand[] = [
  addInit,
  addExplain,
  addCall,
  addValidate,
  addProxy,
  addServe,
  addWrap,
  addReceipts,
  addPolicy,
  addApprovals,
  addGrants,
  addPins,
  addConformance,
  addSchema,
];

const MORE = `
Exit codes: 0 fine, 1 a finding, 2 a mistake in the call or a missing file.
"allium help <command>" shows how a command is used.`;

/** Runs the command line and answers the exit code. Never throws. */
export async function runCli(args: readonly string[], io: CliIo, commands: readonly AddCommand[] = COMMANDS): Promise<number> {
  let code = 0;
  const run = async (action: Action): Promise<void> => {
    code = await action();
  };
  try {
    await buildProgram(io, run, commands).parseAsync([...args], { from: 'user' });
    return stoppedBy(io.signal) ?? code;
  } catch (error) {
    // commander has written its own line already. Help is no mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    // Whatever a command fails with for want of a reader, it was not asked to go on.
    if (io.signal.reason === 'EPIPE') return 0;
    return stoppedBy(io.signal) ?? failureCode(error, io);
  }
}

/** The whole program. `run` is told what to do when a command is chosen. */
export function buildProgram(io: CliIo, run: (action: Action) => Promise<void>, commands: readonly AddCommand[] = COMMANDS): Command {
  const program = new Command('allium')
    .description('Govern the tool calls of AI agents.')
    .usage('<command> [options]')
    .version(versionOf(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .addHelpText('after', MORE);
  for (const add of [...commands, addHelp]) add(program, io, run);
  // Subcommands do not inherit how the program ends: without this the first usage mistake would end the process.
  for (const command of everyCommand(program)) command.exitOverride().configureOutput(outputFor(io, command));
  return program;
}

const outputFor = ({ stdout, stderr }: CliIo, command: Command) => ({
  writeOut: (text: string) => void stdout.write(text),
  writeErr: (text: string) => void stderr.write(text),
  getOutHelpWidth: () => widthOf(stdout),
  getErrHelpWidth: () => widthOf(stderr),
  outputError: (text: string, write: (text: string) => void) =>
    write(`${lineOf(`allium: ${text.replace(/^error: /, '').trim()}`)} (${pathOf(command)} --help shows how)\n`),
});

/** A terminal that does not know its size says 0. */
const widthOf = ({ isTTY, columns = 0 }: CliIo['stdout']): number => (isTTY === true && columns > 0 ? columns : 80);

const pathOf = (command: Command): string => (command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`);

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap((child) => everyCommand(child))];

/** As a shell counts it: 128 and the number of the signal. `null` where none came. */
function stoppedBy({ aborted, reason }: AbortSignal): number | null {
  if (!aborted || reason === 'EPIPE') return null;
  return reason === 'SIGTERM' ? 143 : 130;
}
