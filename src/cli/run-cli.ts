/**
 * The command line: one program, a file for each command, and one place that turns what went wrong
 * into a line and a number.
 */

import { Command, CommanderError } from 'commander';
import { ownVersion } from '../system/own-package.ts';
import { failureCode, lineOf } from './io/failure.ts';
import { type Action, type AddCommand, type CliIo, UsageError } from './io/io.ts';
import { closest } from '../core/contract/closest.ts';

const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  init: async () => (await import('./init.ts')).addInit,
  explain: async () => (await import('./explain.ts')).addExplain,
  call: async () => (await import('./call.ts')).addCall,
  validate: async () => (await import('./validate.ts')).addValidate,
  proxy: async () => (await import('./proxy/proxy.ts')).addProxy,
  serve: async () => (await import('./serve.ts')).addServe,
  wrap: async () => (await import('./wrap/wrap.ts')).addWrap,
  receipts: async () => (await import('./receipts/receipts.ts')).addReceipts,
  policy: async () => (await import('./policy.ts')).addPolicy,
  approvals: async () => (await import('./approvals/approvals.ts')).addApprovals,
  grants: async () => (await import('./grants.ts')).addGrants,
  pins: async () => (await import('./pins.ts')).addPins,
  conformance: async () => (await import('./conformance.ts')).addConformance,
  schema: async () => (await import('./schema.ts')).addSchema,
};

const MORE = `
Exit codes: 0 fine, 1 a finding, 2 a mistake in the call or a missing file.
"allium help <command>" shows how a command is used.`;

/** Runs the command line and answers the exit code. Never throws. */
export async function runCli(
  args: readonly string[],
  io: CliIo,
  commands?: readonly AddCommand[],
): Promise<number> {
  let code = 0;
  const run = async (action: Action): Promise<void> => {
    code = await action();
  };
  try {
    await buildProgram(io, run, commands ?? (await commandsFor(args))).parseAsync([...args], {
      from: 'user',
    });
    return stoppedBy(io.signal) ?? code;
  } catch (error) {
    // commander has written its own line already. Help is no mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    // Whatever a command fails with for want of a reader, it was not asked to go on.
    if (io.signal.reason === 'EPIPE') return 0;
    return stoppedBy(io.signal) ?? failureCode(error, io);
  }
}

/**
 * The one that is named first, and all where none is: a command loads much that the others do not
 * need.
 */
export async function commandsFor([name = '']: readonly string[]): Promise<readonly AddCommand[]> {
  const chosen = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const loads = chosen === undefined ? Object.values(COMMANDS) : [chosen];
  return Promise.all(loads.map((load) => load()));
}

/** A program of these commands. `run` is told what to do when one is chosen. */
export function buildProgram(
  io: CliIo,
  run: (action: Action) => Promise<void>,
  commands: readonly AddCommand[],
): Command {
  const program = new Command('allium')
    .description('Govern the tool calls of AI agents.')
    .usage('<command> [options]')
    .version(ownVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .addHelpText('after', MORE);
  for (const add of [...commands, addHelp]) add(program, io, run);
  // Subcommands do not inherit how the program ends: without this the first usage mistake would end
  // the process.
  for (const command of everyCommand(program))
    command.exitOverride().configureOutput(outputFor(io, command));
  return program;
}

const outputFor = ({ stdout, stderr }: CliIo, command: Command) => ({
  writeOut: (text: string) => void stdout.write(text),
  writeErr: (text: string) => void stderr.write(text),
  getOutHelpWidth: () => widthOf(stdout),
  getErrHelpWidth: () => widthOf(stderr),
  outputError: (text: string, write: (text: string) => void) =>
    write(
      `${lineOf(`allium: ${text.replace(/^error: /, '').trim()}`)} (${pathOf(command)} --help shows how)\n`,
    ),
});

/** A terminal that does not know its size says 0. */
const widthOf = ({ isTTY, columns = 0 }: CliIo['stdout']): number =>
  isTTY === true && columns > 0 ? columns : 80;

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

const everyCommand = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap((child) => everyCommand(child)),
];

/** As a shell counts it: 128 and the number of the signal. `null` where none came. */
function stoppedBy({ aborted, reason }: AbortSignal): number | null {
  if (!aborted || reason === 'EPIPE') return null;
  return reason === 'SIGTERM' ? 143 : 130;
}

/** Adds the command. commander's own shows the general help for a name that it does not know. */
const addHelp: AddCommand = (program, _io, run) => {
  program
    .command('help')
    .description('show how a command is used')
    .argument('[command...]', 'the command, and the command of that')
    .addHelpText('after', '\nExamples:\n  allium help\n  allium help schema')
    .action((names: readonly string[]) =>
      run(() => {
        names.reduce(commandIn, program).outputHelp();
        return 0;
      }),
    );
};

function commandIn(parent: Command, name: string): Command {
  const found = parent.commands.find(
    (each) => each.name() === name || each.aliases().includes(name),
  );
  if (found !== undefined) return found;
  const meant = closest(
    name,
    parent.commands.map((each) => each.name()),
  );
  throw new UsageError(
    `there is no command "${name}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
  );
}

/**
 * Runs what the process was started with, and sets its exit code. Other commands than the real ones
 * are for tests.
 */
export async function runProcess(commands?: readonly AddCommand[]): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const interrupted = new AbortController();
  // The first Ctrl-C asks; the second one is the system's own, which ends the process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(signal));
  // A reader that has seen enough (`| head`) is no error: the command ends as if it had been asked
  // to.
  stdout.on('error', (error: NodeJS.ErrnoException) =>
    error.code === 'EPIPE' ? interrupted.abort('EPIPE') : process.exit(1),
  );
  stderr.on('error', () => {});
  process.once('uncaughtException', (error) => process.exit(failureCode(error, { stderr, env })));

  const io = { stdin, stdout, stderr, env, cwd: process.cwd(), signal: interrupted.signal };
  process.exitCode = await runCli(process.argv.slice(2), io, commands);
}
