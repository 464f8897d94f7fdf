/** `allium wrap`: puts the MCP servers of a client behind the proxy, and takes them away again. */

import { resolve } from 'node:path';
import { findConfig, hasConfig } from '../../config/find-config.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { type ConfigFile, copiesOf, copyFile, readConfigFile, replaceFile } from './config-file.ts';
import { programWords, splitCommand, startedFrom } from './program-words.ts';
import { showDiff } from './show-diff.ts';
import { type ServerOutcome, type TextOutcome, unwrapText, wrapText } from './wrap-text.ts';
import { collect } from '../io/flags.ts';
import { type AddCommand, type CliIo, UsageError, writeLine } from '../io/io.ts';
import { jsonOf } from '../receipts/receipts-format.ts';
import { safeText } from '../io/text-table.ts';

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

/** The options as they are typed. */
interface WrapCliOptions {
  readonly undo?: true;
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  readonly config?: string;
  readonly command?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** What was written. */
interface Saved {
  readonly changed: boolean;
  /** The copy of the file as it was. */
  readonly backup: string | null;
}

interface Done {
  readonly options: WrapCliOptions;
  readonly saved: Saved;
  readonly config: string | null;
}

/**
 * The result, on standard output: a line for each server, the diff of a dry run, or all of it as
 * JSON. Never the value of a header.
 */
async function reportOutcome(
  file: ConfigFile,
  outcome: TextOutcome,
  { options, saved, config }: Done,
  io: CliIo,
): Promise<void> {
  const { path, text, language } = file;
  const diff = options.dryRun === true ? showDiff(path, text, outcome.text, language) : null;
  if (options.json === true) {
    const whole = {
      file: path,
      ...saved,
      config,
      servers: outcome.servers,
      ...(diff === null ? {} : { diff }),
    };
    return writeLine(io.stdout, jsonOf(whole));
  }
  if (diff !== null && diff !== '') await writeLine(io.stdout, safeLines(diff));
  // With a diff the result is the diff.
  for (const server of outcome.servers)
    await writeLine(diff === null ? io.stdout : io.stderr, lineOf(server));
  if (saved.backup !== null) io.stderr.write(`The file as it was: ${safeText(saved.backup)}\n`);
  if (saved.changed) io.stderr.write('Start the client again for this to take effect.\n');
  if (outcome.servers.some((each) => each.outcome === 'taken_apart'))
    io.stderr.write(
      'No copy leads to the file as it was just now: each entry was taken apart for itself, and may be written otherwise.\n',
    );
}

/** Text in which nothing acts but the ends of lines and tabs. */
const safeLines = (text: string): string => text.replace(/[^\n\t]+/g, safeText);

const WORDS: Readonly<Record<ServerOutcome['outcome'], string>> = {
  wrapped: 'wrapped',
  already_wrapped: 'was wrapped',
  left_alone: 'left alone',
  not_chosen: 'not chosen',
  restored: 'restored',
  taken_apart: 'taken apart',
  not_wrapped: 'not wrapped',
};

const lineOf = ({ name, place, outcome, reason }: ServerOutcome): string =>
  `${WORDS[outcome].padEnd(12)} ${safeText(name)}${place.startsWith('projects.') ? ` (${safeText(place)})` : ''}${reason === undefined ? '' : `: ${reason}`}`;

/**
 * Which stack will govern the servers that were wrapped: on standard error, and not for a program
 * that reads JSON.
 */
function tellStack(
  { servers }: TextOutcome,
  { options, config }: Omit<Done, 'saved'>,
  io: CliIo,
): void {
  if (options.json === true || servers.every(({ outcome }) => outcome !== 'wrapped')) return;
  const stack =
    config === null
      ? 'There is no allium.yaml here: the proxy writes receipts and does nothing else. "allium init" makes one; then --undo, and wrap again.'
      : `The stack of the proxy: ${safeText(config)}`;
  io.stderr.write(`${stack}\n`);
}
