/** The bottom of the onion: hidden arguments in, the tool run within its bounds, and whatever it did made a result. */

import { types } from 'node:util';
import { createIdOf, stateOf, type ToolCall, type ToolProgress } from '../core/call.ts';
import { describeThrown, isAlliumError, oneLine } from '../core/errors.ts';
import type { JsonValue } from '../core/json.ts';
import { fail, type Interruption, ok, type ToolResult, withResult } from '../core/result.ts';
import { definitionHashOf, fingerprintOf } from '../policy/approvals/fingerprint.ts';
import { openUntil } from '../policy/approvals/interrupt.ts';
import { ownDefinition } from '../tools/own-definition.ts';
import { describeProblems, validateJson } from '../tools/schema/validator.ts';
import { failureDetails, isToolOutput, type Tool, type ToolContext, type ToolExecutor, type ToolOutput } from '../tools/tool.ts';
import { invalidArgsText } from './admission.ts';
import { type HiddenSources, hiddenValues, maskSecrets, withoutSecrets } from './hidden-arguments.ts';
import { type DispatchRecord, recordOf } from './record.ts';
import { withUses } from './under-way.ts';
import { type Ending, type Ran, runCallWithin } from '../core/run-within.ts';
import type { AbortSource } from '../core/signal.ts';

/** How long a tool that was stopped may take to say what it did. */
const GRACE_MS = 100;

export interface RunToolOptions {
  readonly sources: HiddenSources;
  readonly maxResultBytes: number;
  readonly executorFor: (tool: Tool) => ToolExecutor;
  readonly contextFor: (call: ToolCall, abort: AbortSource, report: (progress: ToolProgress) => void) => ToolContext;
}

/** What is found out on the way into a tool. */
interface Entry {
  /** Hidden arguments that the tool must not repeat. */
  secrets: readonly string[];
  /** Why it was not entered. */
  misfit: string | null;
}

const NO_SECRETS: readonly string[] = Object.freeze([]);

/** Runs one tool for one call. What it throws itself, `compose` makes an `executor_error`. */
export async function runTool(call: ToolCall, tool: Tool, options: RunToolOptions): Promise<ToolResult> {
  const entry: Entry = { secrets: NO_SECRETS, misfit: null };
  const report = (progress: ToolProgress) => reportThrough(call, cleanProgress(progress, entry.secrets));
  const ending = await runCallWithin(call, { timeoutMs: tool.timeoutMs, graceMs: GRACE_MS }, (abort) => {
    const context = options.contextFor(call, abort, report);
    // Most tools are given just what the model sent, which is frozen already.
    if (tool.injected.length === 0 && tool.parse === undefined)
      return options.executorFor(tool).execute({ tool, args: call.toolArgs, context });
    return enterPrepared(call, tool, context, entry, options);
  });
  if (entry.misfit !== null) return fail(call, 'schema_violation', null, invalidArgsText(call, entry.misfit), { executed: 'no' });
  return withUses(call, bounded(call, resultOf(call, tool, ending, entry.secrets), options.maxResultBytes));
}

/** Enters a tool that is given more than the model sent, or takes it in another form. */
async function enterPrepared(call: ToolCall, tool: Tool, context: ToolContext, entry: Entry, options: RunToolOptions): Promise<unknown> {
  const hidden = await hiddenValues(tool, context, options.sources);
  entry.secrets = hidden.secrets;
  const args = { ...call.toolArgs, ...hidden.values };
  const parsed = tool.parse === undefined ? { value: args } : await tool.parse(args);
  if (!('value' in parsed)) return void (entry.misfit = describeProblems(parsed.problems));
  return options.executorFor(tool).execute({ tool, args: Object.freeze(parsed.value), context });
}

/** Makes a result of what is reported about a tool that ran elsewhere: what it answered, or an error that says how it failed. */
export function resultOfReport(call: ToolCall, { tool, output }: Pick<DispatchRecord, 'tool' | 'output'>, maxBytes: number): ToolResult {
  if (types.isNativeError(output)) return failedElsewhere(call, output);
  // A tool that runs here has promised nothing for another one of its name.
  return bounded(call, answered(call, tool?.executor === 'provider_native' ? tool : null, output), maxBytes);
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

const bounded = (call: ToolCall, result: ToolResult, maxBytes: number): ToolResult =>
  result.renderedResult.length * 3 > maxBytes && Buffer.byteLength(result.renderedResult) > maxBytes ? tooLarge(call, maxBytes) : result;

function resultOf(call: ToolCall, tool: Tool, ending: Ending<unknown>, secrets: readonly string[]): ToolResult {
  if (ending.by !== 'itself') return stopped(call, tool, ending.by, ending.ran);
  const { ran } = ending;
  return 'value' in ran ? answered(call, tool, ran.value, secrets) : threw(call, ran.thrown, secrets);
}

/** Makes a result of what a tool answered. */
function answered(call: ToolCall, tool: Tool | null, value: unknown, secrets = NO_SECRETS): ToolResult {
  // It was copied and frozen when it was made.
  if (secrets.length === 0 && isToolOutput(value)) return checkedOutput(call, tool, fromOutput(call, value));
  let plain: JsonValue | undefined;
  try {
    plain = withoutSecrets(value, secrets);
  } catch (error) {
    const why = isAlliumError(error) ? oneLine(error.message) : 'it cannot be read';
    return fail(call, 'executor_error', error, `${call.toolName} answered with something that is not JSON: ${why}`, {
      category: 'not_json',
      errorClass: 'fatal',
      executed: 'yes',
    });
  }
  // A copy of a tool output is an ordinary value again, so the mark is looked for on what the tool returned.
  return checkedOutput(call, tool, isToolOutput(value) ? fromOutput(call, plain as unknown as ToolOutput) : ok(call, plain));
}

const checkedOutput = (call: ToolCall, tool: Tool | null, result: ToolResult): ToolResult =>
  result.ok ? fitsOutput(call, tool, result) : result;

function fromOutput(call: ToolCall, { content, structuredContent, isError, keep }: ToolOutput): ToolResult {
  if (isError !== true) {
    const result = ok(call, structuredContent, { content });
    return keep === false ? withResult(result, { metadata: { keep } }) : result;
  }
  const { renderedResult } = ok(call, structuredContent, { content });
  const failed = fail(call, 'executor_error', null, renderedResult, { category: 'tool_error', executed: 'yes' });
  return withResult(failed, { content, ...(structuredContent === undefined ? {} : { result: structuredContent }) });
}

function fitsOutput(call: ToolCall, tool: Tool | null, result: ToolResult): ToolResult {
  // A layer may have shown less of it.
  const promised = tool === null ? undefined : ownDefinition(tool).outputSchema;
  if (promised === undefined) return result;
  const problems = validateJson(promised, result.result);
  if (problems.length === 0) return result;
  const message = `${call.toolName} ran, but its answer does not have the promised form: ${describeProblems(problems)}. Do not repeat the call.`;
  return fail(call, 'output_schema_violation', null, message, { executed: 'yes' });
}

function threw(call: ToolCall, thrown: unknown, secrets: readonly string[]): ToolResult {
  const { category, errorClass, executed = 'unknown', signIn } = failureDetails(thrown);
  const message = maskSecrets(secrets)(describeThrown(thrown));
  if (signIn !== undefined) return waitsForSignIn(call, thrown, message, withoutSecrets(signIn, secrets));
  return fail(call, 'executor_error', thrown, message, {
    category: category ?? categoryOf(thrown),
    errorClass: errorClass ?? (categoryOf(thrown) === 'network' ? 'retryable' : 'repairable'),
    executed,
  });
}

/** The call is kept and made again when somebody has signed in. */
function waitsForSignIn(call: ToolCall, thrown: unknown, message: string, shown: JsonValue | undefined): ToolResult {
  stateOf(call).question = Object.freeze({ gate: 'tool', definition: definitionHashOf(call), policy: '' });
  const interruption: Interruption = {
    kind: 'auth_required',
    ...{ id: `approval_${createIdOf(call)()}`, fingerprint: fingerprintOf(call) },
    ...{ shown: { toolName: call.toolName, signIn: shown ?? null }, options: ['allow_once', 'reject_once'] },
    ...openUntil(call),
  };
  return withResult(fail(call, 'auth_required', thrown, message, { executed: 'no' }), { interruption });
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
    const code: unknown = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
    return typeof code === 'string' && NETWORK_CODES.has(code) ? 'network' : 'exception';
  } catch {
    return 'exception';
  }
}

/** A tool that was stopped ran for certain only if it still answered. */
function stopped(call: ToolCall, tool: Tool, by: 'timeout' | 'cancelled', ran: Ran<unknown> | null): ToolResult {
  const executed = ran !== null && 'value' in ran ? 'yes' : 'unknown';
  const message =
    by === 'timeout'
      ? `${call.toolName} did not answer within ${tool.timeoutMs ?? 0} ms. It may have done its work; check before you try again.`
      : 'The call was cancelled while it ran.';
  return fail(call, by, ran, message, { executed });
}

const tooLarge = (call: ToolCall, maxBytes: number): ToolResult =>
  fail(call, 'executor_error', null, `${call.toolName} answered with more than ${maxBytes} bytes. Ask for less at a time.`, {
    category: 'result_too_large',
    errorClass: 'repairable',
    executed: 'yes',
  });

/**
 * Progress goes out through the layers. One that swallows it cannot make a long call look dead: the host is told the
 * numbers, without the text that layer may have had reason to withhold.
 */
function reportThrough(call: ToolCall, { message, ...numbers }: ToolProgress): void {
  const record = recordOf(call);
  const before = record.reported;
  try {
    call.report(Object.freeze(message === undefined ? numbers : { ...numbers, message }));
  } catch {
    // The layer's failure is no business of the tool's.
  }
  if (record.reported === before) record.report(Object.freeze(numbers));
}

/** Progress comes from the tool: numbers that are numbers, text on one line, and no secret it was given. */
function cleanProgress({ progress, total, message }: ToolProgress, secrets: readonly string[]): ToolProgress {
  return {
    ...(Number.isFinite(progress) ? { progress: progress as number } : {}),
    ...(Number.isFinite(total) ? { total: total as number } : {}),
    ...(typeof message === 'string' ? { message: oneLine(maskSecrets(secrets)(message)) } : {}),
  };
}
