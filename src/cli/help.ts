/** `allium help`: how a command is used. */

import type { Command } from 'commander';
import { closest } from '../core/closest.ts';
import { UsageError } from './io.ts';
import type { AddCommand } from './run-cli.ts';

/** Adds the command. commander's own shows the general help for a name that it does not know. */
export const addHelp: AddCommand = (program, _io, run) => {
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
