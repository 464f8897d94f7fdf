/** Reads scenario files. What is wrong with them is said with file, line and column. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { AlliumError } from '../../src/index.ts';
import { unknownForm } from './match.ts';
import type { Scenario, Step } from './scenario.ts';
import { scenarioProblems } from './scenario-problems.ts';

/** A scenario and the file it stands in. */
export interface LoadedScenario {
  readonly file: string;
  readonly scenario: Scenario;
}

/**
 * All scenarios of a file or folder, by file name. Throws `ERR_INVALID_SCENARIO` for everything
 * that is wrong with any of them.
 */
export function loadScenarios(fileOrFolder: string): readonly LoadedScenario[] {
  const problems: string[] = [];
  const loaded = filesOf(fileOrFolder).flatMap((path) => {
    const file = relative(process.cwd(), path);
    const scenario = readScenario(readFileSync(path, 'utf8'), file, problems);
    return scenario === null ? [] : [{ file, scenario }];
  });
  const seen = new Map<string, string>();
  for (const { file, scenario } of loaded) {
    const other = seen.get(scenario.id);
    if (other !== undefined) problems.push(`${file}: the id "${scenario.id}" is taken by ${other}`);
    seen.set(scenario.id, file);
  }
  if (loaded.length === 0 && problems.length === 0)
    problems.push(`${fileOrFolder}: there are no scenarios (files that end in .yaml)`);
  if (problems.length > 0) throw invalidScenario(problems);
  return loaded;
}

/** One scenario from the text of a file. */
export function parseScenario(text: string, file: string): Scenario {
  const problems: string[] = [];
  const scenario = readScenario(text, file, problems);
  if (scenario === null) throw invalidScenario(problems);
  return scenario;
}

const invalidScenario = (problems: readonly string[]): AlliumError =>
  new AlliumError('ERR_INVALID_SCENARIO', problems.join('\n'));

function filesOf(fileOrFolder: string): readonly string[] {
  const kind = statSync(fileOrFolder, { throwIfNoEntry: false });
  if (kind === undefined)
    throw invalidScenario([`${fileOrFolder}: there is no such file or folder`]);
  if (kind.isFile()) return [fileOrFolder];
  return readdirSync(fileOrFolder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(fileOrFolder, name));
}

/** Files are read that strangers wrote: what an alias may unfold to is bounded. */
const MAX_ALIASES = 100;

function readScenario(text: string, file: string, problems: string[]): Scenario | null {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    customTags: [],
    merge: false,
  });
  const at = (offset: number | undefined): string => {
    const { line, col } = lines.linePos(offset ?? 0);
    return `${file}:${line}:${col}`;
  };
  if (document.errors.length > 0 || document.warnings.length > 0) {
    for (const { pos, message } of [...document.errors, ...document.warnings])
      problems.push(`${at(pos[0])}: ${firstLine(message)}`);
    return null;
  }
  const before = problems.length;
  const value = valueOf(document, file, problems);
  return problems.length > before
    ? null
    : judged(value, (path, key) => at(offsetOf(document, path, key)), problems);
}

const firstLine = (message: string): string => message.split('\n')[0] ?? '';

function valueOf(document: Document, file: string, problems: string[]): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    problems.push(`${file}: ${error instanceof Error ? error.message : 'cannot be read'}`);
    return null;
  }
}

/** Where the innermost part of a path stands that is in the file, or one of its keys. */
function offsetOf(document: Document, path: readonly string[], key?: string): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    const found =
      isMap(node) && key !== undefined
        ? node.items.map((pair) => pair.key).find((one) => isScalar(one) && one.value === key)
        : node;
    if (isNode(found) && found.range) return found.range[0];
  }
  return undefined;
}

/** The scenario, or why it is none. */
function judged(
  value: unknown,
  where: (path: readonly string[], key?: string) => string,
  problems: string[],
): Scenario | null {
  const found = scenarioProblems(value);
  if (found.length > 0) {
    problems.push(...found.map(({ path, key, message }) => `${where(path, key)}: ${message}`));
    return null;
  }
  // The schema has just been checked.
  const scenario = value as Scenario;
  const stray = unknownForm({ ...scenario.expect }) ?? firstStray(scenario.steps ?? []);
  const reason =
    cannotFail(scenario) ??
    (stray === null ? null : `"${stray}" is no form of an expectation, or has something beside it`);
  if (reason === null) return scenario;
  problems.push(`${where([])}: ${reason}`);
  return null;
}

/**
 * A scenario in which nothing is called or nothing is expected would pass whatever the subject
 * does.
 */
function cannotFail({ steps = [], expect }: Scenario): string | null {
  if (expect?.throws !== undefined) return null;
  if (
    !steps.some((step) =>
      ['call', 'parallel', 'batch', 'advertise', 'observe'].some((kind) => kind in step),
    )
  )
    return 'nothing is called: it cannot fail';
  const isExpecting = (step: Step): boolean =>
    ('expect' in step && step.expect !== undefined) ||
    ('parallel' in step && step.parallel.some((one) => one.expect !== undefined));
  if (Object.keys(expect ?? {}).length === 0 && !steps.some(isExpecting))
    return 'nothing is expected: it cannot fail';
  return null;
}

function firstStray(steps: readonly Step[]): string | null {
  for (const step of steps) {
    const inner = 'parallel' in step ? step.parallel : [];
    for (const one of [step, ...inner]) {
      const stray = 'expect' in one && one.expect !== undefined ? unknownForm(one.expect) : null;
      if (stray !== null) return stray;
    }
  }
  return null;
}
