/** A script in a frontmatter, and exactly where it stands. */

import { Scalar } from 'yaml';
import type { Position, ScriptText } from '../artifact.ts';
import type { Member, ScalarNode } from './frontmatter.ts';
import type { FileScope } from './scope.ts';

/**
 * Takes a literal block (`|`) or a text on one line. A folded block and a text over several lines
 * are refused: their lines would stand elsewhere than where an error points to. `lenient` takes
 * them, with places that are only near.
 */
export function readScript(
  scope: FileScope,
  owner: string,
  member: Member,
): ScriptText | undefined {
  const { frontmatter, file, lenient } = scope;
  const scalar = frontmatter.scalarOf(member.value);
  const wrong = (message: string): undefined => {
    scope.report(member.at, `${owner} ${member.key} ${message}`, 'script');
    return undefined;
  };
  if (scalar === null) return wrong('must be text');
  const { type, range } = scalar;
  if (type === Scalar.BLOCK_FOLDED && !lenient)
    return wrong('must not be folded (">"), or its lines would move; write "|"');
  const isBlock = type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED;
  const source = textOf(scalar);
  if (source === null) return wrong('must be text');
  if (source.trim() === '') return lenient ? undefined : wrong('must not be empty');
  const written = frontmatter.text.slice(range?.[0] ?? 0, range?.[1] ?? 0);
  if (!isBlock && !lenient && (written.includes('\n') || source.includes('\n')))
    return wrong('must be on one line or a block; write "|" and begin on the next line');
  const { line, column } = isBlock
    ? blockStart(written, range?.[0] ?? 0, source, frontmatter.at)
    : lineStart(scalar, member.at);
  return Object.freeze({ source, file, firstLine: line, firstColumn: column });
}

/** An expression such as `True` is a value to YAML: plain text counts as it is written. */
function textOf({ type, value, source }: ScalarNode): string | null {
  if (type === Scalar.PLAIN) return source ?? null;
  return typeof value === 'string' ? value : null;
}

const lineStart = ({ type }: ScalarNode, at: Position): Position => {
  const isQuoted = type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE;
  return isQuoted ? { line: at.line, column: at.column + 1 } : at;
};

/**
 * The lines of a literal block are those of the file, less its indentation: the first that is not
 * blank tells how much that is.
 */
function blockStart(
  written: string,
  offset: number,
  source: string,
  at: (offset: number) => Position,
): Position {
  const header = written.indexOf('\n');
  const first = at(offset + header + 1);
  const lines = source.split('\n');
  const index = lines.findIndex((line) => line.trim() !== '');
  const [shown = ''] = written
    .slice(header + 1)
    .split('\n')
    .slice(index, index + 1);
  const indent = shown.replace(/\r$/, '').length - (lines[index] ?? '').length;
  return { line: first.line, column: Math.max(indent, 0) + 1 };
}
