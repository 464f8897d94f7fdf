/**
 * Reads every script as the engine will, without running it: mistakes are told before a call meets
 * them.
 */

import type { ArtifactProblem, HookArtifact, ScriptText, ToolArtifact } from '../artifact.ts';
import { BUILTIN_NAMES } from '../builtins/builtins-for.ts';
import { SCRIPT_LIBRARIES } from '../sandbox/script-request.ts';
import type { Definition, Statement } from '../../starlark/ast.ts';
import { columnOf, lineOf } from '../../starlark/position.ts';
import { compileStarlark, StarlarkError } from '../../starlark/index.ts';
import { parseFile } from '../../starlark/parser.ts';

const PREDECLARED = [...new Set<string>([...BUILTIN_NAMES, ...SCRIPT_LIBRARIES])];

/** What a script must define: which function, and what it is called with. */
interface Entry {
  readonly name: 'run' | 'handle';
  readonly args: readonly string[];
}
const RUN: Entry = { name: 'run', args: ['args'] };
const HANDLE: Entry = { name: 'handle', args: ['event', 'payload'] };

/**
 * Errors of the scripts of a project: no Starlark, names that are not there, and functions that
 * cannot be called.
 */
export function checkScripts(
  tools: readonly ToolArtifact[],
  hooks: readonly HookArtifact[],
): readonly ArtifactProblem[] {
  return [
    ...tools.flatMap(({ script, name }) =>
      script === undefined ? [] : checkScript(script, `tool "${name}"`, RUN),
    ),
    ...hooks.flatMap(({ script, when, name }) => [
      ...checkScript(script, `hook "${name}"`, HANDLE),
      ...(when === undefined
        ? []
        : mistakesIn(when, 'expression', ['event', 'payload', ...SCRIPT_LIBRARIES])),
    ]),
  ];
}

function checkScript(script: ScriptText, owner: string, entry: Entry): readonly ArtifactProblem[] {
  const mistakes = mistakesIn(script, 'module', PREDECLARED);
  return mistakes.length > 0 ? mistakes : entryProblems(script, owner, entry);
}

function mistakesIn(
  script: ScriptText,
  mode: 'module' | 'expression',
  predeclared: readonly string[],
): readonly ArtifactProblem[] {
  const { source, file, firstLine, firstColumn } = script;
  try {
    compileStarlark(source, { file, firstLine, firstColumn, predeclared, mode });
    return [];
  } catch (thrown) {
    if (!(thrown instanceof StarlarkError)) throw thrown;
    return [thrown, ...thrown.also].map(({ message, line, column }) =>
      problem(script, { line, column }, message),
    );
  }
}

/** `null` for what is no Starlark. */
export function statementsOf({
  source,
  firstLine,
  firstColumn,
}: ScriptText): readonly Statement[] | null {
  try {
    return parseFile(source, { firstLine, firstColumn });
  } catch (thrown) {
    if (thrown instanceof StarlarkError) return null;
    throw thrown;
  }
}

function entryProblems(
  script: ScriptText,
  owner: string,
  { name, args }: Entry,
): readonly ArtifactProblem[] {
  const wanted = `${name}(${args.join(', ')})`;
  const statements = statementsOf(script) ?? [];
  const found = statements
    .flatMap((statement) =>
      statement.kind === 'def' && statement.name.name === name ? [statement] : [],
    )
    .at(-1);
  if (found === undefined) {
    // A function may also come of an expression; only running it could tell whether it fits.
    const isAssigned = statements.some(
      ({ kind, ...rest }) =>
        kind === 'assign' && 'target' in rest && 'name' in rest.target && rest.target.name === name,
    );
    return isAssigned ? [] : [problem(script, null, `${owner} script must define ${wanted}`)];
  }
  return isCalledWith(found.definition, args.length)
    ? []
    : [problem(script, placeOf(found.position), `${owner} ${name} must take ${wanted}`)];
}

const placeOf = (position: number) => ({ line: lineOf(position), column: columnOf(position) });

function isCalledWith({ parameters }: Definition, count: number): boolean {
  const star = parameters.findIndex(({ kind }) => kind === '*');
  const positional = parameters
    .slice(0, star === -1 ? undefined : star)
    .filter(({ kind }) => kind === 'plain');
  const needed = positional.filter(({ fallback }) => fallback === null).length;
  const takesMore = star !== -1 && parameters[star]?.name !== null;
  const byNameOnly =
    star === -1
      ? []
      : parameters
          .slice(star + 1)
          .filter(({ kind, fallback }) => kind === 'plain' && fallback === null);
  return needed <= count && (takesMore || positional.length >= count) && byNameOnly.length === 0;
}

function problem(
  script: ScriptText,
  at: { readonly line: number; readonly column: number } | null,
  message: string,
): ArtifactProblem {
  const { line, column } = at ?? { line: script.firstLine, column: script.firstColumn };
  return { file: script.file, line, column, severity: 'error', rule: 'script', message };
}
