/**
 * Reads the part of the shell language that every shell reads alike: plain words, quotes, `$name`,
 * `$(…)`, lists, pipes, subshells, `if`, `for` and a few redirections. It knows nothing else, so
 * whatever is not read here is not allowed unasked.
 */

import { type CommandWord, literalWord } from './command-word.ts';
import {
  fail,
  follows,
  isBlank,
  isOneTooMany,
  isOperator,
  next,
  previous,
  type Reader,
  readWord,
  skipBlanks,
  taken,
} from './plain-word.ts';
import { words } from '../../system/words.ts';

/** What a plain line does. */
interface PlainLine {
  /** Every command with its program first, also those inside `$(…)`. */
  readonly commands: readonly (readonly CommandWord[])[];
  /** Variables that are set, and whether they are handed to a program: `name=value program`. */
  readonly variables: readonly { readonly name: string; readonly forProgram: boolean }[];
  /** Files that are opened, `null` where the name is only known when the line runs. */
  readonly files: readonly { readonly name: string | null; readonly isWritten: boolean }[];
}

/** `$(…)`, `(…)`, `if` and `for` inside one another. */
const MAX_NESTING = 20;

/** Words that some shell does not take for a program where one may stand. */
const RESERVED: ReadonlySet<string> = new Set(
  words(`
    if then elif else fi for do done in while until case esac select function time coproc
    namespace repeat foreach end nocorrect noglob
  `),
);

/** Whether a shell may take the word for part of its language instead of a program. */
export const isReserved = (word: string): boolean => RESERVED.has(word);

const BLANKS = /[ \t]+/y;
const ASSIGNED = /[A-Za-z_][A-Za-z0-9_]*(?==)/y;
const COPIED = /[0-2]?>&[0-2]/y;
const REDIRECTED = /[0-2]?(>>?|<)/y;
const NUMBERED = /\d+[<>]/y;
const KEYWORD = /[a-z]+(?=[ \t\n;)]|$)/y;
const LOOP = /for[ \t]+([A-Za-z_][A-Za-z0-9_]*)[ \t]+in(?=[ \t])/y;
/** Without `=`, which makes an assignment of it, and `%`, which makes a job of it. */
const BARE_PROGRAM = /^(?:\[|[A-Za-z0-9_./][A-Za-z0-9_@+:,./-]*)$/;

/**
 * Reads a line in one pass, or says why not: it is too long, or has anything that shells may read
 * differently.
 */
export function readPlainLine(line: string): PlainLine | 'too_long' | 'shells_differ' {
  // In some encodings the bytes of a letter outside of ASCII reach over a backslash behind it.
  if (/[^\0-\x7f]/.test(line) && /[\\`]/.test(line)) return 'shells_differ';
  const reader: Reader = {
    line,
    commands: [],
    variables: [],
    files: [],
    at: 0,
    nesting: 0,
    parts: 0,
    readNested,
    problem: null,
  };
  const isRead = readList(reader, []) && reader.problem === null && reader.at === line.length;
  return isRead ? reader : (reader.problem ?? 'shells_differ');
}

function skipLines(reader: Reader): void {
  skipBlanks(reader);
  while (next(reader) === '\n') {
    reader.at += 1;
    skipBlanks(reader);
  }
}

/** Whether one of the words, or the bracket, that ends a list stands here. */
function isAtEnd(reader: Reader, ends: readonly string[]): boolean {
  if (reader.at >= reader.line.length) return true;
  if (next(reader) === ')') return ends.includes(')');
  KEYWORD.lastIndex = reader.at;
  return ends.includes(KEYWORD.exec(reader.line)?.[0] ?? '');
}

/** Commands up to one of `ends`, which is left where it is. At least one is there. */
function readList(reader: Reader, ends: readonly string[]): boolean {
  skipLines(reader);
  for (let count = 0, isJoined = false; ; count += 1) {
    if (isAtEnd(reader, ends)) return count > 0 && !isJoined;
    if (isOneTooMany(reader) || !readCommand(reader)) return false;
    skipBlanks(reader);
    isJoined = follows(reader, '&&') || follows(reader, '||') || next(reader) === '|';
    if (isJoined) reader.at += follows(reader, '&&') || follows(reader, '||') ? 2 : 1;
    else if (next(reader) === ';') reader.at += 1;
    else if (next(reader) !== '\n') return isAtEnd(reader, ends);
    skipLines(reader);
  }
}

function readCommand(reader: Reader): boolean {
  if (next(reader) === '(') return readNested(reader, 1) && readRedirections(reader);
  KEYWORD.lastIndex = reader.at;
  const keyword = KEYWORD.exec(reader.line)?.[0] ?? '';
  if (keyword === 'if') return within(reader, readIf) && readRedirections(reader);
  if (keyword === 'for') return within(reader, readFor) && readRedirections(reader);
  return readSimpleCommand(reader);
}

function within(reader: Reader, read: (reader: Reader) => boolean): boolean {
  reader.nesting += 1;
  const isRead = reader.nesting <= MAX_NESTING && read(reader);
  reader.nesting -= 1;
  return isRead;
}

/**
 * `(…)` or `$(…)`, of which `opening` characters open it. Two brackets in a row are arithmetic in
 * some shells.
 */
function readNested(reader: Reader, opening: number): boolean {
  reader.at += opening;
  if (
    next(reader) === '(' ||
    !within(reader, () => readList(reader, [')'])) ||
    next(reader) !== ')'
  )
    return false;
  reader.at += 1;
  return true;
}

/** Takes the word if it ends a list here. */
function takenWord(reader: Reader, word: string): boolean {
  const isHere = isAtEnd(reader, [word]) && follows(reader, word);
  if (isHere) reader.at += word.length;
  return isHere;
}

function readIf(reader: Reader): boolean {
  reader.at += 'if'.length;
  for (;;) {
    if (!readList(reader, ['then']) || !takenWord(reader, 'then')) return false;
    if (!readList(reader, ['elif', 'else', 'fi'])) return false;
    if (!takenWord(reader, 'elif')) break;
  }
  if (takenWord(reader, 'else') && !readList(reader, ['fi'])) return false;
  return takenWord(reader, 'fi');
}

function readFor(reader: Reader): boolean {
  const name = taken(reader, LOOP)?.[1];
  if (name === undefined) return false;
  reader.variables.push({ name, forProgram: false });
  skipBlanks(reader);
  for (let count = 0; next(reader) !== ';' && next(reader) !== '\n'; count += 1) {
    if (count > 0 && !isBlank(previous(reader))) return false;
    if (readWord(reader) === null) return false;
    skipBlanks(reader);
  }
  reader.at += 1;
  skipLines(reader);
  return takenWord(reader, 'do') && readList(reader, ['done']) && takenWord(reader, 'done');
}

/** Variables, a program with its words, and redirections among them. */
function readSimpleCommand(reader: Reader): boolean {
  const names: string[] = [];
  const words: CommandWord[] = [];
  // Taken now: a command stands before those inside its own words.
  const place = reader.commands.push(words) - 1;
  for (let count = 0; !isOperator(next(reader)); count += 1) {
    if (count > 0 && !isBlank(previous(reader)) && previous(reader) !== '\n') return false;
    const redirected = readRedirection(reader);
    if (redirected === false) return false;
    if (redirected === null && !(words.length === 0 && readAssignment(reader, names))) {
      const word = words.length === 0 ? readProgram(reader) : readWord(reader);
      if (word === null) return false;
      words.push(word);
    }
    skipBlanks(reader);
  }
  reader.variables.push(...names.map((name) => ({ name, forProgram: words.length > 0 })));
  if (words.length === 0) reader.commands.splice(place, 1);
  return words.length + names.length > 0;
}

function readAssignment(reader: Reader, names: string[]): boolean {
  const name = taken(reader, ASSIGNED)?.[0];
  if (name === undefined) return false;
  reader.at += 1;
  names.push(name);
  const isEmpty = isBlank(next(reader)) || isOperator(next(reader));
  // A home folder in a value is expanded by some shells in more places than by others.
  return isEmpty || (next(reader) !== '~' && readWord(reader) !== null) || fail(reader);
}

/**
 * The word in the place of a program: nothing that a shell may take for a variable, a job or a word
 * of its own.
 */
function readProgram(reader: Reader): CommandWord | null {
  const start = reader.at;
  if (next(reader) === '[' && isBlank(next(reader, 1))) {
    reader.at += 1;
    return literalWord('[');
  }
  const word = readWord(reader);
  const written = reader.line.slice(start, reader.at);
  if (word === null || RESERVED.has(written)) return null;
  if (word.literal === null || BARE_PROGRAM.test(written)) return word;
  return /['"\\]/.test(written) && !/[=%]/.test(written) ? word : null;
}

/** Redirections behind a command that is not a simple one. */
function readRedirections(reader: Reader): boolean {
  for (skipBlanks(reader); !isOperator(next(reader)); skipBlanks(reader)) {
    if (!isBlank(previous(reader)) || readRedirection(reader) !== true) return false;
  }
  return true;
}

/**
 * `null` where there is none, `false` where there is one that is not plain. Right behind another
 * operator it is not.
 */
function readRedirection(reader: Reader): boolean | null {
  if (!/[\d<>]/.test(next(reader))) return null;
  if (isOneTooMany(reader)) return false;
  const before = previous(reader);
  const isApart = before === '' || before === '\n' || isBlank(before);
  if (taken(reader, COPIED) !== null) return isApart;
  const operator = taken(reader, REDIRECTED)?.[1];
  if (operator === undefined) return taken(reader, NUMBERED) === null ? null : false;
  if (!isApart) return false;
  taken(reader, BLANKS);
  const word = readWord(reader);
  if (word === null) return false;
  reader.files.push({ name: word.literal, isWritten: operator !== '<' });
  return true;
}
