/** What `allium wrap` says about what it did. */

import {
  type ConfigFile,
  type ServerOutcome,
  showDiff,
  type TextOutcome,
} from '../proxy/client-config/index.ts';
import { type CliIo, writeLine } from './io.ts';
import { jsonOf } from './receipts-format.ts';
import { safeText } from './text-table.ts';

/** The options as they are typed. */
export interface WrapCliOptions {
  readonly undo?: true;
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  readonly config?: string;
  readonly command?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** What was written. */
export interface Saved {
  readonly changed: boolean;
  /** The copy of the file as it was. */
  readonly backup: string | null;
}

interface Done {
  readonly options: WrapCliOptions;
  readonly saved: Saved;
  readonly config: string | null;
}

/** The result, on standard output: a line for each server, the diff of a dry run, or all of it as JSON. Never the value of a header. */
export async function reportOutcome(
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
  if (outcome.servers.some((each) => each.outcome === 'taken_apart')) {
    io.stderr.write(
      'No copy leads to the file as it was just now: each entry was taken apart for itself, and may be written otherwise.\n',
    );
  }
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

/** Which stack will govern the servers that were wrapped: on standard error, and not for a program that reads JSON. */
export function tellStack(
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
