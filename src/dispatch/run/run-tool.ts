/** The bottom of the onion: hidden arguments in, and the tool run within its bounds. */

import type { Refusal } from '../../core/onion/pass.ts';
import { fail } from '../../core/onion/results.ts';
import type { ToolCall, ToolProgress } from '../../core/contract/call.ts';
import { oneLine } from '../../core/contract/errors.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import type { AbortSource } from '../../core/time/abort.ts';
import { finishWithin } from '../../core/time/run-within.ts';
import { describeProblems, type SchemaProblem } from '../../tools/schema/validator.ts';
import type { Invocation, Tool, ToolContext, ToolExecutor } from '../../tools/tool.ts';
import { invalidArgsText } from '../intake/admission.ts';
import { type HiddenSources, hiddenValues, maskSecrets } from '../intake/arguments.ts';
import { recordOf, type ObjectToChange } from '../record.ts';
import {
  checkedOutput,
  NO_SECRETS,
  notEntered,
  type ResultBounds,
  resultOf,
} from './tool-result.ts';
import { withUses } from './under-way.ts';

/** How long a tool that was stopped may take to say what it did. */
const GRACE_MS = 100;

export interface RunToolOptions {
  readonly sources: HiddenSources;
  readonly limits: ResultBounds;
  readonly executorFor: (tool: Tool) => ToolExecutor;
  readonly objectTo: ObjectToChange;
  readonly contextFor: (
    call: ToolCall,
    abort: AbortSource,
    report: (progress: ToolProgress) => void,
  ) => ToolContext;
}

/** What is found out on the way into a tool. */
interface Entry {
  /** Hidden arguments that the tool must not repeat. */
  secrets: readonly string[];
  /** Why it was not entered. */
  misfit: string | null;
  changed: Refusal | null;
  /** What the tool's schema library has against its answer. */
  problems: readonly SchemaProblem[];
  readonly limits: ResultBounds;
}

/** Runs one tool for one call. What it throws itself, `compose` makes an `executor_error`. */
export function runTool(call: ToolCall, tool: Tool, options: RunToolOptions): Promise<ToolResult> {
  const { limits } = options;
  const entry: Entry = { secrets: NO_SECRETS, misfit: null, changed: null, problems: [], limits };
  const report = (progress: ToolProgress) => reportProgress(call, progress, entry.secrets);
  return finishWithin<unknown, ToolResult>(
    { call, timeoutMs: tool.timeoutMs, graceMs: GRACE_MS },
    (abort) => {
      const context = options.contextFor(call, abort, report);
      // Most tools are given just what the model sent, which is frozen already.
      if (tool.injected.length === 0 && tool.parse === undefined && tool.parseOutput === undefined)
        return enterTool(call, { tool, args: call.toolArgs, context }, entry, options);
      return enterPrepared(call, tool, context, entry, options);
    },
    (ending) => {
      if (entry.changed !== null) return notEntered(call, entry.changed);
      if (entry.misfit === null) return withUses(call, resultOf(call, tool, ending, entry));
      const text = invalidArgsText(call, entry.misfit);
      return fail(call, 'schema_violation', null, text, { executed: 'no' });
    },
  );
}

/**
 * Enters a tool that is given more than the model sent, takes it in another form, or whose answer a
 * schema library checks.
 */
async function enterPrepared(
  call: ToolCall,
  tool: Tool,
  context: ToolContext,
  entry: Entry,
  options: RunToolOptions,
): Promise<unknown> {
  const hidden = await hiddenValues(tool, context, options.sources);
  entry.secrets = hidden.secrets;
  const args = { ...call.toolArgs, ...hidden.values };
  const parsed = tool.parse === undefined ? { value: args } : await tool.parse(args);
  if (!('value' in parsed)) return void (entry.misfit = describeProblems(parsed.problems));
  const answer = await enterTool(
    call,
    { tool, args: Object.freeze(parsed.value), context },
    entry,
    options,
  );
  if (tool.parseOutput === undefined || entry.changed !== null) return answer;
  const { value, problems } = await checkedOutput(tool.parseOutput, answer, options.limits);
  const clean = maskSecrets(entry.secrets);
  entry.problems = problems.map(({ path, message }) => ({
    path: clean(path),
    message: clean(message),
  }));
  return value;
}

/**
 * The one place where a tool is entered. `tool` is the one that rules judged and people were asked
 * about; in the same step it is compared with what the host has now, because guards, gates, hidden
 * arguments and a second `next` all take time.
 */
function enterTool(
  call: ToolCall,
  invocation: Invocation,
  entry: Entry,
  { objectTo, executorFor }: RunToolOptions,
): unknown {
  entry.changed = objectTo(call, invocation.tool);
  return entry.changed === null ? executorFor(invocation.tool).execute(invocation) : undefined;
}

/**
 * Progress goes out through the layers. One that swallows it cannot make a long call look dead: the
 * host is told the numbers, without the text that layer may have had reason to withhold.
 */
function reportProgress(call: ToolCall, given: ToolProgress, secrets: readonly string[]): void {
  const { message, ...numbers } = cleanProgress(given, secrets);
  const record = recordOf(call);
  const before = record.reported;
  try {
    call.report(Object.freeze(message === undefined ? numbers : { ...numbers, message }));
  } catch {
    // The layer's failure is no business of the tool's.
  }
  if (record.reported === before) record.report(Object.freeze(numbers));
}

/**
 * Progress comes from the tool: numbers that are numbers, text on one line, and no secret it was
 * given.
 */
function cleanProgress(
  { progress, total, message }: ToolProgress,
  secrets: readonly string[],
): ToolProgress {
  return {
    ...(Number.isFinite(progress) ? { progress: progress as number } : {}),
    ...(Number.isFinite(total) ? { total: total as number } : {}),
    ...(typeof message === 'string' ? { message: oneLine(maskSecrets(secrets)(message)) } : {}),
  };
}
