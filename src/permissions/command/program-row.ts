/**
 * How a program can be made to run another one: the shape of a row, and whether a command fits it.
 */

import { type CommandWord, mayBeOption } from './command-word.ts';

/** One way in which a program runs another one, or code, or writes a file it was not named for. */
export interface ProgramRow {
  /** Names without folders. `python` stands for `python3` and `python3.12` too. */
  readonly programs: readonly string[];
  /** Continues "it can". */
  readonly can: string;
  /** A command that is asked because of this row, for tests and readers. */
  readonly asked: string;
  /** A command of the same program that no row asks for. */
  readonly passes?: string;
  /** Whatever its arguments are. */
  readonly always?: true;
  /** Only these first words are not asked. Words with a dash may stand before the others. */
  readonly known?: readonly string[];
  /** Long options without dashes; `=value` and abbreviations are recognised. */
  readonly long?: readonly string[];
  /** Letters of short options, recognised anywhere in a bundle. */
  readonly short?: string;
  /** Whole words, such as options with one dash; `=value` and a second dash are recognised. */
  readonly words?: readonly string[];
  /** What an argument must not look like. */
  readonly pattern?: RegExp;
  /** What the first argument that is no option must look like. */
  readonly first?: RegExp;
  /** Options end at the first word that is none. */
  readonly leading?: true;
  /** `--` does not end the options. */
  readonly endless?: true;
  /** The first word is a bundle of short options, with a dash or without. */
  readonly bundled?: true;
}

/**
 * Whether the arguments make the program do what the row is about, or may do so when they are
 * expanded.
 */
export function fitsRow(row: ProgramRow, args: readonly CommandWord[]): boolean {
  if (row.always === true) return true;
  if (row.known !== undefined && !startsKnown(row.known, args)) return true;
  if (
    row.pattern !== undefined &&
    args.some(({ literal }) => literal === null || row.pattern?.test(literal))
  )
    return true;
  if (row.bundled === true && (args[0]?.literal ?? null) === null && args.length > 0) return true;
  if (row.bundled === true && hasLetter(row.short, args[0]?.literal ?? '')) return true;
  const rest = args.findIndex((word) => !mayBeOption(word));
  if (row.first !== undefined && !isPlainFirst(row.first, args)) return true;
  return hasOption(row, row.leading === true && rest !== -1 ? args.slice(0, rest) : args);
}

function startsKnown(known: readonly string[], args: readonly CommandWord[]): boolean {
  const rest = args.find(
    ({ literal }) => literal === null || !literal.startsWith('-') || !known.includes(literal),
  );
  if (rest === undefined) return args.length > 0;
  return rest.literal !== null && known.includes(rest.literal);
}

function isPlainFirst(first: RegExp, args: readonly CommandWord[]): boolean {
  const word = args.find(
    ({ literal }) => literal === null || !literal.startsWith('-') || literal === '-',
  );
  return word === undefined || (word.literal !== null && first.test(word.literal));
}

function hasOption(row: ProgramRow, args: readonly CommandWord[]): boolean {
  const { long = [], short = '', words: whole = [] } = row;
  if (long.length === 0 && short === '' && whole.length === 0) return false;
  for (const word of args) {
    const text = word.literal;
    if (text === null && mayBeOption(word)) return true;
    if (text === null) continue;
    if (
      whole.some(
        (name) =>
          text === name ||
          text.startsWith(`${name}=`) ||
          `-${name}` === text ||
          text.startsWith(`-${name}=`),
      )
    )
      return true;
    if (text === '--' && row.endless !== true) return false;
    if (isLong(long, text) || (/^-[^-]/.test(text) && hasLetter(short, text))) return true;
  }
  return false;
}

/**
 * Abbreviations count: `--checkp` is `--checkpoint-action`. One that is too short to be unique is
 * refused by the program itself.
 */
function isLong(long: readonly string[], text: string): boolean {
  if (!text.startsWith('--') || text === '--') return false;
  const [name = ''] = text.slice(2).split('=');
  return name !== '' && long.some((option) => option.startsWith(name));
}

const hasLetter = (letters: string | undefined, text: string): boolean =>
  letters !== undefined && text.split('').some((letter) => letters.includes(letter));
