/**
 * Lists every command that a request would run: shell lines, lists of arguments, and what those
 * start in turn.
 */

import {
  type CommandConcern,
  type CommandReading,
  finding,
  type Gathering,
  type Invocation,
} from './command-reading.ts';
import { type CommandWord, literalWord, UNKNOWN_WORDS } from './command-word.ts';
import { unwrap, wrapperOf } from './wrappers.ts';
import { isReserved, readPlainLine } from './plain-line.ts';
import { MAX_COMMANDS, MAX_PARTS } from './plain-word.ts';
import { isHarmlessForPrograms, isHarmlessForShells } from './shell-variables.ts';

/** Programs and lines inside one another: `env nice sh -c '…'` are three. */
const MAX_DEPTH = 20;
/** What may be read beyond the line itself: lines and words inside others are read again. */
const MORE_STEPS = 4096;
/** A word that is passed on takes as long as a few characters that are read. */
const STEPS_PER_WORD = 8;
const SHELLS = new Set(['sh', 'bash', 'dash', 'ash']);
/** Names that mean something to a shell only: without one they are looked up like any program. */
const BUILTINS = new Set(['command', 'exec', 'eval']);

/** What a command may be given as. */
export interface CommandSource {
  readonly command?: string;
  readonly argv?: readonly string[];
}

/**
 * Reads a request. Takes time in proportion to its length, and never throws: what is not understood
 * is a finding.
 */
export function readCommand({ command, argv }: CommandSource): CommandReading {
  const size = (command?.length ?? 0) + (argv?.length ?? 0);
  const into: Gathering = {
    invocations: [],
    findings: [],
    writes: [],
    steps: 2 * size + MORE_STEPS,
  };
  if (command !== undefined) readLine(command, 0, into);
  if (argv !== undefined) readArguments(argv, into);
  if (into.invocations.length === 0) into.findings.push(finding('empty'));
  return into;
}

/** The name of a program without its folders, as systems that ignore case and endings see it. */
export const baseName = (program: string): string =>
  program
    .slice(program.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.exe$/, '');

function readLine(line: unknown, depth: number, into: Gathering): void {
  if (typeof line !== 'string') into.findings.push(finding('unreadable'));
  else readShellLine(line, into, (words) => take(words, depth, true, into));
}

function readArguments(argv: readonly string[], into: Gathering): void {
  // What a tool proposes is checked at run time, whatever its type promises.
  const isText =
    Array.isArray(argv) && Array.from<unknown>(argv).every((word) => typeof word === 'string');
  if (!isText) into.findings.push(finding('unreadable'));
  else if (argv.join(' ').length > MAX_LINE_LENGTH) into.findings.push(finding('too_long'));
  else if (argv.length > 0) {
    if (ODD_CHARACTERS.test(argv.join(' '))) into.findings.push(finding('odd_characters'));
    take(argv.map(literalWord), 0, false, into);
  }
}

/** Adds a command, and what it starts. */
function take(
  words: readonly CommandWord[],
  depth: number,
  inShell: boolean,
  into: Gathering,
): void {
  const name = words[0]?.literal ?? null;
  into.steps -= words.length * STEPS_PER_WORD;
  if (depth > MAX_DEPTH || into.steps < 0) into.findings.push(finding('too_deep'));
  else if (name === null || name === '')
    into.invocations.push({
      words,
      transparent: false,
      findings: [finding('program_not_literal')],
    });
  else into.invocations.push(follow(name, words, depth, inShell, into));
}

function follow(
  name: string,
  words: readonly CommandWord[],
  depth: number,
  inShell: boolean,
  into: Gathering,
): Invocation {
  const base = baseName(name);
  // Another file of the same name, or a name that only a shell knows, is a program to be judged by
  // itself.
  const transparent = base === name && (inShell || !BUILTINS.has(base));
  const plain = { words, transparent: false, findings: [] };
  const wrapper = wrapperOf(base);
  if (wrapper !== undefined) {
    const inner = unwrap(wrapper, words.slice(1));
    if (inner.words === null || inner.words.length === 0)
      return { ...plain, findings: inner.findings };
    take(inner.words, depth + 1, inShell && BUILTINS.has(base), into);
    return { words, transparent, findings: inner.findings };
  }
  if (base !== 'eval' && !SHELLS.has(base)) return plain;
  const line = base === 'eval' ? evaluated(words.slice(1)) : shellLine(words.slice(1));
  if (line === null) return { ...plain, findings: [finding('runs_another_program')] };
  readLine(line, depth + 1, into);
  return { words, transparent, findings: [] };
}

/** `eval` joins its words with spaces and reads them again. */
function evaluated(args: readonly CommandWord[]): string | null {
  return args.some(({ literal }) => literal === null) || args[0]?.literal?.startsWith('-') === true
    ? null
    : args.map(({ literal }) => literal).join(' ');
}

/** The line of `sh -c line`. A script, standard input and every other option are not followed. */
function shellLine([options, line]: readonly CommandWord[]): string | null {
  if (!/^-[eu]*c[eu]*$/.test(options?.literal ?? '')) return null;
  const text = line?.literal ?? null;
  return text === null || /^[-+]/.test(text) ? null : text;
}

/** Longer lines are not read at all: a person who is asked could not read them either. */
const MAX_LINE_LENGTH = 32_768;

/**
 * Anything but printable text, space, tab and newline: shells, terminals and people disagree about
 * it.
 */
const ODD_CHARACTERS = /[^\P{C}\t\n]|[^\P{Z} ]/u;
const WRITES_NOTHING = new Set(['/dev/null', '/dev/stdout', '/dev/stderr']);
const NETWORK = /^\/+dev\/+(?:tcp|udp)(?:\/|$)/;

/** Takes each command that was found; the words of its program come first. */
type TakeCommand = (words: readonly CommandWord[]) => void;

/**
 * Adds what is in the line to `into`. What is not read for certain becomes a finding, never an
 * exception.
 */
function readShellLine(line: string, into: Gathering, take: TakeCommand): void {
  if (line.length > MAX_LINE_LENGTH) return note(into, 'too_long');
  // A line inside another one is read again: `eval eval eval …` must not cost the product of both
  // lengths.
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
 * What may be commands in a line that shells read differently. Quotes count for nothing, since
 * shells differ about where they end: too much is found rather than too little, and what is found
 * here is only ever refused or asked.
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
