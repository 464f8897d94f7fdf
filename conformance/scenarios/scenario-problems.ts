/** What the schema of scenarios has to say about a value, in words for whoever wrote it. */

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { closest } from '../../src/core/contract/closest.ts';
import type { JsonObject, JsonValue } from '../../src/index.ts';
import { isList, isRecord, textOf } from './json-parts.ts';
import { SCENARIO_SCHEMA } from './scenario-schema.ts';

/**
 * Something that is wrong, and the members that lead to it. `key` names the member itself where
 * that is what is wrong.
 */
export interface ScenarioProblem {
  readonly path: readonly string[];
  readonly key?: string;
  readonly message: string;
}

/** The member that each kind of step begins with. */
const STEPS = [
  'call',
  'parallel',
  'batch',
  'advance',
  'abort',
  'result',
  'advertise',
  'observe',
  'close',
  'resume',
  'answer',
  'restart',
];

let validate: ValidateFunction | undefined;

/** Everything that is wrong. */
export function scenarioProblems(value: unknown): readonly ScenarioProblem[] {
  validate ??= new Ajv2020({ allErrors: true, strict: false, verbose: true }).compile(
    SCENARIO_SCHEMA,
  );
  if (validate(value)) return [];
  const errors = validate.errors ?? [];
  const given = value as JsonValue; // It came out of YAML.
  const strange = strangeSteps(given);
  const told = errors
    .filter((error) => isMeant(error, given) && !isSummary(error, errors))
    .map(problemFrom);
  const problems = [
    ...strange,
    ...told.filter(
      ({ path }) => !strange.some((one) => one.path.join() === path.slice(0, 2).join()),
    ),
  ];
  return problems.filter(
    (one, index) =>
      problems.findIndex((other) => textOf({ ...other }) === textOf({ ...one })) === index,
  );
}

function strangeSteps(value: JsonValue): readonly ScenarioProblem[] {
  const steps = isRecord(value) && isList(value.steps) ? value.steps : [];
  return steps.flatMap((step, index) => {
    if (!isRecord(step) || stepKind(step) !== null) return [];
    const [first = ''] = Object.keys(step);
    const guess = closest(first, STEPS);
    const hint = guess === undefined ? `steps are ${STEPS.join(', ')}` : `did you mean "${guess}"?`;
    return [
      { path: ['steps', String(index)], key: first, message: `"${first}" is no step; ${hint}` },
    ];
  });
}

const stepKind = (step: JsonObject): string | null =>
  STEPS.find((kind) => Object.hasOwn(step, kind)) ?? null;

/**
 * `oneOf` complains about every kind of step that a step is not. Only the kind that was meant
 * counts.
 */
function isMeant({ schemaPath, instancePath }: ErrorObject, value: JsonValue): boolean {
  const [, branch] = /\/oneOf\/(\d+)\//.exec(schemaPath) ?? [];
  const [, nth] = /^\/steps\/(\d+)/.exec(instancePath) ?? [];
  if (branch === undefined || nth === undefined) return true;
  const step = isRecord(value) && isList(value.steps) ? value.steps[Number(nth)] : undefined;
  return isRecord(step) && stepKind(step) === STEPS[Number(branch)];
}

const SUMMARIES = new Set(['oneOf', 'anyOf', 'const']);

/** Says only that something is wrong, where something else says what. */
const isSummary = (error: ErrorObject, errors: readonly ErrorObject[]): boolean =>
  SUMMARIES.has(error.keyword) &&
  errors.some(
    (other) =>
      other !== error &&
      !SUMMARIES.has(other.keyword) &&
      other.instancePath.startsWith(error.instancePath),
  );

function problemFrom({
  keyword,
  params,
  message = 'is wrong',
  instancePath,
  parentSchema,
}: ErrorObject): ScenarioProblem {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'));
  const place = path.length === 0 ? 'the scenario' : `"${path.join('.')}"`;
  // What ajv tells about these keywords is fixed.
  const { additionalProperty, missingProperty } = params as JsonObject;
  if (keyword === 'required')
    return { path, message: `${place} lacks "${textOf(missingProperty)}"` };
  if (keyword !== 'additionalProperties') return { path, message: `${place} ${message}` };
  const key = textOf(additionalProperty);
  const { properties = {} } = (parentSchema ?? {}) as { properties?: JsonObject }; // The schema is ours.
  const guess = closest(key, Object.keys(properties));
  return {
    path,
    key,
    message: `${place} has no member "${key}"${guess === undefined ? '' : `; did you mean "${guess}"?`}`,
  };
}
