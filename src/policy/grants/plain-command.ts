/** Command lines that a grant may cover without naming each: known words first, then words in which nothing acts. */

import { literalWord } from '../permissions/command/command-word.ts';
import { rowsOf } from '../permissions/command/judge-invocation.ts';
import { isReserved } from '../permissions/command/plain-line.ts';
import { fitsRow } from '../permissions/command/program-row.ts';
import { baseName } from '../permissions/command/read-command.ts';
import { wrapperOf } from '../permissions/command/wrappers.ts';

/** Nothing that a shell on any system expands, joins, quotes or redirects. */
const PLAIN = /^[A-Za-z0-9_@+=:,./-]+( [A-Za-z0-9_@+=:,./-]+)*$/;

const MAX_COMMAND = 4096;

/** They run the words they are given as a line. */
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'rbash', 'eval']);

/** What is wrong with the first words of a command, or `null`. */
export function wordsProblem(words: readonly string[]): string | null {
  const [program = ''] = words;
  if (words.length === 0 || !words.every((word) => PLAIN.test(word) && !word.includes(' ')))
    return 'must be words without shell characters';
  if (program.includes('=') || program.startsWith('-')) return 'must begin with a program';
  return runsOthers(words)
    ? 'must not make a program run another one: only an exact command can'
    : null;
}

/**
 * Whether a command line begins with these words and goes on with words that are neither options nor act upon a shell. A line in
 * which a known program would run another one is never covered; the table behind that cannot be whole, hence no options at all.
 */
export function beginsWithWords(words: readonly string[], command: string): boolean {
  if (command.length > MAX_COMMAND || wordsProblem(words) !== null || !PLAIN.test(command))
    return false;
  const given = command.split(' ');
  if (!words.every((word, at) => given[at] === word)) return false;
  return given.slice(words.length).every((word) => !word.startsWith('-')) && !runsOthers(given);
}

function runsOthers([program = '', ...args]: readonly string[]): boolean {
  const name = baseName(program);
  if (SHELLS.has(name) || isReserved(name) || wrapperOf(name) !== undefined) return true;
  return rowsOf(program).some((row) => fitsRow(row, args.map(literalWord)));
}
