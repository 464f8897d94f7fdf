/** Whatever a tool did, made a result: what it answered, threw, or was stopped at. */

import { types } from 'node:util';
import type { Refusal } from '../../core/onion/pass.ts';
import { fail, ok, withResult } from '../../core/onion/results.ts';
import type { JsonValue } from '../../core/json/json-value.ts';
import { createIdOf, stateOf } from '../../core/onion/own-call.ts';
import type { ToolCall } from '../../core/contract/call.ts';
import { describeThrown, isAlliumError, oneLine } from '../../core/contract/errors.ts';
import { excessBehind, snapshot } from '../../core/json/json.ts';
import type { Interruption, ToolResult } from '../../core/contract/result.ts';
import type { Ending, Ran } from '../../core/time/run-within.ts';
import { consultationOf } from '../../approvals/consultation.ts';
import { definitionHashOf, fingerprintOf } from '../../approvals/fingerprint.ts';
import { openUntil } from '../../approvals/refusals.ts';
import { ownDefinition } from '../../tools/own-definition.ts';
import {
  describeProblems,
  type SchemaProblem,
  validateJson,
} from '../../tools/schema/validator.ts';
import {
  failureDetails,
  isDefinitionChanged,
  isToolOutput,
  type Tool,
  type ToolOutput,
} from '../../tools/tool.ts';
import { maskSecrets, withoutSecrets } from '../intake/arguments.ts';
import type { ResolvedLimits } from '../intake/limits.ts';
import type { DispatchRecord } from '../record.ts';

/** What a result may hold at most. */
export type ResultBounds = Pick<ResolvedLimits, 'maxResultBytes' | 'maxResultValues'>;

export const NO_SECRETS: readonly string[] = Object.freeze([]);

/**
 * Makes a result of what is reported about a tool that ran elsewhere: what it answered, or an error
 * that says how it failed.
 */
export async function resultOfReport(
  call: ToolCall,
  { tool, output }: Pick<DispatchRecord, 'tool' | 'output'>,
  limits: ResultBounds,
): Promise<ToolResult> {
  if (types.isNativeError(output)) return failedElsewhere(call, output);
  // A tool that runs here has promised nothing for another one of its name.
  const promiser = tool?.executor === 'provider_native' ? tool : null;
  const parse = promiser?.parseOutput;
  const { value, problems } =
    parse === undefined
      ? { value: output, problems: [] }
      : await checkedOutput(parse, output, limits);
  return answered(call, promiser, value, { secrets: NO_SECRETS, limits, problems });
}

function failedElsewhere(call: ToolCall, error: Error): ToolResult {
  const { category, errorClass, executed = 'unknown' } = failureDetails(error);
  const status = executed === 'unknown' ? 'outcome_unknown' : 'executor_error';
  return fail(call, status, error, describeThrown(error), {
    executed,
    ...(category === undefined ? {} : { category }),
    ...(errorClass === undefined ? {} : { errorClass }),
  });
}

/** What is done with every answer of a tool. */
interface Taking {
  readonly secrets: readonly string[];
  readonly limits: ResultBounds;
  /** What the tool's schema library has against it, where it was asked. */
  readonly problems: readonly SchemaProblem[];
}

/** What becomes of the call, given how the tool came to its end. */
export function resultOf(
  call: ToolCall,
  tool: Tool,
  ending: Ending<unknown>,
  taking: Taking,
): ToolResult {
  if (ending.by !== 'itself') return stopped(call, tool, ending.by, ending.ran);
  const { ran } = ending;
  return 'value' in ran ? answered(call, tool, ran.value, taking) : threw(call, ran.thrown, taking);
}

/**
 * Makes a result of what a tool answered. Values are counted in the first walk over them, bytes
 * when the text is there.
 */
function answered(call: ToolCall, tool: Tool | null, value: unknown, taking: Taking): ToolResult {
  const { maxResultBytes, maxResultValues } = taking.limits;
  let taken: ToolResult;
  try {
    taken = takenFrom(call, value, taking);
  } catch (error) {
    return excessBehind(error) === 'wide'
      ? tooLarge(call, `${maxResultValues} values`)
      : notJson(call, error);
  }
  const result = taken.ok ? fitsOutput(call, tool, taken, taking.problems) : taken;
  const { renderedResult: text } = result;
  const isTooLong = text.length * 3 > maxResultBytes && Buffer.byteLength(text) > maxResultBytes;
  return isTooLong ? tooLarge(call, `${maxResultBytes} bytes`) : result;
}

function notJson(call: ToolCall, error: unknown): ToolResult {
  const why = isAlliumError(error) ? oneLine(error.message) : 'it cannot be read';
  return fail(
    call,
    'executor_error',
    error,
    `${call.toolName} answered with something that is not JSON: ${why}`,
    {
      category: 'not_json',
      errorClass: 'fatal',
      executed: 'yes',
    },
  );
}

function takenFrom(
  call: ToolCall,
  value: unknown,
  { secrets, limits: { maxResultValues } }: Taking,
): ToolResult {
  if (!isToolOutput(value)) return ok(call, withoutSecrets(value, secrets, maxResultValues));
  // A tool output was copied and frozen when it was made. A copy of it without secrets is an
  // ordinary value that has the same members.
  const { content, structuredContent = null } = value;
  snapshot([content, structuredContent], maxResultValues);
  if (secrets.length === 0) return fromOutput(call, value);
  return fromOutput(call, withoutSecrets(value, secrets, maxResultValues) as unknown as ToolOutput);
}

function fromOutput(
  call: ToolCall,
  { content, structuredContent, isError, keep }: ToolOutput,
): ToolResult {
  if (isError !== true) {
    const result = ok(call, structuredContent, { content });
    return keep === false ? withResult(result, { metadata: { keep } }) : result;
  }
  const { renderedResult } = ok(call, structuredContent, { content });
  const failed = fail(call, 'executor_error', null, renderedResult, {
    category: 'tool_error',
    executed: 'yes',
  });
  return withResult(failed, {
    content,
    ...(structuredContent === undefined ? {} : { result: structuredContent }),
  });
}

function fitsOutput(
  call: ToolCall,
  tool: Tool | null,
  result: ToolResult,
  found: readonly SchemaProblem[],
): ToolResult {
  // A layer may have shown less of it.
  const promised = tool === null ? undefined : ownDefinition(tool).outputSchema;
  if (promised === undefined) return result;
  const written = validateJson(promised, result.result);
  // JSON Schema says less than its library: no refinement is in it.
  const problems = written.length === 0 ? found : written;
  if (problems.length === 0) return result;
  const message = `${call.toolName} ran, but its answer does not have the promised form: ${describeProblems(problems)}. Do not repeat the call.`;
  return fail(call, 'output_schema_violation', null, message, { executed: 'yes' });
}

function threw(call: ToolCall, thrown: unknown, { secrets, limits }: Taking): ToolResult {
  const { category, errorClass, executed = 'unknown', signIn } = failureDetails(thrown);
  const message = maskSecrets(secrets)(describeThrown(thrown));
  if (isDefinitionChanged(thrown))
    return notEntered(call, { status: 'definition_changed', message, blockedBy: 'entry' });
  if (signIn !== undefined)
    return waitsForSignIn(
      call,
      thrown,
      message,
      withoutSecrets(signIn, secrets, limits.maxResultValues),
    );
  return fail(call, 'executor_error', thrown, message, {
    category: category ?? categoryOf(thrown),
    errorClass: errorClass ?? (categoryOf(thrown) === 'network' ? 'retryable' : 'repairable'),
    executed,
  });
}

/** The call is kept and made again when the person has signed in. */
function waitsForSignIn(
  call: ToolCall,
  thrown: unknown,
  message: string,
  shown: JsonValue | undefined,
): ToolResult {
  consultationOf(call).question = Object.freeze({
    gate: 'tool',
    definition: definitionHashOf(call),
    policy: '',
  });
  const interruption: Interruption = {
    kind: 'auth_required',
    id: `approval_${createIdOf(call)()}`,
    fingerprint: fingerprintOf(call),
    shown: { toolName: call.toolName, signIn: shown ?? null },
    options: ['allow_once', 'reject_once'],
    ...openUntil(call),
  };
  return withResult(fail(call, 'auth_required', thrown, message, { executed: 'no' }), {
    interruption,
  });
}

/** A tool that was stopped ran for certain only if it still answered. */
function stopped(
  call: ToolCall,
  tool: Tool,
  by: 'timeout' | 'cancelled',
  ran: Ran<unknown> | null,
): ToolResult {
  const executed = ran !== null && 'value' in ran ? 'yes' : 'unknown';
  const message =
    by === 'timeout'
      ? `${call.toolName} did not answer within ${tool.timeoutMs ?? 0} ms. It may have done its work; check before you try again.`
      : 'The call was cancelled while it ran.';
  return fail(call, by, ran, message, { executed });
}

const tooLarge = (call: ToolCall, what: string): ToolResult =>
  fail(
    call,
    'executor_error',
    null,
    `${call.toolName} answered with more than ${what}. Ask for less at a time.`,
    {
      category: 'result_too_large',
      errorClass: 'repairable',
      executed: 'yes',
    },
  );

/** A tool that was not entered in the end, and why. */
export function notEntered(call: ToolCall, { status, message, blockedBy }: Refusal): ToolResult {
  stateOf(call).blockedBy = blockedBy;
  return fail(call, status, null, message, { executed: 'no' });
}

/**
 * What a schema library says to an answer, and the copy that it looked at: reading the answer again
 * might give another value.
 */
export async function checkedOutput(
  parse: NonNullable<Tool['parseOutput']>,
  answer: unknown,
  { maxResultValues }: Pick<ResultBounds, 'maxResultValues'>,
): Promise<{ readonly value: unknown; readonly problems: readonly SchemaProblem[] }> {
  let value = answer;
  try {
    if (answer !== undefined && !isToolOutput(answer)) value = snapshot(answer, maxResultValues);
    const parsed = await parse((isToolOutput(value) ? value.structuredContent : value) ?? null);
    return { value, problems: 'value' in parsed ? [] : parsed.problems };
  } catch {
    return { value, problems: [{ path: '', message: 'could not be checked: its schema failed' }] };
  }
}

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** What kind of failure it was, as far as an error code tells. */
function categoryOf(thrown: unknown): string {
  try {
    const code: unknown =
      typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
    return typeof code === 'string' && NETWORK_CODES.has(code) ? 'network' : 'exception';
  } catch {
    return 'exception';
  }
}
