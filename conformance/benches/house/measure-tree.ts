/** What the sources weigh, read from their text and their syntax tree. */

import { dirname, join } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

/** The text of every file by its path from the root. */
export type Sources = ReadonlyMap<string, string>;

/** A place that can be looked up, with its size in lines or columns. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly size: number;
}

export interface TreeFigures {
  readonly files: number;
  readonly lines: number;
  /** Files that exactly one other file imports, doors of the package left out. */
  readonly singleImporters: readonly string[];
  /** Lines over 100 columns that no string, template or pattern makes so long. */
  readonly longLines: readonly Place[];
  /** Of the lines of `src/core`, the part that is comment. */
  readonly coreComments: number;
  /**
   * Functions with a body in braces, from the first line to the last, longest first. Lines of a
   * function inside another one count for both. An arrow without braces is an expression, and most
   * are on one line: counting them would make every p90 look short.
   */
  readonly functions: readonly Place[];
  /** Lines of every folder of `middleware/`, the longest first. */
  readonly layers: readonly { readonly folder: string; readonly lines: number }[];
}

const MAX_COLUMNS = 100;

/** The figures of a tree. A file of `doors` is what the package exports, and has readers outside. */
export function measureTree(sources: Sources, doors: ReadonlySet<string>): TreeFigures {
  const modules = [...sources].map(([file, text]) => readModule(file, text));
  const importers = importersIn(modules);
  const core = modules.filter(({ file }) => file.startsWith('src/core/'));
  return {
    files: modules.length,
    lines: sum(modules.map(({ lines }) => lines.length)),
    singleImporters: [...importers]
      .filter(([file, from]) => sources.has(file) && from.size === 1 && !doors.has(file))
      .map(([file]) => file)
      .sort(),
    longLines: modules.flatMap(longLinesOf),
    coreComments:
      sum(core.map(({ commentLines }) => commentLines.size)) /
      sum(core.map(({ lines }) => lines.length)),
    functions: modules.flatMap(({ functions }) => functions).sort((a, b) => b.size - a.size),
    layers: layersIn(modules),
  };
}

interface Module {
  readonly file: string;
  readonly lines: readonly string[];
  /** Paths from the root of the files it imports, types and files loaded later among them. */
  readonly imports: readonly string[];
  readonly functions: readonly Place[];
  /** Columns between which a string, template or pattern stands, by line. */
  readonly literals: ReadonlyMap<number, readonly Span[]>;
  /** Lines that begin inside a comment or with one. */
  readonly commentLines: ReadonlySet<number>;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function readModule(file: string, text: string): Module {
  const { program, module, comments, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const lines = text.replace(/\n$/, '').split('\n');
  const lineAt = lineFinder(lines);
  const functions: Place[] = [];
  const literals = new Map<number, Span[]>();
  const seeFunction = (node: Span & { readonly body: { readonly type: string } | null }): void => {
    if (node.body === null || !/^(?:BlockStatement|FunctionBody)$/.test(node.body.type)) return;
    const { line } = lineAt(node.start);
    functions.push({ file, line, size: lineAt(node.end).line - line + 1 });
  };
  const seeLiteral = (node: Span): void => {
    const [from, to] = [lineAt(node.start), lineAt(node.end)];
    for (let line = from.line; line <= to.line; line += 1) {
      const start = line === from.line ? from.column : 0;
      const end = line === to.line ? to.column : Number.POSITIVE_INFINITY;
      literals.set(line, [...(literals.get(line) ?? []), { start, end }]);
    }
  };
  new Visitor({
    FunctionDeclaration: seeFunction,
    FunctionExpression: seeFunction,
    ArrowFunctionExpression: seeFunction,
    TemplateLiteral: seeLiteral,
    Literal: (node) => {
      if (typeof node.value === 'string' || 'regex' in node) seeLiteral(node);
    },
  }).visit(program);
  const requests = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
      text.slice(start + 1, end - 1),
    ),
  ];
  const imports = requests
    .filter((request) => request.startsWith('.'))
    .map((request) => join(dirname(file), request));
  return {
    file,
    lines,
    imports,
    functions,
    literals,
    commentLines: linesOf(comments, lines, lineAt),
  };
}

interface Position {
  /** From 1. */
  readonly line: number;
  /** From 0. */
  readonly column: number;
}

function lineFinder(lines: readonly string[]): (offset: number) => Position {
  const starts: number[] = [];
  let start = 0;
  for (const { length } of lines) {
    starts.push(start);
    start += length + 1;
  }
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) };
  };
}

function linesOf(
  comments: readonly Span[],
  lines: readonly string[],
  lineAt: (offset: number) => Position,
): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { start, end } of comments) {
    const from = lineAt(start);
    const isBehindCode = (lines[from.line - 1] ?? '').slice(0, from.column).trim() !== '';
    for (let line = from.line + (isBehindCode ? 1 : 0); line <= lineAt(end).line; line += 1)
      found.add(line);
  }
  return found;
}

function importersIn(modules: readonly Module[]): ReadonlyMap<string, ReadonlySet<string>> {
  const importers = new Map<string, Set<string>>();
  for (const { file, imports } of modules)
    for (const imported of imports)
      importers.set(imported, (importers.get(imported) ?? new Set()).add(file));
  return importers;
}

/** A string that reaches over the edge, or up to it with no more than its punctuation behind. */
const fillsTheLine = ({ end }: Span, length: number) => end >= Math.min(length - 4, MAX_COLUMNS);

function longLinesOf({ file, lines, literals }: Module): readonly Place[] {
  return lines.flatMap((text, index) => {
    const line = index + 1;
    const isExcused = literals.get(line)?.some((span) => fillsTheLine(span, text.length)) === true;
    return text.length > MAX_COLUMNS && !isExcused ? [{ file, line, size: text.length }] : [];
  });
}

function layersIn(modules: readonly Module[]): TreeFigures['layers'] {
  const folders = new Map<string, number>();
  for (const { file, lines } of modules) {
    const [top, folder, ...rest] = file.split('/');
    if (top === 'middleware' && folder !== undefined && rest.length > 0)
      folders.set(folder, (folders.get(folder) ?? 0) + lines.length);
  }
  return [...folders]
    .map(([folder, lines]) => ({ folder, lines }))
    .sort((a, b) => b.lines - a.lines);
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
