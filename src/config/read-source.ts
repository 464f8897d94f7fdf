/** Reads a YAML or JSON file and knows where in it everything stands. */

import { constants, openSync, closeSync, fstatSync, readFileSync } from 'node:fs';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { describeThrown } from '../core/contract/errors.ts';
import type { DataPath, Problem } from './problem.ts';

/** Larger than any stack somebody wrote. */
const MAX_FILE_BYTES = 262_144;
const MAX_ALIASES = 100;

/** Where something stands; lines and columns are counted from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** What was read. A file that could not be read has mistakes and no data. */
export interface Source {
  readonly data: unknown;
  readonly mistakes: readonly { readonly message: string; readonly position: Position | null }[];
  /** The nearest place that is in the file. `null` for a program, which has no such places. */
  positionOf(path: DataPath, at: Problem['at']): Position | null;
}

/** Throws for a file that cannot be opened; everything else is a mistake in it. */
export function readSource(file: string, isJson: boolean): Source {
  const text = readBounded(file);
  if (text === null) return broken(`the file is larger than ${MAX_FILE_BYTES} bytes`, null);
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'silent',
      version: '1.2',
      schema: 'core',
    });
    // A tag that nobody knows is only a warning to the parser.
    const found = [...document.errors, ...document.warnings].map(({ message, pos }) => ({
      message: said(message),
      position: at(pos[0]),
    }));
    // What follows the first place that is no YAML is only the echo of it.
    const mistakes = found.filter((each) => !isSyntax(each) || each === found.find(isSyntax));
    visit(document, {
      Pair(_key, { key }) {
        if (!isScalar(key))
          mistakes.push({ message: 'a key must be plain text', position: at(rangeOf(key)) });
      },
    });
    if (mistakes.length === 0 && isJson && !isJsonText(text))
      mistakes.push({ message: 'this is YAML, but not JSON', position: at(0) });
    if (mistakes.length > 0) return { data: undefined, mistakes, positionOf: () => null };
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { data, mistakes, positionOf: (path, side) => at(offsetOf(document, path, side)) };
  } catch (thrown) {
    // Bombs of aliases, and nesting that is deeper than the stack.
    return broken(
      thrown instanceof RangeError ? 'the file is nested too deeply' : said(describeThrown(thrown)),
      { line: 1, column: 1 },
    );
  }
}

const broken = (message: string, position: Position | null): Source => ({
  data: undefined,
  mistakes: [{ message, position }],
  positionOf: () => null,
});

/** Looks at what was opened: a pipe would be waited for, and a file may grow between two looks. */
function readBounded(file: string): string | null {
  const handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw Object.assign(new Error('not a file'), { code: 'ENOTFILE' });
    if (stat.size > MAX_FILE_BYTES) return null;
    const bytes = readFileSync(handle);
    return bytes.length > MAX_FILE_BYTES ? null : bytes.toString('utf8');
  } finally {
    closeSync(handle);
  }
}

/** The parser's own words, without a capital and without the text it quotes. */
function said(message: string): string {
  if (message.startsWith('Map keys must be unique')) return 'this key is there twice';
  if (message.startsWith('Unresolved tag')) return 'tags are not taken';
  if (message.startsWith('Excessive alias count'))
    return `there are too many aliases; ${MAX_ALIASES} are taken`;
  const [first = ''] = message.split(/[:;\n]/);
  return `${NOT_YAML}: ${first.replaceAll(/(["'`]).*?\1/g, '…')}`;
}

const NOT_YAML = 'this is not YAML';
const isSyntax = ({ message }: { readonly message: string }): boolean =>
  message.startsWith(NOT_YAML);

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// Keys are nodes or nothing.
const rangeOf = (node: unknown): number => (node as Partial<Node> | null)?.range?.[0] ?? 0;

/** Follows the path as far as the file goes. */
function offsetOf(document: Document, path: DataPath, at: Problem['at']): number {
  let node: unknown = document.contents;
  let offset = rangeOf(node);
  for (const [index, part] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node)) {
      node = node.items[Number(part)];
    } else if (isMap(node)) {
      const pair = node.items.find(
        ({ key }) => isScalar(key) && String(key.value) === String(part),
      );
      if (pair === undefined) return offset;
      const isLast = index === path.length - 1;
      if (isLast && at === 'key') return rangeOf(pair.key);
      node = pair.value;
      // A value that is left out has no place of its own.
      if (!isAlias(node) && (node === null || (isScalar(node) && node.value === null)))
        return rangeOf(pair.key);
    } else return offset;
    if (node === undefined || node === null) return offset;
    offset = rangeOf(node);
  }
  return offset;
}
