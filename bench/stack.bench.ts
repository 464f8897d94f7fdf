/**
 * What the eleven layers of the captain stack cost together: against one function that does the same by hand, and against the
 * same layers as LangChain middleware. Before anything is measured, every stack proves that it leaves the same receipts, spans
 * and answers behind, up to ids and times. Then each runs in a process of its own, and they take turns: three of them use the same
 * parts, which would be slower for the objects of the others.
 *
 * LangChain has three rows. Two of them borrow allium's own parts for hashes, scan and receipts: the chain alone, which only LangChain
 * itself can build, and the same chain inside a ToolNode, where middleware runs. They show what LangChain itself costs, and no goal
 * is about them: whoever writes these layers for LangChain has none of those parts, and making them cheaper makes these rows
 * cheaper too. The goal is about the third, in which each middleware does its own work with what there is for it.
 */

import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { measureApart } from './measure-apart.ts';
import type { BenchOptions } from './options.ts';
import { ratioGoal, renderRows, type Report, rowsOf } from './report.ts';
import { answerTo, argsAt, startTracing, type Tracing } from './stack-scenario.ts';
import { type Stack, STACKS } from './stacks.ts';

const GROUP = 'captain stack, 200 B in, 4 KB out';
const MAX_TO_HAND = 1.4;
const MAX_TO_LANGCHAIN = 0.5;
const WARM_UP_PASS_MS = 1_500;

export async function stackBench(options: BenchOptions): Promise<Report> {
  const stacks = await Promise.all(STACKS.map((make) => make()));
  const names = stacks.map(({ name }) => name);
  const tracing = startTracing();
  try {
    await prove(stacks, tracing);
  } finally {
    await tracing.stop();
    for (const { close } of stacks) await close();
  }
  const cases = names.map((name) => ({ group: GROUP, name })).filter(options.matches);
  const program = fileURLToPath(new URL('stack-case.js', import.meta.url));
  const measured = await measureApart(program, cases, {
    ...options,
    warmUpPassMs: WARM_UP_PASS_MS,
  });
  const [hand = '', allium = '', , , own = ''] = names;
  const rows = rowsOf(measured, hand);
  const goals = [
    ratioGoal(measured, GROUP, allium, hand, MAX_TO_HAND),
    ratioGoal(measured, GROUP, allium, own, MAX_TO_LANGCHAIN),
  ];
  return { bench: 'stack', text: renderRows(rows, hand), data: rows, goals };
}

/** Throws unless all stacks do the same for the same call. */
async function prove(stacks: readonly Stack[], tracing: Tracing): Promise<void> {
  const traces = new Map<string, unknown>();
  const answers = new Map<string, unknown>();
  for (const { name, call, flush } of stacks) {
    const spans = await tracing.spansOf(async () => answers.set(name, await call(argsAt(1))));
    await flush();
    traces.set(name, spans.map(spanFacts));
  }
  const [hand, allium, ...peers] = stacks;
  if (hand === undefined || allium === undefined) return;
  assert.deepEqual(
    factsOf(answers.get(hand.name)),
    factsOf(answers.get(allium.name)),
    'one function: answers something else',
  );
  for (const { name } of peers) {
    assert.ok(
      JSON.stringify(answers.get(name)).includes(
        JSON.stringify(JSON.stringify(answerTo(argsAt(1)))),
      ),
      `${name}: answers something else`,
    );
  }
  const receipts = receiptsIn(allium.folder);
  assert.equal(receipts.length, 1);
  for (const { name, folder } of stacks) {
    assert.deepEqual(receiptsIn(folder), receipts, `${name}: writes another receipt`);
    assert.deepEqual(traces.get(name), traces.get(allium.name), `${name}: makes other spans`);
  }
}

/** An answer without what no two calls share, and without the fingerprint of the approval: what is in it is the layer's own affair. */
function factsOf(answer: unknown): unknown {
  return JSON.parse(
    withoutChance(JSON.stringify(answer)).replace(/"fingerprint":"[^"]*"/, '"fingerprint":""'),
  );
}

/** The receipts but for times, ids and the chain, which hashes the times; and how many bytes they have then. */
function receiptsIn(folder: string): readonly unknown[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
  const lines = files.flatMap((file) =>
    readFileSync(join(folder, file), 'utf8').trim().split('\n'),
  );
  const receipts = lines.filter((line) => line.includes('"record":"receipt"')).map(withoutChance);
  return receipts.map((text): unknown => ({
    receipt: JSON.parse(text),
    bytes: Buffer.byteLength(text),
  }));
}

const withoutChance = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/approval_[\da-f-]{36}/g, '<id>')
    .replaceAll(/"duration_ms":[\d.]+/g, '"duration_ms":0')
    .replaceAll(/"executionDurationMs":[\d.]+/g, '"executionDurationMs":0')
    .replaceAll(/file:[^"]*\/([^/"]*)"/g, '"')
    .replaceAll(/"(prev_hash|hash)":"[^"]*"/g, '"$1":""');

const spanFacts = ({
  name,
  kind,
  attributes,
  events,
  status,
  parentSpanContext,
}: ReadableSpan) => ({
  name,
  kind,
  attributes,
  status,
  events: events.map((event) => event.name),
  hasParent: parentSpanContext !== undefined,
});
