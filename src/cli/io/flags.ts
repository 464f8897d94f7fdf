/** Options that several commands have. */

import { type Command, Option } from 'commander';
import { UsageError } from './io.ts';
import { safeText } from './text-table.ts';

/** An option that may be given several times: its values in order. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

/** A port, as every command that listens takes it. */
export function readPort(value: string): number {
  const number = Number(value);
  if (/^\d{1,5}$/.test(value) && number <= 65_535) return number;
  throw new UsageError(`--listen takes a port, got "${safeText(value)}"`);
}

export interface LogFlags {
  /** What scripts print and log is shown, too, and not only warnings and errors. */
  readonly verbose?: boolean;
  /** @default 'text' where standard error is a terminal, 'json' otherwise */
  readonly logFormat?: 'text' | 'json';
}

/** The options of every command that runs tools. */
export const withLogOptions = (command: Command): Command =>
  command
    .option('-v, --verbose', 'show what scripts print and log, on standard error')
    .addOption(
      new Option(
        '--log-format <format>',
        'lines for people, or JSON (default: text at a terminal)',
      ).choices(['text', 'json']),
    );
