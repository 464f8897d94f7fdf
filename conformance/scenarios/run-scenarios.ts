/** Runs scenarios on a subject and says what differed. Needs no test runner. */

import { isAlliumError, type JsonObject, type JsonValue } from '../../src/index.ts';
import { isRecord, textOf } from './json-parts.ts';
import { type LoadedScenario, loadScenarios } from './load-scenarios.ts';
import { type Bindings, type Mismatch, mismatches } from './match.ts';
import type { FinalExpectation, Scenario, Step } from './scenario.ts';
import type { Reply, Subject, SubjectSession, Traces } from './subject.ts';
import { thrownAs } from './thrown-as.ts';

/** How one scenario ended. */
export interface ScenarioResult {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  readonly ok: boolean;
  /** What was expected and not seen. Empty where it passed. */
  readonly mismatches: readonly Mismatch[];
  readonly durationMs: number;
}

/** How a suite ended. */
export interface SuiteReport {
  readonly subject: string;
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly results: readonly ScenarioResult[];
}

/** Which scenarios are run, and who is told meanwhile. */
export interface RunOptions {
  /** Text that the id or the title contains. @default all */
  readonly filter?: string;
  /** Hears of every scenario that has ended. */
  readonly onResult?: (result: ScenarioResult, index: number, total: number) => void;
  /** Ends the run after the scenario that is under way. */
  readonly signal?: AbortSignal;
}

/**
 * Runs all scenarios of a file or folder. Throws `ERR_INVALID_SCENARIO` before anything runs, for
 * files that are wrong.
 */
export async function runScenarios(
  fileOrFolder: string,
  subject: Subject,
  options: RunOptions = {},
): Promise<SuiteReport> {
  const { filter = '', onResult, signal } = options;
  const chosen = loadScenarios(fileOrFolder).filter(
    ({ scenario: { id, title } }) => id.includes(filter) || title.includes(filter),
  );
  const results: ScenarioResult[] = [];
  for (const loaded of chosen) {
    if (signal?.aborted === true) break;
    const result = await runScenario(loaded, subject);
    results.push(result);
    onResult?.(result, results.length, chosen.length);
  }
  const passed = results.filter(({ ok }) => ok).length;
  return Object.freeze({
    subject: subject.name,
    total: results.length,
    passed,
    failed: results.length - passed,
    results,
  });
}

/** Runs one scenario. Never rejects: a subject that breaks fails the scenario. */
export async function runScenario(
  { file, scenario }: LoadedScenario,
  subject: Subject,
): Promise<ScenarioResult> {
  const startedAt = performance.now();
  let found: readonly Mismatch[];
  try {
    found = await judge(scenario, subject);
  } catch (error) {
    found = [{ path: 'the subject', expected: 'an answer', got: textOf(thrownAs(error).message) }];
  }
  const { id, title } = scenario;
  return Object.freeze({
    id,
    title,
    file,
    ok: found.length === 0,
    mismatches: found,
    durationMs: performance.now() - startedAt,
  });
}

async function judge(scenario: Scenario, subject: Subject): Promise<readonly Mismatch[]> {
  const { tools, layers, host, steps = [], expect = {} } = scenario;
  const bindings: Bindings = new Map();
  const setup = { ...(tools && { tools }), ...(layers && { layers }), ...(host && { host }) };
  const opened = await open(subject, setup);
  if ('throws' in opened) {
    if (expect.throws !== undefined)
      return mismatches(expect.throws, opened.throws, 'throws', bindings);
    return [
      { path: 'the stack', expected: 'to be put together', got: JSON.stringify(opened.throws) },
    ];
  }
  const { session } = opened;
  const found: Mismatch[] = [];
  const seen: JsonValue[] = [];
  for (const [index, step] of steps.entries()) {
    const reply = await session.do(withoutExpectations(step));
    seen.push(shownReply(reply));
    found.push(...judgeStep(step, reply, `steps[${index}]`, bindings));
  }
  const traces = await session.finish();
  if (expect.throws !== undefined)
    found.push({
      path: 'the stack',
      expected: `to fail: ${JSON.stringify(expect.throws)}`,
      got: 'it was put together',
    });
  return [...found, ...judgeTraces(expect, traces, seen, bindings)];
}

async function open(
  subject: Subject,
  setup: Parameters<Subject['open']>[0],
): Promise<{ session: SubjectSession } | { throws: JsonObject }> {
  try {
    return { session: await subject.open(setup) };
  } catch (error) {
    // A subject that is broken refuses nothing: what is expected of a refusal must not fit it.
    if (isAlliumError(error, 'ERR_SUBJECT')) throw error;
    return { throws: thrownAs(error) };
  }
}

/** A subject is not told what it is expected to do. */
function withoutExpectations(step: Step): Step {
  const copy = { ...step };
  if ('expect' in copy) delete copy.expect;
  return 'parallel' in copy
    ? { ...copy, parallel: copy.parallel.map(({ expect: _, ...one }) => one) }
    : copy;
}

function judgeStep(
  step: Step,
  reply: Reply,
  path: string,
  bindings: Bindings,
): readonly Mismatch[] {
  const whole =
    'expect' in step && step.expect !== undefined
      ? judgeReply(step.expect, reply, path, bindings)
      : refusedReply(step, reply, path);
  if (!('parallel' in step)) return whole;
  if (!('values' in reply))
    return [{ path, expected: 'an answer to each call', got: JSON.stringify(reply) }];
  const { parallel } = step;
  const each = reply.values.flatMap((one, index) => {
    const { expect } = parallel[index % parallel.length] ?? {};
    return expect === undefined
      ? []
      : judgeReply(expect, one, `${path}.parallel[${index}]`, bindings);
  });
  return [...whole, ...each];
}

/**
 * Without an expectation anything is fine but what no scenario means: a call that never ends, or
 * one that is thrown.
 */
function refusedReply(step: Step, reply: Reply, path: string): readonly Mismatch[] {
  if ('pending' in reply)
    return [{ path, expected: 'an end', got: 'a call that only time would end' }];
  if ('throws' in reply)
    return [
      {
        path,
        expected: `a result of ${Object.keys(step)[0] ?? 'a step'}`,
        got: JSON.stringify(reply.throws),
      },
    ];
  return [];
}

function judgeReply(
  expected: JsonValue,
  reply: Reply,
  path: string,
  bindings: Bindings,
): readonly Mismatch[] {
  if (isThrow(expected))
    return mismatches(
      expected.throws ?? null,
      'throws' in reply ? reply.throws : undefined,
      `${path}.throws`,
      bindings,
    );
  if (expected === 'pending')
    return 'pending' in reply
      ? []
      : [{ path, expected: 'no end yet', got: JSON.stringify(shownReply(reply)) }];
  if ('pending' in reply)
    return [{ path, expected: 'an end', got: 'a call that only time would end' }];
  if ('throws' in reply) return [{ path, expected: 'a result', got: JSON.stringify(reply.throws) }];
  return mismatches(expected, shownReply(reply), path, bindings);
}

const isThrow = (expected: JsonValue): expected is JsonObject =>
  isRecord(expected) && Object.keys(expected).join() === 'throws';

function shownReply(reply: Reply): JsonValue {
  if ('values' in reply) return reply.values.map(shownReply);
  if ('value' in reply) return reply.value;
  return 'throws' in reply ? { throws: reply.throws } : null;
}

const TRACES = ['received', 'events', 'files', 'outputs', 'logs', 'timers'] as const;

function judgeTraces(
  expect: FinalExpectation,
  traces: Traces,
  replies: readonly JsonValue[],
  bindings: Bindings,
): readonly Mismatch[] {
  const { receipts = [], spans = [] } = traces.sinks;
  const named = TRACES.flatMap((name): readonly Mismatch[] => {
    const wanted = expect[name];
    return wanted === undefined ? [] : mismatches(wanted, traces[name], name, bindings);
  });
  return [
    ...named,
    ...(expect.receipts === undefined
      ? []
      : mismatches(expect.receipts, receipts, 'receipts', bindings)),
    ...(expect.spans === undefined ? [] : mismatches(expect.spans, spans, 'spans', bindings)),
    ...(expect.sinks === undefined
      ? []
      : mismatches(expect.sinks, traces.sinks, 'sinks', bindings)),
    ...traces.unused.map((got) => ({
      path: 'script',
      expected: 'every answer to be asked for',
      got,
    })),
    ...traces.unexpected.map((got) => ({
      path: 'script',
      expected: 'no more questions than answers',
      got,
    })),
    ...leaks(expect.nowhere ?? [], traces, replies),
  ];
}

function leaks(
  texts: readonly string[],
  { events, sinks, logs, files, outputs }: Traces,
  replies: readonly JsonValue[],
): readonly Mismatch[] {
  const places: Readonly<Record<string, unknown>> = {
    results: replies,
    events,
    ...sinks,
    logs,
    files,
    outputs,
  };
  return texts.flatMap((text) =>
    Object.entries(places)
      // As JSON writes it: a quote or a line break inside the text must not hide it.
      .filter(([, seen]) =>
        (JSON.stringify(seen) ?? '').includes(JSON.stringify(text).slice(1, -1)),
      )
      .map(([place]) => ({
        path: place,
        expected: `no ${JSON.stringify(text)} anywhere`,
        got: 'it is there',
      })),
  );
}
