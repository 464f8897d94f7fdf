/** `allium validate`: what is wrong with tools and hooks written as Markdown files. */

import { join, relative, resolve } from 'node:path';
import { existsSync, type FSWatcher, watch } from 'node:fs';
import type { ArtifactProblem, Validation } from '../artifacts/index.ts';
import { colourFor, paint } from './io/colour.ts';
import { collect } from './io/flags.ts';
import { type AddCommand, type CliIo, UsageError, writeLine } from './io/io.ts';
import { safeText } from './io/text-table.ts';

interface ValidateFlags {
  readonly lenient?: boolean;
  readonly strict?: boolean;
  readonly handler?: readonly string[];
  readonly json?: boolean;
  readonly watch?: boolean;
}

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

/**
 * Until the signal. What goes wrong in between, such as a folder that is gone for a moment, is said
 * and waited out.
 */
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

const HOMES = ['.allium', '.harness'];
const BELOW_HOMES = ['tools', 'hooks', 'builtins', 'plugins', 'overrides'];
const BELOW_ROOT = ['builtins', 'plugins', 'overrides'];
/** Editors write in several steps. */
const SETTLE_MS = 60;

interface WatchHandlers {
  /** Something changed. Not called again before it is done. */
  readonly changed: () => Promise<void>;
  /** So many folders are watched now. */
  readonly watching: (folders: number) => void;
}

/**
 * Runs until the signal, and leaves no watcher and no timer behind. Folders that come later are
 * watched, too.
 */
function watchProject(
  root: string,
  signal: AbortSignal,
  { changed, watching }: WatchHandlers,
): Promise<void> {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();
  const sync = (): void => {
    const wanted = foldersOf(root);
    for (const [folder, watcher] of watchers) if (!wanted.includes(folder)) drop(folder, watcher);
    for (const folder of wanted) if (!watchers.has(folder)) add(folder);
    watching(watchers.size);
  };
  const drop = (folder: string, watcher: FSWatcher): void => {
    watcher.close();
    watchers.delete(folder);
  };
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      working = working.then(async () => {
        if (signal.aborted) return;
        await changed();
        sync();
      });
    }, SETTLE_MS);
  };
  const add = (folder: string): void => {
    try {
      const watcher = watch(folder, (_event, name) => {
        if (isMeant(root, folder, name)) later();
      });
      // A folder that is removed while it is watched.
      watcher.on('error', () => {
        drop(folder, watcher);
        later();
      });
      watchers.set(folder, watcher);
    } catch {
      // It was gone before it could be watched; whoever removed it is noticed one folder up.
    }
  };
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const [folder, watcher] of watchers) drop(folder, watcher);
      void working.then(resolve);
    };
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
    sync();
  });
}

/**
 * The root itself and what is there of the rest: a whole project may hold much that nobody asked
 * about.
 */
const foldersOf = (root: string): readonly string[] =>
  [root, ...HOMES.map((home) => join(root, home)), ...BELOW_ROOT.map((name) => join(root, name))]
    .concat(HOMES.flatMap((home) => BELOW_HOMES.map((name) => join(root, home, name))))
    .filter((folder) => existsSync(folder));

/** Receipts and the like are written beside the tools, and change all the time. */
function isMeant(root: string, folder: string, name: string | null): boolean {
  if (name === null || name.endsWith('.md')) return true;
  if (folder === root) return [...HOMES, ...BELOW_ROOT].includes(name);
  return (
    HOMES.some((home) => folder === join(root, home)) &&
    !name.includes('.') &&
    BELOW_HOMES.includes(name)
  );
}
