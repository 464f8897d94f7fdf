/** Reads scenario files. What is wrong with them is said with file, line and column. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { AlliumError, type JsonObject } from '../../src/index.ts';
import { textOf } from './json-parts.ts';
import { unknownForm } from './match.ts';
import type { Scenario, Step } from './scenario.ts';
import { SCENARIO_SCHEMA } from './scenario-schema.ts';

/** A scenario and the file it stands in. */
export interface LoadedScenario {
  readonly file: string;
  readonly scenario: Scenario;
}

/** All scenarios of a file or folder, by file name. Throws `ERR_INVALID_SCENARIO` for everything that is wrong with any of them. */
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
  if (loaded.length === 0 && problems.length === 0) problems.push(`${fileOrFolder}: there are no scenarios (files that end in .yaml)`);
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

const invalidScenario = (problems: readonly string[]): AlliumError => new AlliumError('ERR_INVALID_SCENARIO', problems.join('\n'));

function filesOf(fileOrFolder: string): readonly string[] {
  const kind = statSync(fileOrFolder, { throwIfNoEntry: false });
  if (kind === undefined) throw invalidScenario([`${fileOrFolder}: there is no such file or folder`]);
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
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, customTags: [], merge: false });
  const at = (offset: number | undefined): string => {
    const { line, col } = lines.linePos(offset ?? 0);
    return `${file}:${line}:${col}`;
  };
  if (document.errors.length > 0 || document.warnings.length > 0) {
    for (const { pos, message } of [...document.errors, ...document.warnings]) problems.push(`${at(pos[0])}: ${firstLine(message)}`);
    return null;
  }
  const where = (path: readonly string[]): string => at(offsetOf(document, path));
  const found = problemsIn(valueOf(document, file, problems), where);
  problems.push(...found.problems);
  return found.scenario;
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

/** Where the innermost part of a path stands that is in the file. */
function offsetOf(document: Document, path: readonly string[]): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}

let validate: ValidateFunction | undefined;

function problemsIn(
  value: unknown,
  where: (path: readonly string[]) => string,
): { scenario: Scenario | null; problems: readonly string[] } {
  validate ??= new Ajv2020({ allErrors: true, strict: false, verbose: true }).compile(SCENARIO_SCHEMA);
  if (!validate(value)) {
    const errors = [...new Set((validate.errors ?? []).filter(isTelling).map((error) => `${where(pathOf(error))}: ${messageOf(error)}`))];
    return { scenario: null, problems: errors };
  }
  // The schema has just been checked.
  const scenario = value as Scenario;
  const path = cannotFail(scenario);
  if (path !== null) return { scenario: null, problems: [`${where([])}: ${path}`] };
  const stray = unknownForm({ ...scenario.expect }) ?? firstStray(scenario.steps ?? []);
  if (stray !== null)
    return { scenario: null, problems: [`${where([])}: "${stray}" is no form of an expectation, or has something beside it`] };
  return { scenario, problems: [] };
}

/** `oneOf` complains about every step that it is not. What is said about the branch that was meant is enough. */
const isTelling = ({ keyword, schemaPath }: ErrorObject): boolean => !(keyword === 'required' && schemaPath.includes('/oneOf/'));

const pathOf = ({ instancePath }: ErrorObject): readonly string[] =>
  instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'));

function messageOf({ keyword, params, message, instancePath }: ErrorObject): string {
  // What ajv tells about these keywords is fixed.
  const { additionalProperty, missingProperty } = params as JsonObject;
  const place = instancePath === '' ? 'the scenario' : `"${instancePath.slice(1).replace(/\//g, '.')}"`;
  if (keyword === 'additionalProperties') return `${place} has no member "${textOf(additionalProperty)}"`;
  if (keyword === 'required') return `${place} lacks "${textOf(missingProperty)}"`;
  return `${place} ${message ?? 'is wrong'}`;
}

/** A scenario in which nothing is called or nothing is expected would pass whatever the subject does. */
function cannotFail({ steps = [], expect }: Scenario): string | null {
  if (expect?.throws !== undefined) return null;
  if (!steps.some((step) => ['call', 'parallel', 'batch', 'advertise', 'observe'].some((kind) => kind in step)))
    return 'nothing is called: it cannot fail';
  const isExpecting = (step: Step): boolean =>
    ('expect' in step && step.expect !== undefined) || ('parallel' in step && step.parallel.some((one) => one.expect !== undefined));
  if (Object.keys(expect ?? {}).length === 0 && !steps.some(isExpecting)) return 'nothing is expected: it cannot fail';
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
