/**
 * A recorded run as a scenario: the tools answer as they did, and the results have to be those that
 * were recorded.
 */

import { stringify } from 'yaml';
import type { RecordedAnswer, RecordedCall, Recording } from '../../middleware/replay/replay.ts';
import { renderContent } from '../../src/core/contract/content.ts';
import { describeThrown } from '../../src/core/contract/errors.ts';
import { AlliumError } from '../../src/index.ts';
import { DEFAULT_LIMITS } from '../../src/dispatch/intake/limits.ts';
import { checkOptions, expected } from '../../src/layer.ts';
import { isRecord } from './json-parts.ts';

/** What a recording does not say about the scenario that is made of it. */
export interface ScenarioFromOptions {
  /** `<area>.<what it shows>`. */
  readonly id: string;
  /** A statement that is true when the scenario passes. */
  readonly title: string;
  /** The requirement it proves. @default 'REC-1' */
  readonly requirement?: string;
}

/**
 * The YAML text of one scenario: each recorded call in its order, on tools that are scripted to
 * answer as recorded, without layers. Add the layers that are to be tried. Calls that a tool made
 * itself are left out. Throws `ERR_INVALID_RECORDING`, with file and line, for an answer that no
 * tool can give, such as `rate_limited`, and for a recording without calls.
 */
export function scenarioFrom(recording: Recording, options: ScenarioFromOptions): string {
  checkOptions('scenarioFrom', options, {
    id: expected.required(expected.string),
    title: expected.required(expected.string),
    requirement: expected.string,
  });
  const { id, title, requirement = 'REC-1' } = options;
  const calls = recording.calls.filter(({ nested }) => !nested);
  const [first] = calls;
  if (first === undefined) throw invalid(recording.file, 'has no calls');
  const answered = calls.map((call) => ({ call, ...actOf(call, recording.file) }));
  const scenario = {
    ...{ id, title, requirement, source: `a recording of ${first.startedAt}` },
    tools: [...new Set(calls.map(({ toolName }) => toolName))].map((name) => ({
      name,
      script: answered.filter(({ call }) => call.toolName === name).map(({ act }) => act),
    })),
    ...hostFor(calls),
    steps: answered.map(({ call, answer }) => ({
      ...{ call: call.toolName, args: call.arguments, id: call.toolCallId },
      expect: expectationOf(answer),
    })),
    expect: {
      received: calls.map(({ toolName, arguments: args, toolCallId }) => ({
        tool: toolName,
        args: { $exact: args },
        call_id: toolCallId,
      })),
    },
  };
  // Text is quoted, because tools answer with everything that YAML would take for something else.
  return stringify(scenario, {
    lineWidth: 0,
    aliasDuplicateObjects: false,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
  });
}

/** What the scripted tool does to come to this answer. */
function actOf(
  call: RecordedCall,
  file: string,
): { readonly act: object; readonly answer: RecordedAnswer } {
  const { answer, line } = call;
  const where = `${file}:${line}`;
  if (answer === null) throw invalid(where, 'the answer was too large to be recorded');
  const act = answer.ok ? goodAct(answer) : badAct(answer);
  if (act === null)
    throw invalid(where, `no tool can answer like this by itself (status ${answer.status})`);
  return { act, answer };
}

function goodAct(answer: RecordedAnswer): object | null {
  if (answer.status !== 'ok') return null;
  return answer.content === undefined ? { respond: answer.result } : outputAct(answer);
}

function badAct(answer: RecordedAnswer): object | null {
  const { status, error, errorCategory, errorClass, executed, content, result } = answer;
  if (
    status !== 'executor_error' ||
    error === null ||
    errorCategory === null ||
    errorClass === null
  )
    return null;
  if (content !== undefined) {
    const isReported =
      errorCategory === 'tool_error' && executed === 'yes' && error === answer.renderedResult;
    return isReported ? outputAct(answer, { isError: true }) : null;
  }
  // What a tool throws reaches the model as one line.
  if (result !== null || describeThrown(error) !== error) return null;
  return { throw: { message: error, category: errorCategory, errorClass, executed } };
}

/** Blocks with a text of their own were changed by a layer. */
function outputAct(
  { content = [], result, renderedResult }: RecordedAnswer,
  more: object = {},
): object | null {
  if (renderContent(content, result) !== renderedResult || (result !== null && !isRecord(result)))
    return null;
  return {
    output: { content, ...(result === null ? {} : { structuredContent: result }), ...more },
  };
}

/**
 * Whether something ran is expected only where it did: a layer may have answered in the tool's
 * place.
 */
function expectationOf(answer: RecordedAnswer): object {
  const {
    ok,
    status,
    executed,
    result,
    content,
    renderedResult,
    error,
    errorCategory,
    errorClass,
  } = answer;
  return {
    ...{
      ok,
      status,
      ...(ok && executed !== 'yes' ? {} : { executed }),
      result: { $exact: result },
    },
    ...(content === undefined
      ? {}
      : { content: { $exact: content }, rendered_result: renderedResult }),
    ...{ error, error_category: errorCategory, error_class: errorClass },
  };
}

/** The dispatcher would put a large result aside; recorded is the whole one. */
function hostFor(calls: readonly RecordedCall[]): object {
  const { maxPreviewBytes, maxResultBytes } = DEFAULT_LIMITS;
  const isLarge = calls.some(
    ({ answer }) => Buffer.byteLength(JSON.stringify(answer)) > maxPreviewBytes,
  );
  return isLarge ? { host: { limits: { maxPreviewBytes: maxResultBytes } } } : {};
}

const invalid = (where: string, problem: string): AlliumError =>
  new AlliumError('ERR_INVALID_RECORDING', `${where}: ${problem}`, { path: where });
