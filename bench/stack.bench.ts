/**
 * What the eleven layers of the captain stack cost together: against one function that does the
 * same by hand, and against the same layers as LangChain middleware. Before anything is measured,
 * the limit proves that it does what allium does, refusals included, and that a wrong one would be
 * noticed; every other stack, that it leaves the same receipts, spans and answers behind for one
 * call, up to ids and times. Then each runs in a process of its own, and they take turns: what some
 * of them share would be slower for the objects of the others.
 *
 * LangChain has three rows. Two of them borrow allium's own parts for hashes, scan and receipts:
 * the chain alone, which only LangChain itself can build, and the same chain inside a ToolNode,
 * where middleware runs. They show what LangChain itself costs, and no goal is about them: whoever
 * writes these layers for LangChain has none of those parts, and making them cheaper makes these
 * rows cheaper too. The goal is about the third, in which each middleware does its own work with
 * what there is for it.
 */

import { strict as assert } from 'node:assert';
import { fileURLToPath } from 'node:url';
import type { Measured } from './harness.ts';
import { measureApart, weighApart } from './measure-apart.ts';
import type { BenchOptions } from './options.ts';
import { type Goal, ratioGoal, renderRows, renderTable, type Report, rowsOf } from './report.ts';
import {
  ALLIUM,
  BARE,
  CASES,
  FLOOR,
  IDLE,
  IDLE_LAYERS,
  LIMIT,
  LIMIT_CASES,
  NO_LAYERS,
  OWN_LANGCHAIN,
  PEERS,
} from './stack-cases.ts';
import { factsOf, proveLimit, proveNoticed, receiptsIn, spanFacts } from './stack-proof.ts';
import { answerTo, argsAt, startTracing, type Tracing } from './stack-scenario.ts';

const MAX_TO_LANGCHAIN = 0.5;
const MAX_NO_LAYERS = 4;
const MAX_IDLE_LAYERS = 1.4;
const MAX_KB = 25;
const WARM_UP_PASS_MS = 1_500;
const PROGRAM = fileURLToPath(new URL('stack-case.js', import.meta.url));

export async function stackBench(options: BenchOptions): Promise<Report> {
  const noticed = await proveAll();
  if (options.proveOnly) return { bench: 'stack', text: proofText(noticed), data: [], goals: [] };
  const cases = CASES.flatMap(({ group, stacks }) =>
    Object.keys(stacks).map((name) => ({ group, name })),
  ).filter(options.matches);
  const measured = await measureApart(PROGRAM, cases, {
    ...options,
    warmUpPassMs: WARM_UP_PASS_MS,
  });
  const weighed = await weighSides(options);
  const isIdle = ({ group }: Measured) => group === IDLE.group;
  const rows = rowsOf(
    measured.filter((one) => !isIdle(one)),
    LIMIT,
  );
  const idle = rowsOf(measured.filter(isIdle), BARE);
  const text = [
    renderRows(rows, LIMIT),
    renderRows(idle, BARE),
    floorText(measured),
    weightText(weighed),
  ];
  return {
    bench: 'stack',
    text: text.filter((part) => part !== '').join('\n\n'),
    data: [...rows, ...idle, ...weighed],
    goals: [
      ...LIMIT_CASES.map(({ group, maxRatio }) =>
        ratioGoal(measured, group, ALLIUM, LIMIT, maxRatio),
      ),
      weightGoal(weighed),
      ratioGoal(measured, IDLE.group, NO_LAYERS, BARE, MAX_NO_LAYERS),
      ratioGoal(measured, IDLE.group, IDLE_LAYERS, NO_LAYERS, MAX_IDLE_LAYERS),
      ratioGoal(measured, PEERS.group, ALLIUM, OWN_LANGCHAIN, MAX_TO_LANGCHAIN),
    ],
  };
}

/** Throws unless all stacks do the same; answers which wrong limits it noticed. */
async function proveAll(): Promise<readonly string[]> {
  const tracing = startTracing();
  try {
    const noticed = await proveNoticed(await proveLimit(tracing), tracing);
    await provePeers(tracing);
    return noticed;
  } finally {
    await tracing.stop();
  }
}

const proofText = (noticed: readonly string[]): string =>
  ['All stacks do the same. Noticed was a limit that', ...noticed.map((what) => `  ${what}`)].join(
    '\n',
  );

async function provePeers(tracing: Tracing): Promise<void> {
  const evidence = new Map<string, { answer: unknown; spans: unknown; receipts: unknown }>();
  for (const [name, make] of Object.entries(PEERS.stacks)) {
    const stack = await make();
    let answer: unknown;
    const spans = await tracing.spansOf(async () => (answer = await stack.call(argsAt(1))));
    await stack.flush();
    evidence.set(name, { answer, spans: spans.map(spanFacts), receipts: receiptsIn(stack.folder) });
    await stack.close();
  }
  const allium = evidence.get(ALLIUM);
  const text = JSON.stringify(JSON.stringify(answerTo(argsAt(1))));
  for (const [name, { answer, spans, receipts }] of evidence) {
    if (name === LIMIT) assert.deepEqual(factsOf(answer), factsOf(allium?.answer));
    assert.ok(JSON.stringify(answer).includes(text), `${name}: answers something else`);
    assert.deepEqual(receipts, allium?.receipts, `${name}: writes another receipt`);
    assert.deepEqual(spans, allium?.spans, `${name}: makes other spans`);
  }
}

/** How many times the least that any record of the same values costs the limit takes. */
function floorText(measured: readonly Measured[]): string {
  const lines = LIMIT_CASES.flatMap(({ group }) => {
    const goal = ratioGoal(measured, group, LIMIT, FLOOR, 0);
    if (goal.ratio === undefined) return [];
    const { median, best } = goal.ratio;
    return [[group, `${median.toFixed(2)}×`, `${best.toFixed(2)}×`]];
  });
  return lines.length === 0
    ? ''
    : renderTable([`limit / ${FLOOR}`, 'median', 'of the best'], lines);
}

interface Weight {
  readonly group: string;
  readonly name: string;
  readonly bytes: number;
}

/** Bytes per call with 64 under way and the short answer. */
async function weighSides(options: BenchOptions): Promise<readonly Weight[]> {
  const [subject] = LIMIT_CASES;
  const weights: Weight[] = [];
  if (subject === undefined) return weights;
  options.onProgress('weighing what calls allocate');
  for (const name of Object.keys(subject.stacks)) {
    const { group } = subject;
    if (!options.matches({ group, name })) continue;
    weights.push({
      group,
      name,
      bytes: await weighApart(PROGRAM, { group, name }, WARM_UP_PASS_MS),
    });
  }
  return weights;
}

const weightText = (weights: readonly Weight[]): string =>
  weights.length === 0
    ? ''
    : renderTable(
        [weights[0]?.group ?? '', 'KB allocated a call'],
        weights.map(({ name, bytes }) => [name, (bytes / 1000).toFixed(1)]),
      );

function weightGoal(weights: readonly Weight[]): Goal {
  const weight = weights.find(({ name }) => name === ALLIUM);
  const value = weight === undefined ? null : weight.bytes / 1000;
  return { text: 'KB allocated by a call of allium', value, relation: '<=', limit: MAX_KB };
}
