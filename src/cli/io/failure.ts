/** What went wrong, as one line and a number. */

import { isAlliumError } from '../../core/contract/errors.ts';
import { type CliIo, UsageError } from './io.ts';
import { safeText } from './text-table.ts';

/** Says what and where, and answers the exit code. Stack traces are for `ALLIUM_DEBUG`. */
export function failureCode(
  error: unknown,
  { stderr, env }: Pick<CliIo, 'stderr' | 'env'>,
): number {
  const isExpected = error instanceof UsageError || isAlliumError(error);
  const file = isExpected ? null : fileProblem(error);
  const debugs = (env.ALLIUM_DEBUG ?? '') !== '';
  const text = error instanceof Error ? error.message : String(error);
  // A file may have many mistakes, each with a line of its own.
  if (isAlliumError(error, 'ERR_INVALID_CONFIG') || isAlliumError(error, 'ERR_INVALID_ARTIFACT'))
    stderr.write(`${`allium: ${text}`.split('\n').map(lineOf).join('\n')}\n`);
  else if (isExpected) stderr.write(`${lineOf(`allium: ${text}`)}\n`);
  else if (file !== null) stderr.write(`${lineOf(`allium: ${file}`)}\n`);
  else
    stderr.write(
      `${lineOf(`allium: unexpected: ${text.split('\n')[0] ?? ''}`)}${debugs ? '' : ' (ALLIUM_DEBUG=1 shows where)'}\n`,
    );
  if (debugs && error instanceof Error)
    stderr.write(`${(error.stack ?? '').split('\n').map(safeText).join('\n')}\n`);
  return isExpected || file !== null ? 2 : 1;
}

/** Says a problem that does not end the command, on standard error. */
export const reporter =
  ({ stderr }: Pick<CliIo, 'stderr'>) =>
  (problem: string): void =>
    void stderr.write(`allium: ${safeText(problem)}\n`);

/**
 * Text as one line in which nothing acts: it may quote what somebody typed, or what a file holds.
 */
export const lineOf = (text: string): string => safeText(text.replace(/\s*\n\s*/g, ' ').trim());

const FILE_PROBLEMS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EISDIR', 'is a folder'],
  ['ENOTDIR', 'is no folder'],
  ['EEXIST', 'is there already'],
  ['EROFS', 'cannot be written to'],
  ['ENOSPC', 'the disk is full'],
]);

/** A file that cannot be used is a mistake in the call, whatever the command wanted with it. */
function fileProblem(error: unknown): string | null {
  if (
    !(error instanceof Error) ||
    !('code' in error) ||
    !('path' in error) ||
    typeof error.path !== 'string'
  )
    return null;
  const what = FILE_PROBLEMS.get(error.code);
  return what === undefined ? null : `${error.path}: ${what}`;
}

/** The code of an error, as every error of the file system has one. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'it failed';
