/**
 * Words of a command: what they are for certain, and what they may turn into when a shell expands
 * them.
 */

/** One word of a command. */
export interface CommandWord {
  /** The word as the program gets it, or `null` where it is only known when it runs. */
  readonly literal: string | null;
  /** What it starts with in any case. */
  readonly start: string;
  /** One written word may become several, or none: a variable or `$(…)` outside of quotes. */
  readonly splits: boolean;
}

/** A word that is known to the letter. */
export const literalWord = (text: string): CommandWord =>
  Object.freeze({ literal: text, start: text, splits: false });

/** Words that are not known before the program runs, such as the lines that `xargs` reads. */
export const UNKNOWN_WORDS: CommandWord = Object.freeze({ literal: null, start: '', splits: true });

/** Whether a program may take the word for an option. */
export function mayBeOption({ literal, start, splits }: CommandWord): boolean {
  if (literal !== null) return literal.startsWith('-');
  return splits || start === '' || start.startsWith('-');
}
