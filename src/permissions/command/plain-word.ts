/**
 * Reads the words of a plain line: what every shell takes for one word, and how much of it is
 * known.
 */

import { type CommandWord, literalWord } from './command-word.ts';

/**
 * A line with more commands than these cannot be judged by a person, and takes longer to read than
 * one of the same length with longer words.
 */
export const MAX_COMMANDS = 500;
/** How many pieces a line may be made of: quotes, substitutions, bare text. */
export const MAX_PARTS = 2500;

const BARE = /[A-Za-z0-9_@%+:,./-]+/y;
const IN_QUOTES = /[^"\\$`!]+/y;
const COMMENT = /#[^\n]*/y;
const PARAMETER = /\$(?:[A-Za-z_][A-Za-z0-9_]*(?!\[)(?![A-Za-z0-9_])|\{[A-Za-z_][A-Za-z0-9_]*\})/y;

/** A place in a line, and what was found up to there. */
export interface Reader {
  readonly line: string;
  readonly commands: (readonly CommandWord[])[];
  readonly variables: { readonly name: string; readonly forProgram: boolean }[];
  readonly files: { readonly name: string | null; readonly isWritten: boolean }[];
  at: number;
  nesting: number;
  parts: number;
  /** Reads `$(…)` or `(…)`, of which so many characters open it. */
  readonly readNested: (reader: Reader, opening: number) => boolean;
  /** Stays once something was not plain, wherever reading goes on from there. */
  problem: 'too_long' | 'shells_differ' | null;
}

/** Takes what `pattern`, a sticky one, finds right here. */
export function taken(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.line);
  if (found !== null) reader.at = pattern.lastIndex;
  return found;
}

/** What was read is not plain. */
export function fail(reader: Reader): false {
  reader.problem ??= 'shells_differ';
  return false;
}

/** Counts a part of a word, a redirection or a command. */
export function isOneTooMany(reader: Reader): boolean {
  reader.parts += 1;
  if (reader.parts > MAX_PARTS || reader.commands.length > MAX_COMMANDS)
    reader.problem ??= 'too_long';
  return reader.problem === 'too_long';
}

/** The character here, or some places ahead; empty at the end. */
export const next = ({ line, at }: Reader, ahead = 0): string => line.charAt(at + ahead);
/** The character before; empty at the beginning. */
export const previous = ({ line, at }: Reader): string => line.charAt(at - 1);
/** Whether a text stands here. */
export const follows = ({ line, at }: Reader, text: string): boolean => line.startsWith(text, at);
/** A space or a tab. */
export const isBlank = (char: string): boolean => char === ' ' || char === '\t';

/**
 * Blanks, a continued line behind one, and a comment at the end of a line that is not inside
 * brackets.
 */
export function skipBlanks(reader: Reader): void {
  for (;;) {
    while (isBlank(next(reader))) reader.at += 1;
    if (!isBlank(previous(reader)) || !follows(reader, '\\\n')) break;
    reader.at += 2;
  }
  if (next(reader) !== '#' || reader.nesting > 0) return;
  const before = previous(reader);
  if (before === '' || before === ';' || before === '\n' || isBlank(before)) taken(reader, COMMENT);
}

/** What ends a word and a simple command: an operator, a newline, the end. */
export const isOperator = (char: string): boolean => char === '' || '\n;&|)'.includes(char);

interface Parts {
  text: string;
  /** Where the word is not known any more: nothing is added to what it starts with. */
  isKnown: boolean;
  splits: boolean;
  /** What stands since the last slash; `null` where a variable is a part of it. */
  component: string | null;
}

/** A word up to a blank or an operator; `null` where there is none, or one that is not plain. */
export function readWord(reader: Reader): CommandWord | null {
  const start = reader.at;
  const parts: Parts = { text: '', isKnown: true, splits: false, component: '' };
  while (!isBlank(next(reader)) && !isOperator(next(reader)))
    if (!readPart(reader, parts, reader.at === start)) return null;
  if (reader.at === start) return null;
  const { text, isKnown, splits } = parts;
  return isKnown ? literalWord(text) : Object.freeze({ literal: null, start: text, splits });
}

const add = (parts: Parts, text: string): true => {
  if (parts.isKnown) parts.text += text;
  const slash = text.lastIndexOf('/');
  if (slash !== -1) parts.component = text.slice(slash + 1);
  else if (parts.component !== null) parts.component += text;
  return true;
};

const addUnknown = (parts: Parts, splits: boolean): true => {
  parts.isKnown = false;
  parts.splits ||= splits;
  parts.component = null;
  return true;
};

/**
 * Whether a glob here may find `.` and `..`, which bash leaves out and other shells hand on: it
 * stands behind one of them, or behind a variable that may be one.
 */
const mayFindParents = ({ component }: Parts): boolean =>
  component === null || component === '.' || component === '..';

/** A glob: several words, each of which starts as it does. */
const addGlob = (parts: Parts): true => {
  parts.isKnown = false;
  parts.component = `${parts.component ?? ''}*`;
  return true;
};

/** One part of a word, if it is plain. */
function readPart(reader: Reader, parts: Parts, isFirst: boolean): boolean {
  if (isOneTooMany(reader)) return false;
  const bare = taken(reader, BARE)?.[0];
  if (bare !== undefined) return add(parts, bare);
  const char = next(reader);
  const after = next(reader, 1);
  const isWhole = isFirst && (isBlank(after) || isOperator(after));
  if (char === "'") return readSingleQuoted(reader, parts);
  if (char === '"') return readDoubleQuoted(reader, parts);
  if (char === '$') return readDollar(reader, parts, false);
  // `find -exec` and `xargs` are given it, and no shell takes it for more than the two letters.
  if (
    isFirst &&
    follows(reader, '{}') &&
    (isBlank(next(reader, 2)) || isOperator(next(reader, 2)))
  ) {
    reader.at += 2;
    return add(parts, '{}');
  }
  if (char === '\\' && /[ -~]/.test(after)) {
    reader.at += 2;
    return add(parts, after);
  }
  const isPlain = char === '=' ? !isFirst || isWhole : char === ']' && isWhole;
  // A file name that a glob finds starts as the glob does: it becomes several words, but none that
  // is different in kind.
  const isUnknown =
    char === '*' || char === '?' || (char === '~' && isFirst && (isWhole || after === '/'));
  if (!isPlain && !isUnknown) return false;
  reader.at += 1;
  if (isPlain) return add(parts, char);
  if (char === '~') {
    add(parts, '~');
    return addUnknown(parts, false);
  }
  return mayFindParents(parts) ? fail(reader) : addGlob(parts);
}

function readSingleQuoted(reader: Reader, parts: Parts): boolean {
  const end = reader.line.indexOf("'", reader.at + 1);
  if (end === -1) return fail(reader);
  add(parts, reader.line.slice(reader.at + 1, end));
  reader.at = end + 1;
  return true;
}

/**
 * Nothing that an interactive shell takes from its history, and no backslash but before the four
 * that it always quotes.
 */
function readDoubleQuoted(reader: Reader, parts: Parts): boolean {
  reader.at += 1;
  while (next(reader) !== '"') {
    if (isOneTooMany(reader)) return false;
    const text = taken(reader, IN_QUOTES)?.[0];
    const escaped = /^\\(["$`\\])/.exec(reader.line.slice(reader.at, reader.at + 2))?.[1];
    if (text !== undefined) add(parts, text);
    else if (escaped !== undefined) {
      reader.at += 2;
      add(parts, escaped);
    } else if (next(reader) !== '$' || !readDollar(reader, parts, true)) return fail(reader);
  }
  reader.at += 1;
  return true;
}

/**
 * `$name`, `${name}` or `$(…)`. Not known before the line runs; outside of quotes it may become
 * several words, or none.
 */
function readDollar(reader: Reader, parts: Parts, isQuoted: boolean): boolean {
  if (taken(reader, PARAMETER) !== null) return addUnknown(parts, !isQuoted);
  return (
    (follows(reader, '$(') && reader.readNested(reader, 2) && addUnknown(parts, !isQuoted)) ||
    fail(reader)
  );
}
