/** What scripted tools and callbacks answer. */

import {
  type Clock,
  type JsonObject,
  type JsonValue,
  type ToolContext,
  toolFailure,
  toolOutput,
} from '../../src/index.ts';
import { isList, isRecord, textOf } from './json-parts.ts';

/**
 * Counts what was asked, so that no scripted answer is forgotten and no question goes unnoticed.
 */
export interface ScriptLog {
  readonly unused: string[];
  readonly unexpected: string[];
}

/**
 * Gives one answer after the other. Beyond the last one it throws, and the scenario fails whatever
 * becomes of the error.
 */
export interface Script {
  next(): JsonValue;
  readonly left: number;
}

/** A script of answers. `name` is what it is called in a report. */
export function createScript(name: string, answers: readonly JsonValue[], log: ScriptLog): Script {
  let given = 0;
  return {
    next() {
      given += 1;
      if (given <= answers.length) return answers[given - 1] ?? null;
      log.unexpected.push(`${name}: asked ${given} times, ${answers.length} answers are scripted`);
      throw new Error('no answer is scripted for this');
    },
    get left() {
      return Math.max(0, answers.length - given);
    },
  };
}

const CALLBACK_FORMS = new Set(['return', 'throw', 'hang', 'afterMs']);

/**
 * The answer of a callback. A plain value is returned as it is, and at once: some callbacks may not
 * be waited for.
 */
export function answerOf(step: JsonValue, clock: Clock): unknown {
  if (!isForm(step)) return step;
  if (step.hang === true) return new Promise(() => {});
  if (typeof step.afterMs === 'number')
    return elapsed(clock, step.afterMs).then(() => ending(step));
  return ending(step);
}

function isForm(step: JsonValue): step is JsonObject {
  if (!isRecord(step)) return false;
  const names = Object.keys(step);
  return names.length > 0 && names.every((name) => CALLBACK_FORMS.has(name));
}

function ending(step: JsonObject): unknown {
  if (step.throw !== undefined) throw new Error(textOf(step.throw));
  return step.return;
}

const elapsed = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });

/** What a scripted tool does: wait, report, call another tool, and then answer, throw or hang. */
export async function actOut(
  step: JsonValue,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
  clock: Clock,
): Promise<unknown> {
  if (step === 'echo') return args;
  // The schema of scenarios lets through nothing but objects here.
  const { afterMs, progress, hang, call, throw: thrown, output, respond } = step as JsonObject;
  for (const one of isList(progress) ? progress : []) context.report(one as JsonObject);
  if (typeof afterMs === 'number') await elapsed(clock, afterMs);
  if (hang !== undefined) return hangOn(context.signal, hang === 'forever');
  if (isRecord(call)) return nested(call, context);
  if (thrown !== undefined) throw failureOf(thrown);
  // The schema of scenarios has looked at its shape.
  if (isRecord(output)) return toolOutput(output as Parameters<typeof toolOutput>[0] & JsonObject);
  return respond;
}

/** A tool that heeds its signal ends when it is aborted; one that hangs forever does not. */
const hangOn = (signal: AbortSignal, forever: boolean): Promise<never> =>
  new Promise((_, reject) => {
    if (!forever) signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

async function nested(call: JsonObject, context: ToolContext): Promise<JsonObject> {
  const { status, error, result } = await context.call({
    name: textOf(call.tool),
    arguments: isRecord(call.args) ? call.args : {},
  });
  return { status, error, result };
}

function failureOf(thrown: JsonValue): Error {
  if (!isRecord(thrown)) return new Error(textOf(thrown));
  const { message, ...details } = thrown;
  return toolFailure(textOf(message), details);
}
