/** Lists every command that a request would run: shell lines, lists of arguments, and what those start in turn. */

import {
  type CommandReading,
  finding,
  type Gathering,
  type Invocation,
} from './command-reading.ts';
import { type CommandWord, literalWord } from './command-word.ts';
import { MAX_LINE_LENGTH, ODD_CHARACTERS, readShellLine } from './read-shell-line.ts';
import { unwrap, wrapperOf } from './wrappers.ts';

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

/** Reads a request. Takes time in proportion to its length, and never throws: what is not understood is a finding. */
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
  // Another file of the same name, or a name that only a shell knows, is a program to be judged by itself.
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
