/** The request of a case, as it is written in a file. */

import { createPass } from '../../core/onion/pass.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { createCall } from '../../core/onion/own-call.ts';
import { completeAnnotations } from '../../core/contract/annotations.ts';
import { closest } from '../../core/contract/closest.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import { AlliumError } from '../../index.ts';
import { FILESYSTEM_KINDS, type PermissionRequest } from '../../policy/index.ts';

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
const FILE = Object.freeze({ path: expected.required(text), to: text });

/** By kind. A misspelt member would make a case say nothing about the rule it was written for. */
const KIND_FIELDS: ReadonlyMap<string, Readonly<Record<string, Expectation>>> = new Map<
  string,
  Readonly<Record<string, Expectation>>
>([
  ['tool.call', {}],
  ...FILESYSTEM_KINDS.map((kind) => [kind, FILE] as const),
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
export function requestFrom(owner: string, given: unknown): PermissionRequest {
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
