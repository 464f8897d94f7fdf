/**
 * Reads a line for a shell. A line that all shells read alike is read exactly; of any other one enough is guessed to find commands
 * that are denied, and a finding keeps it from being allowed.
 */

import { type CommandConcern, finding, type Gathering } from './command-reading.ts';
import { type CommandWord, literalWord, UNKNOWN_WORDS } from './command-word.ts';
import { isReserved, readPlainLine } from './plain-line.ts';
import { MAX_COMMANDS, MAX_PARTS } from './plain-word.ts';
import { isHarmlessForPrograms, isHarmlessForShells } from './shell-variables.ts';

/** Longer lines are not read at all: nobody who is asked could read them either. */
export const MAX_LINE_LENGTH = 32_768;

/** Anything but printable text, space, tab and newline: shells, terminals and people disagree about it. */
export const ODD_CHARACTERS = /[^\P{C}\t\n]|[^\P{Z} ]/u;
const WRITES_NOTHING = new Set(['/dev/null', '/dev/stdout', '/dev/stderr']);
const NETWORK = /^\/+dev\/+(?:tcp|udp)(?:\/|$)/;

/** Takes each command that was found; the words of its program come first. */
type TakeCommand = (words: readonly CommandWord[]) => void;

/** Adds what is in the line to `into`. What is not read for certain becomes a finding, never an exception. */
export function readShellLine(line: string, into: Gathering, take: TakeCommand): void {
  if (line.length > MAX_LINE_LENGTH) return note(into, 'too_long');
  // A line inside another one is read again: `eval eval eval …` must not cost the product of both lengths.
  into.steps -= line.length;
  if (into.steps < 0) return note(into, 'too_deep');
  if (line.trim() === '') return;
  if (ODD_CHARACTERS.test(line)) note(into, 'odd_characters');
  const plain = readPlainLine(line);
  if (typeof plain === 'string') {
    note(into, plain);
    for (const words of guessedCommands(line)) take(words);
    return;
  }
  for (const { name, forProgram } of plain.variables) {
    if (!(forProgram ? isHarmlessForPrograms : isHarmlessForShells)(name))
      note(into, 'variable_set');
  }
  for (const words of plain.commands) take(words);
  for (const { name, isWritten } of plain.files) openFile(name, isWritten, into);
}

const note = (into: Gathering, code: CommandConcern): void => {
  into.findings.push(finding(code));
};

function openFile(name: string | null, isWritten: boolean, into: Gathering): void {
  if (name !== null && NETWORK.test(name)) return note(into, 'network_redirect');
  if (!isWritten) return name === null ? note(into, 'redirect_not_literal') : undefined;
  if (name !== null && WRITES_NOTHING.has(name)) return;
  into.writes.push(name);
  note(into, 'file_written');
}

/** What stands before a command and is none: words of shells, numbers of descriptors, variables. */
const BEFORE_A_COMMAND = /^(?:[!{}()[\]]+|\d+|[A-Za-z_][\w[\]]*\+?=.*)$/;
const REDIRECTIONS = /[<>]+[|&]?[ \t]*[^\s;&|()<>`]*/g;

/**
 * What may be commands in a line that shells read differently. Quotes count for nothing, since shells differ about where they end:
 * too much is found rather than too little, and what is found here is only ever refused or asked.
 */
function guessedCommands(line: string): readonly (readonly CommandWord[])[] {
  const text = unescaped(line)
    .replace(/\\\n|['"\\]/g, '')
    .replace(REDIRECTIONS, ' ');
  const commands: (readonly CommandWord[])[] = [];
  for (const part of new Set(text.split(/[\n\r;&|()`]+/, MAX_PARTS))) {
    if (commands.length >= MAX_COMMANDS) break;
    const words = part.split(/\s+/, MAX_PARTS).filter((word) => word !== '');
    const start = words.findIndex((word) => !isReserved(word) && !BEFORE_A_COMMAND.test(word));
    if (start !== -1) commands.push(words.slice(start).map(guessedWord));
  }
  return commands;
}

/** `{ls,rm}`, `$x` and globs are not known, neither as a program nor as an option. */
const guessedWord = (word: string): CommandWord =>
  /[$*?{}[\]~]/.test(word) && word !== '[' ? UNKNOWN_WORDS : literalWord(word);

/** `$'\x72m'` is `rm` where a shell knows it. */
function unescaped(line: string): string {
  if (!line.includes("$'")) return line;
  const decoded = line.replace(
    /\\(?:x([0-9a-f]{1,2})|u([0-9a-f]{1,4})|([0-7]{1,3}))/gi,
    (_all, hex?: string, code?: string, octal?: string) =>
      String.fromCharCode(
        Number.parseInt(hex ?? code ?? octal ?? '0', octal === undefined ? 16 : 8),
      ),
  );
  return decoded.replaceAll("$'", '');
}
