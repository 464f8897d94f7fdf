/** Words of a command: what they are for certain, and what they may turn into when a shell expands them. */

import type { Assignment, Word, WordPart } from 'unbash';

/** One word of a command. */
export interface CommandWord {
  /** The word as the program gets it, or `null` where it is only known when it runs. */
  readonly literal: string | null;
  /** What it starts with in any case. */
  readonly start: string;
  /** One written word may become several: an unquoted variable, braces, a glob. */
  readonly splits: boolean;
}

/** A word that is known to the letter. */
export const literalWord = (text: string): CommandWord => Object.freeze({ literal: text, start: text, splits: false });

/** Words nobody can know before the program runs, such as the lines that `xargs` reads. */
export const UNKNOWN_WORDS: CommandWord = Object.freeze({ literal: null, start: '', splits: true });

/** Whether a program may take the word for an option. */
export function mayBeOption({ literal, start, splits }: CommandWord): boolean {
  if (literal !== null) return literal.startsWith('-');
  return splits || start === '' || start.startsWith('-');
}

/** What a word of the parsed line is for certain. */
export function commandWord(word: Word): CommandWord {
  if (word.parts === undefined) return word.text.startsWith('~') ? tilde() : literalWord(word.value);
  let start = '';
  for (const part of word.parts) {
    const text = literalPart(part);
    if (text === null) return Object.freeze({ literal: null, start, splits: word.parts.some(splitsWords) });
    start += text;
  }
  return word.text.startsWith('~') ? tilde() : literalWord(start);
}

/** An assignment in the place of an argument (`export A=b`) is a word like any other; its value is looked at by whoever walks the line. */
export function assignmentWord({ name, value }: Assignment): CommandWord {
  const { literal, splits } = value.type === 'Word' ? commandWord(value) : UNKNOWN_WORDS;
  return literal === null ? Object.freeze({ literal, start: `${name}=`, splits }) : literalWord(`${name}=${literal}`);
}

/** A home folder: not known here, but a path, and so no option. */
const tilde = (): CommandWord => Object.freeze({ literal: null, start: '~', splits: false });

function literalPart(part: WordPart): string | null {
  if (part.type === 'Literal' || part.type === 'SingleQuoted') return part.value;
  // U+FFFD stands for bytes that are no text: what the program gets is not what is read here.
  if (part.type === 'AnsiCQuoted') return part.value.includes('\uFFFD') ? null : part.value;
  if (part.type !== 'DoubleQuoted') return null;
  return part.parts.every((child) => child.type === 'Literal') ? part.parts.map((child) => child.value).join('') : null;
}

/** Inside quotes only `"$@"` and its kin become several words. */
function splitsWords(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.some((child) => child.type !== 'Literal' && child.text.includes('@'));
  // A file name that a glob finds starts as the glob does: it becomes several words, but none that is different in kind.
  return literalPart(part) === null && part.type !== 'Glob' && part.type !== 'LocaleString';
}
