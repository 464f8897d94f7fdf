/**
 * The way of one call: which files and functions a call through the reference recipe enters once
 * everything is warm, and how often it freezes. Counted by V8 itself. Run it on files that were
 * built one for one: a bundle has no files, and a test runner adds functions of its own.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import {
  auditLog,
  consent,
  dryRun,
  handoffArtifact,
  idempotency,
  rateLimit,
  redaction,
  requiredReason,
  summary,
  telemetry,
  timeout,
} from '../../../middleware/index.ts';
import { defineTool, type GovernedTools, governTools } from '../../../src/index.ts';

export interface EnteredFile {
  /** From the folder of the build. */
  readonly file: string;
  /** Most entered first. A function without a name is called by the line it begins on. */
  readonly functions: readonly { readonly name: string; readonly count: number }[];
  readonly freezes: number;
}

export interface CallFigures {
  /** Most entered first. */
  readonly files: readonly EnteredFile[];
  readonly functions: number;
  readonly entries: number;
  readonly freezes: number;
}

const WARM_CALLS = 10;

/**
 * Measures one call of the package built at `built`, the folder that holds `src` and `middleware`.
 */
export async function measureCall(built: string): Promise<CallFigures> {
  const state = mkdtempSync(join(tmpdir(), 'allium-house-'));
  process.env.ALLIUM_STATE_DIR = state;
  const tracing = new NodeTracerProvider();
  tracing.register();
  const governed = captainStack();
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    for (let warm = 0; warm < WARM_CALLS; warm += 1) await oneCall(governed, warm);
    await session.post('Profiler.takePreciseCoverage'); // Sets every count back to 0.
    const freezes = await freezesIn(built, () => oneCall(governed, WARM_CALLS));
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return figuresOf(result, freezes, built);
  } finally {
    session.disconnect();
    await governed.close();
    await tracing.shutdown();
    rmSync(state, { recursive: true, force: true });
  }
}

/** The reference recipe around a tool that answers at once, with a listener that hears all. */
function captainStack(): GovernedTools {
  const tool = defineTool({
    name: 'search_orders',
    description: 'Finds orders by customer, city and status.',
    inputSchema: {
      type: 'object',
      properties: { customer: { type: 'string' }, limit: { type: 'integer' } },
      required: ['customer'],
    },
    annotations: { readOnly: true, destructive: false, kind: 'search' },
    execute: (args) => ({ order: `order-of-${args.customer}`, city: 'Ghent', total: 19.5 }),
  });
  const governed = governTools({
    tools: [tool],
    layers: [
      auditLog('local'),
      telemetry('otel'),
      summary((call, result) => `${call.toolName}: ${result.status}`),
      consent(() => 'auto'),
      requiredReason(),
      redaction({ detectors: ['secrets'] }),
      handoffArtifact(),
      idempotency(),
      rateLimit({ maxCalls: 1_000 }),
      dryRun({ only: [] }),
      timeout({ maxMs: 30_000 }),
    ],
  });
  governed.on('*', () => {});
  return governed;
}

/** Every call has arguments of its own: an answer from the cache would leave out half of the way. */
async function oneCall(governed: GovernedTools, n: number): Promise<void> {
  const { status } = await governed.call(
    {
      name: 'search_orders',
      arguments: { customer: `customer-${n}`, limit: 24, reason: 'They asked which are late.' },
      id: `call-${n}`,
    },
    { turn: { sessionId: 'house', iteration: 3, runId: 'run-1', model: 'model-1' } },
  );
  if (status !== 'ok') throw new Error(`the call came to ${status}`);
  for (let turns = 0; turns < 3; turns += 1) await turn(); // What is done after the answer.
}

/** How often the files of `built` call `Object.freeze` while `run` runs, by file. */
async function freezesIn(
  built: string,
  run: () => Promise<void>,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const { freeze } = Object;
  const counted = <T>(value: T): T => {
    const [, , ...callers] = (new Error('where from').stack ?? '').split('\n');
    const caller = callers.find((line) => !line.includes('(<anonymous>)')); // Not `Array.map`.
    const file = caller?.split(`${built}/`)[1]?.replace(/:\d+:\d+\)?$/, '');
    if (file !== undefined) counts.set(file, (counts.get(file) ?? 0) + 1);
    return freeze(value);
  };
  Object.freeze = counted;
  try {
    await run();
  } finally {
    Object.freeze = freeze;
  }
  return counts;
}

function figuresOf(
  coverage: readonly Profiler.ScriptCoverage[],
  freezes: ReadonlyMap<string, number>,
  built: string,
): CallFigures {
  const base = pathToFileURL(`${built}/`).href;
  const files = coverage
    .filter(({ url }) => url.startsWith(base))
    .map(({ url, functions }) => ({ file: url.slice(base.length), covered: functions }))
    .filter(({ file }) => /^(?:src|middleware)\//.test(file))
    .map(({ file, covered }): EnteredFile => {
      const text = readFileSync(join(built, file), 'utf8');
      return { file, functions: enteredIn(text, covered), freezes: freezes.get(file) ?? 0 };
    })
    .filter(({ functions }) => functions.length > 0)
    .sort((a, b) => entriesOf(b) - entriesOf(a));
  return {
    files,
    functions: sum(files.map(({ functions }) => functions.length)),
    entries: sum(files.map(entriesOf)),
    freezes: sum(files.map((file) => file.freezes)),
  };
}

function enteredIn(
  text: string,
  covered: readonly Profiler.FunctionCoverage[],
): EnteredFile['functions'] {
  return covered
    .flatMap(({ functionName, ranges: [whole] }) => {
      if (whole === undefined || whole.count === 0) return [];
      const line = text.slice(0, whole.startOffset).split('\n').length;
      return [{ name: functionName || `line ${line}`, count: whole.count }];
    })
    .sort((a, b) => b.count - a.count);
}

export const entriesOf = ({ functions }: EnteredFile): number =>
  sum(functions.map(({ count }) => count));

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
