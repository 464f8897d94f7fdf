/**
 * What was found in a line or a list of arguments: the commands it runs, and what a person has to
 * look at.
 */

import type { CommandWord } from './command-word.ts';

/** Why a person has to look. Codes are stable, for tests and records. */
export type CommandConcern =
  | 'unreadable'
  | 'too_long'
  | 'too_deep'
  | 'empty'
  | 'program_not_literal'
  | 'odd_characters'
  | 'shells_differ'
  | 'variable_set'
  | 'file_written'
  | 'redirect_not_literal'
  | 'network_redirect'
  | 'runs_another_program';

/** What a person has to look at, whatever the lists say. */
export interface CommandFinding {
  readonly code: CommandConcern;
  /** For the model: what it is and what would pass, without an argument's value. */
  readonly reason: string;
}

/** One command that would run. */
export interface Invocation {
  /** The program, then its arguments. */
  readonly words: readonly CommandWord[];
  /**
   * The program only starts another one that is judged by itself, so it needs no entry of its own.
   */
  readonly transparent: boolean;
  /** What was seen on the way to the program it starts. */
  readonly findings: readonly CommandFinding[];
}

/** Everything that was found. */
export interface CommandReading {
  readonly invocations: readonly Invocation[];
  readonly findings: readonly CommandFinding[];
  /** Files that redirects write, `null` where the name is only known when it runs. */
  readonly writes: readonly (string | null)[];
}

/** Where findings are gathered while a line is read. */
export interface Gathering {
  readonly invocations: Invocation[];
  readonly findings: CommandFinding[];
  readonly writes: (string | null)[];
  /**
   * Characters and words that may still be read. Lines and programs inside others end when they are
   * used up.
   */
  steps: number;
}

const REASONS: Readonly<Record<CommandConcern, string>> = Object.freeze({
  unreadable: 'The command is not text. Send a line, or a list of words.',
  too_long: 'The command line is too long to be checked. Send a shorter one.',
  too_deep:
    'The command line is nested too deeply to be checked. Send plain commands, one after another.',
  empty: 'The command line runs nothing. Name a program.',
  program_not_literal:
    'The program to run is only known when the line runs. Write its name as plain text.',
  odd_characters:
    'The command line holds control characters or blanks other than space, tab and newline. Leave them out.',
  shells_differ:
    "Shells may read this line differently. Use plain words, '…', \"…\" with $name or $(…), and | && || ; ( ) if and for; put other characters into '…'.",
  variable_set: 'A variable is set that can change which program runs, or how. Leave it out.',
  file_written: 'A redirect writes a file. Print to the output instead; 2>&1 and /dev/null pass.',
  redirect_not_literal:
    'The target of a redirect is only known when the line runs. Write it as plain text.',
  network_redirect: 'A redirect opens a network connection. Leave it out.',
  runs_another_program:
    'A program is started by another one in a way that cannot be followed. Call it directly.',
});

/** A finding with the sentence that belongs to it. */
export const finding = (code: CommandConcern, reason: string = REASONS[code]): CommandFinding =>
  Object.freeze({ code, reason });

/** Findings that mean "not understood": they are refused where unknown programs are. */
export const NOT_UNDERSTOOD: ReadonlySet<string> = new Set<CommandConcern>([
  'unreadable',
  'too_long',
  'too_deep',
  'empty',
  'program_not_literal',
  'odd_characters',
  'shells_differ',
  'redirect_not_literal',
]);
