/**
 * Reads a file with a policy and the requests it is held to. What is wrong with it is said with
 * line and column.
 */

import { isObject, snapshotObject } from '../../core/json/json.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import { AlliumError, isAlliumError } from '../../index.ts';
import {
  type CapabilityPolicy,
  checkPolicy,
  FILESYSTEM_KINDS,
  type PermissionPolicy,
  type PermissionRequest,
} from '../../policy/index.ts';
import { createPass } from '../../core/onion/pass.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { createCall } from '../../core/onion/own-call.ts';
import { completeAnnotations } from '../../core/contract/annotations.ts';
import { closest } from '../../core/contract/closest.ts';
import { POLICY_FACTORIES, unknownPolicy } from '../policy-factories.ts';
import { type DataPath, invalidConfig, type Report } from '../problem.ts';
import { readSource } from '../read-source.ts';

/** What a case may expect. */
export type ExpectedVerdict = 'allow' | 'deny' | 'ask' | 'no_opinion';

/** One request and what is to be said about it. */
export interface PolicyCase {
  readonly name: string;
  readonly request: PermissionRequest;
  readonly expect: ExpectedVerdict;
  /** The rule or the reason code that has to decide. `undefined`: whichever. */
  readonly code: string | undefined;
}

/** What a file holds. */
export interface PolicyTests {
  readonly capability: CapabilityPolicy | null;
  readonly policies: readonly PermissionPolicy[];
  readonly cases: readonly PolicyCase[];
}

const notEmpty = (item: Expectation): Expectation => ({
  text: `${expected.listOf(item).text}, not empty`,
  test: (value) => expected.listOf(item).test(value) && (value as readonly unknown[]).length > 0,
});

const FILE = Object.freeze({
  policy: expected.required(expected.object),
  cases: expected.required(notEmpty(expected.object)),
});
const POLICY = Object.freeze({ capability: expected.object, policies: notEmpty(expected.object) });
const CASE = Object.freeze({
  name: expected.required(expected.string),
  request: expected.required(expected.object),
  expect: expected.required(expected.oneOf('allow', 'deny', 'ask', 'no_opinion')),
  code: expected.string,
});

/**
 * Throws `ERR_INVALID_CONFIG` with a line for each mistake: a case that cannot be asked would be a
 * case that passes. Throws what opening the file throws. `shown` is how the file is called in
 * messages.
 */
export function readPolicyTests(file: string, shown: string): PolicyTests {
  const source = readSource(file, file.endsWith('.json'));
  const lines = source.mistakes.map(({ message, position }) => lineAt(shown, position, message));
  if (lines.length > 0) throw invalidConfig(lines, { path: file });
  const report: Report = (path, message, at = 'value') =>
    void lines.push(lineAt(shown, source.positionOf(path, at), message));
  const tests = testsFrom(source.data, report);
  if (lines.length > 0) throw invalidConfig(lines, { path: file });
  return tests;
}

const lineAt = (
  shown: string,
  position: { readonly line: number; readonly column: number } | null,
  message: string,
): string =>
  `${shown}:${position === null ? '' : `${position.line}:${position.column}:`} ${message}`;

function testsFrom(data: unknown, report: Report): PolicyTests {
  const attempt = attempting(report);
  const { policy = {}, cases = [] } = attempt([], () => checked('the file', data, FILE)) ?? {};
  const { capability, policies } =
    attempt(['policy'], () => checked('policy', policy, POLICY)) ?? {};
  if (capability === undefined && policies === undefined)
    report(['policy'], 'policy has neither "capability" nor "policies"');
  return {
    capability:
      capability === undefined
        ? null
        : (attempt(['policy', 'capability'], () => capabilityFrom(capability)) ?? null),
    policies: listFrom(policies, ['policy', 'policies'], (each) => policyFrom(each), attempt),
    cases: listFrom(
      cases,
      ['cases'],
      (each, index, at) => caseFrom(each, index, at, attempt),
      attempt,
    ),
  };
}

type Attempt = <T>(path: DataPath, build: () => T) => T | undefined;

/**
 * What cannot be built is reported where it stands, and the rest of the file is looked at all the
 * same.
 */
const attempting =
  (report: Report): Attempt =>
  (path, build) => {
    try {
      return build();
    } catch (thrown) {
      if (!isAlliumError(thrown)) throw thrown;
      report(path, thrown.message);
      return undefined;
    }
  };

function checked(
  owner: string,
  data: unknown,
  fields: Readonly<Record<string, Expectation>>,
): Record<string, unknown> {
  checkOptions(owner, data, fields);
  return data as Record<string, unknown>; // Only an object passes.
}

function listFrom<T>(
  list: unknown,
  path: DataPath,
  build: (each: unknown, index: number, at: DataPath) => T | undefined,
  attempt: Attempt,
): readonly T[] {
  if (!Array.isArray(list)) return [];
  return Array.from<unknown>(list).flatMap((each, index) => {
    const at = [...path, index];
    const built = attempt(at, () => build(each, index, at));
    return built === undefined ? [] : [built];
  });
}

function capabilityFrom(given: unknown): CapabilityPolicy {
  checkPolicy('policy.capability', given);
  return given;
}

/** As layers are written: the name, and behind it the options. */
function policyFrom(given: unknown): PermissionPolicy {
  const [name = '', ...more] = isObject(given) ? Object.keys(given) : [];
  const factory = POLICY_FACTORIES.get(name);
  if (more.length > 0) throw invalidConfig([`one policy an entry, got ${more.length + 1}`]);
  if (factory === undefined || !isObject(given)) throw invalidConfig([unknownPolicy(name)]);
  return factory(given[name] as never); // The factory checks what it is given.
}

function caseFrom(
  given: unknown,
  index: number,
  at: DataPath,
  attempt: Attempt,
): PolicyCase | undefined {
  const owner = `cases[${index}]`;
  // Checked on the way.
  const { name, request, expect, code } = checked(owner, given, CASE) as unknown as PolicyCase;
  const made = attempt([...at, 'request'], () => requestFrom(`${owner}.request`, request));
  return made === undefined ? undefined : { name, request: made, expect, code };
}

const text: Expectation = { text: 'a string', test: (value) => typeof value === 'string' };
const number: Expectation = { text: 'a number', test: (value) => typeof value === 'number' };

/**
 * What every request may say about its call. `kind` is what it is about; the other members depend
 * on it.
 */
const CALL_FIELDS = Object.freeze({
  tool: expected.required(expected.string),
  args: expected.object,
  kind: expected.string,
  session: expected.string,
  annotations: expected.object,
});

const SERVER = Object.freeze({
  server: expected.required(expected.string),
  serverTool: expected.string,
});
const PATHS = Object.freeze({ path: expected.required(text), to: text });

/** By kind. A misspelt member would make a case say nothing about the rule it was written for. */
const KIND_FIELDS: ReadonlyMap<string, Readonly<Record<string, Expectation>>> = new Map<
  string,
  Readonly<Record<string, Expectation>>
>([
  ['tool.call', {}],
  ...FILESYSTEM_KINDS.map((kind) => [kind, PATHS] as const),
  [
    'process.command',
    { command: text, argv: expected.listOf(text), cwd: text, env: expected.mapOf(text) },
  ],
  ['network.connect', { host: expected.required(text), port: expected.integer(0) }],
  ['mcp.connect', SERVER],
  ['mcp.invoke', SERVER],
  ['payment', { amount: expected.required(number), currency: expected.required(text) }],
]);

/**
 * A request that a checker can be asked about, with a complete call behind it. Throws
 * `ERR_INVALID_OPTION` for members that the kind does not have. Of what a tool would advertise only
 * the annotations are there.
 */
function requestFrom(owner: string, given: unknown): PermissionRequest {
  const kind = isObject(given) && Object.hasOwn(given, 'kind') ? given.kind : 'tool.call';
  checkKind(owner, kind);
  const isCustom = kind.startsWith('custom.');
  const known = { ...CALL_FIELDS, ...KIND_FIELDS.get(kind) };
  checkOptions(owner, isCustom ? onlyKnown(given, CALL_FIELDS) : given, known);
  // Checked just before.
  const {
    tool,
    args = {},
    session = 'session-1',
    annotations = {},
    kind: _kind,
    serverTool,
    ...fields
  } = given as CaseRequest;
  const call = createCall(
    {
      toolName: tool,
      callId: 'call-1',
      declaredExecutor: 'local',
      schema: null,
      description: '',
      signal: new AbortController().signal,
      report: () => {},
      toolArgs: snapshotObject(args),
      annotations: completeAnnotations(snapshotObject(annotations)),
      turn: Object.freeze({ iteration: 1, sessionId: session }),
    },
    createPass(),
  );
  const own = {
    ...snapshotObject(fields),
    ...(serverTool === undefined ? {} : { tool: serverTool }),
  };
  // The members fit the kind, which is more than the compiler can see.
  return Object.freeze({
    ...own,
    kind,
    toolName: tool,
    callId: call.callId,
    call,
  }) as unknown as PermissionRequest;
}

interface CaseRequest extends Readonly<Record<string, unknown>> {
  readonly tool: string;
  readonly args?: JsonObject;
  readonly session?: string;
  readonly annotations?: JsonObject;
  readonly serverTool?: string;
}

function checkKind(owner: string, kind: unknown): asserts kind is string {
  if (typeof kind === 'string' && (KIND_FIELDS.has(kind) || /^custom\../.test(kind))) return;
  const kinds = [...KIND_FIELDS.keys()];
  const guess = typeof kind === 'string' ? closest(kind, kinds) : undefined;
  const hint =
    guess === undefined ? `${kinds.join(', ')} and custom.<name>` : `did you mean "${guess}"?`;
  throw new AlliumError('ERR_INVALID_OPTION', `${owner}: there is no such kind; ${hint}`, {
    layer: owner,
    option: 'kind',
  });
}

/** A custom kind has members that only its tool knows. */
const onlyKnown = (given: unknown, known: object): unknown =>
  isObject(given)
    ? Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(known, name)))
    : given;
