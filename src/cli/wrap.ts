/** `allium wrap`: puts the MCP servers of a client behind the proxy, and takes them away again. */

import { resolve } from 'node:path';
import { findConfig, hasConfig } from '../config/find-config.ts';
import { isAlliumError } from '../core/errors.ts';
import {
  type ConfigFile,
  copiesOf,
  copyFile,
  programWords,
  readConfigFile,
  replaceFile,
  splitCommand,
  type TextOutcome,
  unwrapText,
  wrapText,
} from '../proxy/client-config/index.ts';
import { type CliIo, UsageError } from './io.ts';
import type { AddCommand } from './run-cli.ts';
import { startedFrom } from './started-from.ts';
import { reportOutcome, type Saved, tellStack, type WrapCliOptions } from './wrap-report.ts';

const HELP = `
Examples:
  allium wrap ~/.cursor/mcp.json --dry-run                   show what would change
  allium wrap ~/.cursor/mcp.json                             put every server behind the proxy
  allium wrap .vscode/mcp.json --except 'local-*' --config allium.yaml
  allium wrap .mcp.json --command 'npx -y allium'            for a file that others use too
  allium wrap ~/.codex/config.toml --undo                    as it was before

Close the client before, and start it again afterwards. Comments and the order of keys stay. A copy of the file as it was is kept beside
it, as <file>.allium-backup. Exit codes: 0 every chosen server is behind the proxy (with --undo: is not any more), 1 one was left alone or
there is none, 2 usage, a missing file, or one that is not understood; then nothing was changed.`;

const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

/** Adds the command. */
export const addWrap: AddCommand = (program, io, run) => {
  program
    .command('wrap')
    .description(
      'edit the configuration of an MCP client so that its servers run behind "allium proxy"',
    )
    .argument(
      '<file>',
      'the configuration: mcp.json, claude_desktop_config.json, .claude.json or config.toml',
    )
    .option('--undo', 'take the servers from behind the proxy again')
    .option('--only <glob>', 'only servers of this name; can be given several times', collect)
    .option('--except <glob>', 'not servers of this name; can be given several times', collect)
    .option('--config <file>', 'the stack of the proxy (default: the allium.yaml of this folder)')
    .option('--command <text>', 'what the client starts (default: this very allium, by its path)')
    .option('--dry-run', 'print what would change, and change nothing')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action((file: string, options: WrapCliOptions) =>
      run(() => (options.undo === true ? undo : wrap)(file, options, io)),
    );
};

async function wrap(path: string, options: WrapCliOptions, io: CliIo): Promise<number> {
  const program =
    options.command === undefined ? programWords(startedFrom(io)) : splitCommand(options.command);
  const config = stackOf(options, io);
  const file = await readConfigFile(resolve(io.cwd, path));
  const outcome = inFile(path, () =>
    wrapText(file.text, file.language, {
      ...options,
      program,
      ...(config === null ? {} : { config }),
    }),
  );
  const saved = await save(file, outcome, options, io);
  await reportOutcome(file, outcome, { options, saved, config }, io);
  tellStack(outcome, { options, config }, io);
  const chosen = outcome.servers.filter((each) => each.outcome !== 'not_chosen');
  return chosen.length > 0 && chosen.every((each) => each.outcome !== 'left_alone') ? 0 : 1;
}

async function undo(path: string, options: WrapCliOptions, io: CliIo): Promise<number> {
  if (options.config !== undefined || options.command !== undefined)
    throw new UsageError('--undo takes neither --config nor --command');
  const file = await readConfigFile(resolve(io.cwd, path));
  const older = await copiesOf(file);
  const outcome = inFile(path, () => unwrapText(file.text, file.language, options, older));
  const saved = await save(file, outcome, options, io);
  await reportOutcome(file, outcome, { options, saved, config: null }, io);
  const outcomes = new Set(outcome.servers.map((each) => each.outcome));
  return (outcomes.has('restored') || outcomes.has('taken_apart')) && !outcomes.has('left_alone')
    ? 0
    : 1;
}

/** What is wrong with a text comes with the name of its file. */
function inFile(path: string, work: () => TextOutcome): TextOutcome {
  try {
    return work();
  } catch (error) {
    throw isAlliumError(error) ? new UsageError(`${path}: ${error.message}`) : error;
  }
}

/** The file of the stack: the one that was named, or that of this folder, if there is one. */
function stackOf({ config }: WrapCliOptions, { cwd }: CliIo): string | null {
  if (config !== undefined) return findConfig(config, cwd);
  return hasConfig(cwd) ? findConfig('.', cwd) : null;
}

/** Keeps a copy, unless there is one that leads here, and writes. */
async function save(
  file: ConfigFile,
  { text, servers }: TextOutcome,
  { dryRun }: WrapCliOptions,
  { signal }: CliIo,
): Promise<Saved> {
  if (text === file.text || dryRun === true) return { changed: false, backup: null };
  signal.throwIfAborted();
  const backup = servers.some(({ outcome }) => outcome === 'restored')
    ? null
    : await copyFile(file);
  await replaceFile(file, text, signal);
  return { changed: true, backup };
}
