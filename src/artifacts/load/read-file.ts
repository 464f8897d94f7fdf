/** One file becomes tools and hooks. Never throws for what stands in it. */

import { posix } from 'node:path';
import { isUtf8 } from 'node:buffer';
import { describeThrown, isAlliumError } from '../../core/contract/errors.ts';
import type { Jail } from '../../jail/jail.ts';
import type { ArtifactProblem, Position } from '../artifact.ts';
import type { FoundFile } from './find-files.ts';
import { MAX_FRONTMATTER, parseFrontmatter, TOO_DEEP, TOO_MANY_ALIASES } from './frontmatter.ts';
import { type Bundle, readBundle } from './read-bundle.ts';
import { readHook } from './read-hook.ts';
import { readTool } from './read-tool.ts';
import type { FileScope } from './scope.ts';

/** Larger than any tool somebody wrote. */
export const MAX_FILE_BYTES = 1_048_576;

export interface FileContents extends Bundle {
  readonly problems: readonly ArtifactProblem[];
}

const TOP: Position = { line: 1, column: 1 };

/** Reads a file of the project through its jail. */
export async function readArtifactFile(
  root: Jail,
  found: FoundFile,
  lenient: boolean,
): Promise<FileContents> {
  const problem = (message: string): FileContents =>
    only({ file: found.path, ...TOP, severity: 'error', rule: 'file', message });
  try {
    const bytes = await readBounded(root, found.path);
    return bytes === null
      ? problem(`the file is larger than ${MAX_FILE_BYTES} bytes`)
      : readArtifact(bytes, found, lenient);
  } catch (thrown) {
    if (!isAlliumError(thrown, 'ERR_JAIL')) throw thrown;
    return problem(`the file cannot be read: ${thrown.message.replace(/^jail: /, '')}`);
  }
}

const only = (problem: ArtifactProblem): FileContents => ({
  tools: [],
  hooks: [],
  policy: null,
  problems: [problem],
});

async function readBounded(root: Jail, path: string): Promise<Buffer | null> {
  const handle = await root.open(path);
  try {
    if ((await handle.stat()).size > MAX_FILE_BYTES) return null;
    const bytes = await handle.readFile();
    // It may have grown between the two looks.
    return bytes.length > MAX_FILE_BYTES ? null : bytes;
  } finally {
    await handle.close();
  }
}

/** What the bytes of a file say. Problems are in the order of the file. */
export function readArtifact(
  bytes: Buffer,
  { path, role }: FoundFile,
  lenient: boolean,
): FileContents {
  const problems: ArtifactProblem[] = [];
  const told = new Set<string>();
  const report: FileScope['report'] = (
    { line, column },
    message,
    rule = 'format',
    severity = 'error',
  ) => {
    // What is shared by an alias is read once for each use.
    const key = `${line}:${column}:${message}`;
    if (!told.has(key)) problems.push({ file: path, line, column, severity, rule, message });
    told.add(key);
  };
  let contents: Omit<FileContents, 'problems'> = { tools: [], hooks: [], policy: null };
  try {
    contents = read(bytes, { path, role }, lenient, report);
  } catch (thrown) {
    report(TOP, excessOf(thrown), 'excess');
  }
  return { ...contents, problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
}

/**
 * Nesting that is deeper than the stack, and bombs of aliases: the parser notices those that it
 * expands itself.
 */
function excessOf(thrown: unknown): string {
  if (thrown instanceof RangeError) return TOO_DEEP;
  return thrown instanceof ReferenceError ? TOO_MANY_ALIASES : describeThrown(thrown);
}

function read(
  bytes: Buffer,
  { path, role }: FoundFile,
  lenient: boolean,
  report: FileScope['report'],
): Omit<FileContents, 'problems'> {
  const nothing = { tools: [], hooks: [], policy: null };
  const text = decodeText(bytes);
  if (typeof text !== 'string') {
    report(text, 'the file is not UTF-8 text', 'encoding');
    return nothing;
  }
  const split = splitFrontmatter(text, lenient);
  if ('message' in split) {
    report(split, split.message, 'frontmatter');
    return nothing;
  }
  if (split.frontmatter.length > MAX_FRONTMATTER) {
    report(
      { line: split.firstLine, column: 1 },
      `the frontmatter is longer than ${MAX_FRONTMATTER} characters`,
      'excess',
    );
    return nothing;
  }
  const frontmatter = parseFrontmatter(split.frontmatter, split.firstLine, (at, message) =>
    report(at, message, 'yaml'),
  );
  if (frontmatter === null) return nothing;
  const scope: FileScope = { file: path, lenient, frontmatter, report };
  if (role === 'bundle' || role === 'harness') return readBundle(scope, role === 'harness');
  const naming = {
    name: posix.basename(path, '.md'),
    at: { line: split.firstLine - 1, column: 1 },
    isEntry: false,
    body: split.body,
  };
  if (role === 'tool') return { ...nothing, tools: [readTool(scope, frontmatter.members, naming)] };
  const hook = readHook(scope, frontmatter.members, naming, 0);
  return { ...nothing, hooks: hook === null ? [] : [hook] };
}

/** A byte order mark at the beginning is dropped: it is no column of the first line. */
function decodeText(bytes: Buffer): string | Position {
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes)) return firstBadByte(bytes, text);
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/**
 * A replacement character that the file does not hold itself stands where a byte could not be read.
 */
function firstBadByte(bytes: Buffer, text: string): Position {
  let [offset, line, column] = [0, 1, 1];
  for (const character of text) {
    const length = Buffer.byteLength(character);
    if (character === '\uFFFD' && !bytes.subarray(offset, offset + length).equals(REPLACEMENT))
      break;
    if (character === '\n') [line, column] = [line + 1, 1];
    else if (offset > 0 || character !== '\uFEFF') column += character.length;
    offset += length;
  }
  return { line, column };
}

const REPLACEMENT = Buffer.from('\uFFFD');

/** The parts of a file. Lines are counted from 1. */
interface SplitFile {
  readonly frontmatter: string;
  /** The line on which the frontmatter begins. */
  readonly firstLine: number;
  /** Trimmed. */
  readonly body: string;
}

interface SplitMistake {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

const MUST_START = 'markdown file must start with --- frontmatter delimiter';
const NO_CONTENT = 'no content after opening --- delimiter';
const NO_CLOSER = 'no closing --- delimiter found for frontmatter';
const ALONE = 'a --- delimiter stands alone on its line';

/**
 * A file begins with a line that is `---` and its frontmatter ends with the next one; blank lines
 * may stand before, blanks behind. A line that only begins with `---` is a mistake: it could be
 * meant as either. `lenient` takes it for a delimiter, ignores what is behind it, and takes three
 * dashes at the very end of the file for the closing one, as old files have them.
 */
function splitFrontmatter(text: string, lenient = false): SplitFile | SplitMistake {
  const lines = text.split('\n');
  const open = lines.findIndex((line) => line.trim() !== '');
  const opening = lines[open]?.replace(/\r$/, '') ?? '';
  const at = (line: number, message: string, column = 1): SplitMistake => ({
    message,
    line,
    column,
  });
  if (!opening.startsWith('---')) return at(Math.max(open, 0) + 1, MUST_START);
  if (!lenient && !isDelimiter(opening)) return at(open + 1, `${MUST_START}; ${ALONE}`, 4);
  if (lines.slice(open + 1).every((line) => line.trim() === '')) return at(open + 1, NO_CONTENT);

  const close = lines.findIndex((line, index) => index > open && line.startsWith('---'));
  if (close === -1)
    return (lenient ? closedAtEnd(text, lines, open) : null) ?? at(open + 1, NO_CLOSER);
  if (!lenient && !isDelimiter(lines[close] ?? '')) return at(close + 1, ALONE, 4);
  return {
    frontmatter: lines
      .slice(open + 1, close)
      .map((line) => `${line}\n`)
      .join(''),
    firstLine: open + 2,
    body: lines
      .slice(close + 1)
      .join('\n')
      .trim(),
  };
}

const isDelimiter = (line: string): boolean => /^---[ \t]*\r?$/.test(line);

function closedAtEnd(text: string, lines: readonly string[], open: number): SplitFile | null {
  const trimmed = text.trimEnd();
  if (!trimmed.endsWith('---')) return null;
  const before = lines.slice(0, open + 1).reduce((length, line) => length + line.length + 1, 0);
  return { frontmatter: trimmed.slice(before, -3), firstLine: open + 2, body: '' };
}
