/**
 * Test data of the native interpreter: files of chunks, each with comments that say which lines
 * fail, and how.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { RE2JS } from 're2js';
import type { Outcome } from './outcome.ts';

/**
 * What a chunk is put to: run it, or compile it and look at errors of the parser or the resolver
 * alone.
 */
export type ChunkUse = 'run' | 'resolve' | 'parse';

/** A piece of a file. Lines are those of the file: the source is padded. */
export interface Chunk {
  /** The file and the line the chunk begins at. */
  readonly name: string;
  readonly file: string;
  readonly use: ChunkUse;
  readonly source: string;
  /** Patterns of the errors that lines of the chunk must end in. */
  readonly expected: ReadonlyMap<number, string>;
}

/** Where the test data lies below the sources, and what each folder's chunks are put to. */
const FOLDERS: readonly (readonly [folder: string, use: ChunkUse])[] = [
  ['starlark/testdata', 'run'],
  ['resolve/testdata', 'resolve'],
  ['syntax/testdata', 'parse'],
];

/** Every chunk below the native interpreter's sources, in the order of files and lines. */
export function readAllChunks(sources: string): readonly Chunk[] {
  return FOLDERS.flatMap(([folder, use]) =>
    readdirSync(join(sources, folder))
      .filter((file) => file.endsWith('.star'))
      .sort()
      .flatMap((file) =>
        splitChunks(join(folder, file), readFileSync(join(sources, folder, file), 'utf8'), use),
      ),
  );
}

/** Splits a file at its lines of three dashes. */
export function splitChunks(path: string, text: string, use: ChunkUse): readonly Chunk[] {
  let line = 1;
  return text.split('\n---\n').map((piece) => {
    const first = line;
    const lines = piece.split('\n');
    line += lines.length + 1;
    const expected = new Map(lines.flatMap((one, index) => expectationOf(one, first + index)));
    const source = '\n'.repeat(first - 1) + lines.map(withoutTestLoads).join('\n');
    return { name: `${basename(path)}:${first}`, file: path, use, source, expected };
  });
}

/**
 * `### "pattern"` at the end of a line. The pattern is a Go literal: quoted with escapes, or raw
 * between backticks.
 */
function expectationOf(
  line: string,
  number: number,
): readonly (readonly [line: number, pattern: string])[] {
  const [, literal] = /###\s*(["`].*["`])\s*$/.exec(line) ?? [];
  if (literal === undefined) return [];
  // The escapes of Go's quoted literals that occur in patterns are those of JSON.
  return [
    [number, literal.startsWith('`') ? literal.slice(1, -1) : (JSON.parse(literal) as string)],
  ]; // A literal is text.
}

const TEST_LOAD =
  /^load\(["'](?:assert|json)\.star["'](?:, *["'](?:assert|freeze|json)["'])+\)\s*$/;

/**
 * The dialect has no `load`: what the data loads to test with is predeclared, and the line is left
 * empty.
 */
const withoutTestLoads = (line: string): string => (TEST_LOAD.test(line) ? '' : line);

/** A line of the chunk and what is wrong with it. Line 0 is the chunk as a whole. */
export interface Complaint {
  readonly line: number;
  readonly text: string;
}

/** What keeps an outcome from being what the chunk expects; nothing when it passes. */
export function complaintsAbout(chunk: Chunk, outcome: Outcome): readonly Complaint[] {
  const complaints: Complaint[] = outcome.reports.map(({ line, text }) => ({ line, text }));
  const missing = new Map(chunk.expected);
  for (const { line, text, blame } of errorsOf(chunk, outcome)) {
    const pattern = chunk.expected.get(line);
    missing.delete(line);
    if (pattern === undefined) complaints.push({ line: blame, text });
    else if (!RE2JS.compile(pattern).matcher(text).find())
      complaints.push({ line: blame, text: `"${text}" does not match "${pattern}"` });
  }
  return [
    ...complaints,
    ...[...missing].map(([line, pattern]) => ({
      line,
      text: `no error that matches "${pattern}"`,
    })),
  ];
}

interface FoundError {
  readonly line: number;
  readonly text: string;
  /** The line at the top level of the file that led to the error. */
  readonly blame: number;
}

function errorsOf(chunk: Chunk, { error }: Outcome): readonly FoundError[] {
  if (error === undefined) return [];
  const isOf = {
    run: true,
    resolve: error.kind === 'resolve' || error.kind === 'syntax',
    parse: error.kind === 'syntax',
  };
  if (!isOf[chunk.use]) return [];
  const errors = error.all ?? [error];
  return errors.map(({ line, text }) => ({ line, text, blame: error.stack?.at(-1)?.line ?? line }));
}
