/**
 * Random requests to dispatchers with random stacks, and what must hold for every answer and every
 * event.
 */

import { isResult } from '../../../src/core/onion/make-result.ts';
import { isAlliumError } from '../../../src/core/contract/errors.ts';
import type { ToolLayer } from '../../../src/core/contract/layer.ts';
import type { ToolResult } from '../../../src/core/contract/result.ts';
import { outcomeOf } from '../../../src/core/contract/status.ts';
import type { ToolEvent } from '../../../src/core/wire/wire.ts';
import {
  type GovernedTools,
  type GovernOptions,
  governTools,
} from '../../../src/dispatch/govern-tools.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import type { Tool, ToolRequest } from '../../../src/tools/tool.ts';
import { hostileThrowables } from '../../hostile-values.ts';
import { settle } from '../../test-kit.ts';
import { hops, pickBehaviour } from './behaviours.ts';
import { createRandom, type Random } from './random.ts';
import { report, type Watched, watchedRun } from './watch-process.ts';

export interface DispatchFigures extends Watched {
  calls: number;
  events: number;
  toolRuns: number;
  raised: number;
  readonly statuses: Record<string, number>;
}

/** What was seen of one call. */
interface Story {
  readonly id: string;
  readonly cancelled: boolean;
  readonly told: string[];
  runs: number;
}

type Stories = Map<string, Story>;

export interface DispatchFuzzOptions {
  readonly calls: number;
  readonly seed: number;
  /** What is put to the test. @default governTools */
  readonly govern?: (options: GovernOptions) => GovernedTools;
  readonly onProgress?: (done: number) => void;
}

const CALLS_PER_DISPATCHER = 50;
const MOST_LAYERS = 6;
/** What a tool may answer with and JSON cannot say. */
const unspeakable: readonly unknown[] = [
  1n,
  Number.NaN,
  () => {},
  Symbol('x'),
  new Map(),
  new Array<unknown>(2),
  { then: 1, deep: [undefined] },
];
const hostile = hostileThrowables.map(([, make]) => make());

/** Runs the calls and counts. Never rejects for what it finds; look at `violations`. */
export async function fuzzDispatch(options: DispatchFuzzOptions): Promise<DispatchFigures> {
  const figures: DispatchFigures = {
    calls: 0,
    events: 0,
    toolRuns: 0,
    raised: 0,
    unhandled: 0,
    statuses: {},
    violations: {},
  };
  await watchedRun(figures, async () => {
    while (figures.calls < options.calls) {
      await runDispatcher(options, figures);
      options.onProgress?.(figures.calls);
    }
  });
  return figures;
}

async function runDispatcher(
  { calls, seed, govern = governTools }: DispatchFuzzOptions,
  figures: DispatchFigures,
): Promise<void> {
  const random = createRandom(Math.imul(seed, 1_000_003) + figures.calls);
  const stories: Stories = new Map();
  const governed = govern({
    tools: [toolOf('echo', random, stories), toolOf('constructor', random, stories)],
    layers: Array.from({ length: random.below(MOST_LAYERS + 1) }, (_, index) =>
      layerOf(index, random),
    ),
    limits: random.oneIn(4) ? { maxCallsPerSession: 30, maxConcurrent: 2 } : {},
    onUnknownTool: random.pick(['repair', 'throw'] as const),
    onInvalidArgs: random.pick(['repair', 'throw'] as const),
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  governed.on('*', (event) => listen(event, stories, figures));
  const count = Math.min(CALLS_PER_DISPATCHER, calls - figures.calls);
  for (let done = 0; done < count; ) {
    const group = Math.min(1 + random.below(4), count - done);
    const first = figures.calls + done;
    await Promise.all(
      Array.from({ length: group }, (_, offset) =>
        runCall(`c${first + offset}`, random, governed, stories, figures),
      ),
    );
    done += group;
  }
  await settle();
  for (const story of stories.values()) closeStory(story, figures);
  figures.calls += count;
}

function toolOf(name: string, random: Random, stories: Stories): Tool {
  return defineTool({
    name,
    description: '',
    inputSchema: {
      type: 'object',
      properties: { n: { type: 'number' } },
      additionalProperties: false,
    },
    async execute(args, { callId, report }) {
      const story = stories.get(callId);
      if (story !== undefined) story.runs += 1;
      report({ progress: 1 });
      await hops(random.below(8));
      if (random.oneIn(4)) throw random.pick(hostile);
      return random.oneIn(6) ? random.pick(unspeakable) : args;
    },
  });
}

function layerOf(index: number, random: Random): ToolLayer {
  const behaviour = pickBehaviour(random);
  return {
    name: `layer ${index}`,
    observes: random.oneIn(4),
    caller: (call, next) => behaviour({ random, call, next, lateNext: next }),
  };
}

function requestOf(id: string, random: Random): ToolRequest {
  const name = random.oneIn(8)
    ? random.pick(['nobody', '__proto__', 'toString', '', 'x'.repeat(500)])
    : random.pick(['echo', 'constructor']);
  const args = random.oneIn(4)
    ? random.pick([
        '',
        '{',
        'null',
        '[]',
        '{"__proto__":1}',
        '{"n":1e999}',
        { n: 'x' },
        { more: 1 },
        ...hostile,
      ])
    : random.pick([{ n: random.below(9) }, '{"n": 1}', {}]);
  // A model sends what it likes.
  return { name, arguments: args as object, id };
}

async function runCall(
  id: string,
  random: Random,
  governed: GovernedTools,
  stories: Stories,
  figures: DispatchFigures,
): Promise<void> {
  const story: Story = { id, cancelled: random.oneIn(20), told: [], runs: 0 };
  stories.set(id, story);
  let answer: unknown;
  try {
    answer = await governed.call(
      requestOf(id, random),
      story.cancelled ? { signal: AbortSignal.abort() } : {},
    );
  } catch (thrown) {
    figures.raised += 1;
    answer = isAlliumError(thrown) ? thrown.result : null;
  }
  if (!isResult(answer))
    return report(figures, 'was answered with something that is no result', id);
  figures.statuses[answer.status] = (figures.statuses[answer.status] ?? 0) + 1;
  for (const [rule, isBroken] of rulesFor(answer, story)) if (isBroken) report(figures, rule, id);
  // Nobody may be told anything after the answer.
  story.told.push('answered');
}

function rulesFor(
  result: ToolResult,
  { id, cancelled, told, runs }: Story,
): readonly (readonly [string, boolean])[] {
  const ending =
    result.status === 'cancelled'
      ? 'cancelled'
      : { completed: 'completed', failed: 'failed', interrupted: 'paused' }[outcomeOf(result)];
  return [
    ['answers another id', result.toolCallId !== id],
    ['was not told as pending first', told[0] !== 'pending'],
    ['does not have exactly one ending', told.filter((step) => ENDINGS.has(step)).length !== 1],
    ['was told to end otherwise than it was answered', told.at(-1) !== ending],
    ['says the tool did not run, but it did', result.executed === 'no' && runs > 0],
    ['says the tool ran, but it did not', result.executed === 'yes' && runs === 0],
    ['ran the tool for a caller that had gone', cancelled && runs > 0],
  ];
}

const ENDINGS: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'paused']);

function listen(event: ToolEvent, stories: Stories, figures: DispatchFigures): void {
  figures.events += 1;
  stories.get(event.tool_call_id)?.told.push('status' in event ? event.status : event.type);
}

function closeStory(story: Story, figures: DispatchFigures): void {
  figures.toolRuns += story.runs;
  if (story.told.at(-1) !== 'answered') report(figures, 'was heard of after its answer', story.id);
}
