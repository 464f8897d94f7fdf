/** Entries of the lists of `commandPolicy`: a program, or a program and the words after it. */

import type { CommandWord } from './command-word.ts';
import { baseName } from './read-command.ts';

/** A parsed entry. */
export interface CommandEntry {
  readonly program: string;
  readonly words: readonly string[];
}

/** Nothing that a shell would expand or take apart: an entry is compared, never evaluated. */
const ENTRY = /^(?:\[|[^\s'"`\\$*?[\]{}()<>|;&#!~]+)(?: +[^\s'"`\\$*?[\]{}()<>|;&#!~]+)*$/;

/** Whether a text can be an entry. */
export const isEntry = (value: unknown): boolean => typeof value === 'string' && ENTRY.test(value);

/** Takes an entry apart. */
export function parseEntry(text: string): CommandEntry {
  const [program = '', ...words] = text.split(/ +/);
  return Object.freeze({ program, words: Object.freeze(words) });
}

/**
 * Whether the entry permits the command: the same program by the same name, and the same words
 * right after it.
 */
export function permits(
  { program, words }: CommandEntry,
  command: readonly CommandWord[],
): boolean {
  return (
    command[0]?.literal === program &&
    words.every((word, index) => command[index + 1]?.literal === word)
  );
}

/** Whether the entry is the whole command, word for word. */
export const spellsOut = (entry: CommandEntry, command: readonly CommandWord[]): boolean =>
  command.length === entry.words.length + 1 && permits(entry, command);

/**
 * Whether the entry is about the command, for refusing and asking: wide where `permits` is narrow.
 * Any path, any case, and `maybe` where its words stand further back, behind options, or may stand
 * where a word is only known when it runs.
 */
export function concerns(
  { program, words }: CommandEntry,
  command: readonly CommandWord[],
): 'yes' | 'maybe' | 'no' {
  const literal = command[0]?.literal ?? '';
  if (literal !== program && baseName(literal) !== baseName(program)) return 'no';
  if (words.every((word, index) => command[index + 1]?.literal === word)) return 'yes';
  let found = 0;
  for (const { literal: text } of command.slice(1)) {
    if (text === null) return 'maybe';
    if (text === words[found]) found += 1;
  }
  return found === words.length ? 'maybe' : 'no';
}

/**
 * Whether an argument names the program of an entry that has no words: a program behind one that
 * runs others.
 */
export function isNamedIn({ program, words }: CommandEntry, args: readonly CommandWord[]): boolean {
  if (words.length > 0) return false;
  const base = baseName(program);
  return args.some(({ literal }) => {
    // Most arguments do not hold it at all; only the others are taken apart.
    if (literal?.toLowerCase().includes(base) !== true) return false;
    return literal.split(/[\s;&|()`"'=]+/).some((word) => baseName(word) === base);
  });
}
