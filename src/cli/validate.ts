/** `allium validate`: what is wrong with tools and hooks written as Markdown files. */

import { join, relative, resolve } from 'node:path';
import type { ArtifactProblem, Validation } from '../artifacts/index.ts';
import { colourFor, paint } from './colour.ts';
import { type CliIo, UsageError, writeLine } from './io.ts';
import type { AddCommand } from './run-cli.ts';
import { safeText } from './text-table.ts';
import { watchProject } from './watch-project.ts';

interface ValidateFlags {
  readonly lenient?: boolean;
  readonly strict?: boolean;
  readonly handler?: readonly string[];
  readonly json?: boolean;
  readonly watch?: boolean;
}

const collect = (value: string, values: readonly string[] | undefined): readonly string[] => [
  ...(values ?? []),
  value,
];

export const addValidate: AddCommand = (program, io, run) => {
  program
    .command('validate')
    .description('check tools and hooks written as Markdown files, and advise about them')
    .argument('[dir]', 'the root of the project', '.')
    .option('--lenient', "take files of the format's ancestor: unknown keys are warnings")
    .option('--strict', 'fail for warnings, too')
    .option(
      '--handler <name>',
      'a tool without a script that a program binds; can be given several times',
      collect,
    )
    .option(
      '--json',
      'print { ok, dir, files, tools, hooks, errors, warnings, problems }, with the schema of each tool',
    )
    .option('--watch', 'check again whenever a file changes, until it is stopped')
    .addHelpText('after', EXAMPLES)
    .action((dir: string, flags: ValidateFlags) =>
      run(async () => {
        const code = await checked(dir, flags, io);
        return flags.watch === true ? watched(dir, flags, io) : code;
      }),
    );
};

const EXAMPLES = `
Examples:
  allium validate
  allium validate agents/helper --strict
  allium validate --json | jq '.problems[]'
  allium validate --watch

Reads .allium/ and .harness/ (tools, hooks), harness.md, and bundles in plugins/, builtins/ and overrides/. Nothing of them is run. A line for
every problem: file:line:column: what [severity: rule].
Exit code: 0 when all is well, 1 when something is wrong, 2 when there is no such folder or nothing to check in it.`;

async function checked(dir: string, flags: ValidateFlags, io: CliIo): Promise<number> {
  const { validateArtifacts } = await import('../artifacts/index.ts');
  const root = resolve(io.cwd, dir);
  const validation = await validateArtifacts(root, {
    lenient: flags.lenient === true,
    handlers: flags.handler ?? [],
  });
  if (validation.files === 0 && validation.problems.length === 0 && flags.watch !== true)
    throw new UsageError(
      `${safeText(dir)}: there are no artifacts here; tools stand in .allium/tools, hooks in .allium/hooks`,
    );
  // As an editor opens it from where the command was given.
  const shown = {
    ...validation,
    problems: validation.problems.map((each) => ({ ...each, file: placeOf(root, each.file, io) })),
  };
  const { errors, warnings } = countsOf(shown.problems);
  const isWell = errors === 0 && (warnings === 0 || flags.strict !== true);
  await (flags.json === true ? printJson(dir, shown, isWell, flags, io) : printLines(shown, io));
  return isWell ? 0 : 1;
}

function placeOf(root: string, file: string, { cwd }: CliIo): string {
  const path = relative(cwd, join(root, file));
  return path.startsWith('..') ? join(root, file) : path;
}

const countsOf = (problems: readonly ArtifactProblem[]) => ({
  errors: problems.filter(({ severity }) => severity === 'error').length,
  warnings: problems.filter(({ severity }) => severity === 'warning').length,
});

async function printLines(validation: Validation, io: CliIo): Promise<void> {
  const colour = colourFor(io.stdout, io.env);
  for (const { file, line, column, message, severity, rule } of validation.problems) {
    const mark = paint(colour, severity === 'error' ? 'red' : 'yellow', `[${severity}: ${rule}]`);
    await writeLine(io.stdout, `${safeText(`${file}:${line}:${column}: ${message}`)} ${mark}`);
  }
  await writeLine(io.stdout, summaryOf(validation));
}

/** `3 tools and 1 hook in 4 files: 2 errors, 1 warning`. */
function summaryOf({ problems, tools, hooks, files }: Validation): string {
  const { errors, warnings } = countsOf(problems);
  const found = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  const verdict = found.length === 0 ? 'valid' : found.join(', ');
  return `${counted(tools.length, 'tool')} and ${counted(hooks.length, 'hook')} in ${counted(files, 'file')}: ${verdict}`;
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

async function printJson(
  dir: string,
  { problems, tools, hooks, files }: Validation,
  ok: boolean,
  { watch }: ValidateFlags,
  { stdout }: CliIo,
): Promise<void> {
  const shown = {
    tools: tools.map(({ name, file, inputSchema }) => ({ name, file, input_schema: inputSchema })),
    hooks: hooks.map(({ name, file }) => ({ name, file })),
  };
  const told = { ok, dir, files, ...shown, ...countsOf(problems), problems };
  // Whoever follows reads a line for each time.
  await writeLine(stdout, JSON.stringify(told, null, watch === true ? undefined : 2));
}

/** Until the signal. What goes wrong in between, such as a folder that is gone for a moment, is said and waited out. */
async function watched(dir: string, flags: ValidateFlags, io: CliIo): Promise<number> {
  let code = 0;
  await watchProject(resolve(io.cwd, dir), io.signal, {
    changed: async () => {
      try {
        code = await checked(dir, flags, io);
      } catch (error) {
        io.stderr.write(
          `allium: ${safeText(error instanceof Error ? error.message : 'it failed')}\n`,
        );
      }
    },
    watching: (folders) => void io.stderr.write(`allium: watching ${counted(folders, 'folder')}\n`),
  });
  return code;
}
