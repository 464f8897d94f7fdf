/**
 * Reads a file with a policy and cases it is held to. What is wrong with it is said with line and
 * column.
 */

import { isObject } from '../../core/json/json.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import { isAlliumError } from '../../index.ts';
import {
  type CapabilityPolicy,
  checkPolicy,
  type PermissionPolicy,
  type PermissionRequest,
} from '../../policy/index.ts';
import { POLICY_FACTORIES, unknownPolicy } from '../policy-factories.ts';
import { type DataPath, invalidConfig, type Report } from '../problem.ts';
import { readSource } from '../read-source.ts';
import { requestFrom } from './case-request.ts';

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
