/**
 * What the onion costs: stacks of layers that do nothing, built by hand, by allium and by others.
 *
 * The baseline is the least code that leaves the same audit entries behind. Before anything is measured every contestant
 * proves that it enters its layers, each once and in order, and the audited ones that they write equal entries.
 */

import { strict as assert } from 'node:assert';
import type { ToolCall } from 'allium';
import { makeCall } from 'allium/conformance';
import { allium, alliumAwaiting, type Contestant, handAudited, handAwaiting, handPlain } from './contestants.ts';
import { type Case, loopOver, measure } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { koa, loadHono, loadLangChain } from './peers.ts';
import { type Goal, ratioGoal, renderRows, type Report, rowsOf } from './report.ts';

const DEPTHS = [0, 1, 4, 8, 16, 32];
const GOAL_DEPTHS = [8, 32];
const MAX_TO_HAND = 1.4;
const MAX_TO_LANGCHAIN = 0.4;

export async function composeBench(options: BenchOptions): Promise<Report> {
  const langChain = await loadLangChain();
  const contestants = [handPlain, handAudited, allium, handAwaiting, alliumAwaiting, koa, await loadHono(), langChain];
  for (const depth of DEPTHS) for (const contestant of contestants) await prove(contestant, depth);
  const cases = DEPTHS.flatMap((depth) => contestants.map((contestant) => caseOf(contestant, depth))).filter(options.matches);
  const measured = await measure(cases, options);
  const rows = rowsOf(measured, handAudited.name);
  const goals = GOAL_DEPTHS.flatMap((depth): Goal[] => [
    ratioGoal(measured, groupOf(depth), allium.name, handAudited.name, MAX_TO_HAND),
    ratioGoal(measured, groupOf(depth), allium.name, langChain.name, MAX_TO_LANGCHAIN),
  ]);
  return { bench: 'compose', text: renderRows(rows, handAudited.name), data: rows, goals };
}

const groupOf = (depth: number): string => `${depth} ${depth === 1 ? 'layer' : 'layers'}`;

/** Sixteen calls in turn, so that no contestant can live on one. */
const makeCalls = (): ToolCall[] =>
  Array.from({ length: 16 }, (_, i) => makeCall({ callId: `call-${i}`, toolArgs: { city: 'Ghent', day: i } }));

const caseOf = (contestant: Contestant, depth: number): Case => ({
  name: contestant.name,
  group: groupOf(depth),
  run: loopOver(contestant.build(depth), makeCalls()),
});

/** Throws unless the contestant enters every layer once, first is outermost, and answers for the call it was given. */
async function prove(contestant: Contestant, depth: number): Promise<void> {
  const entered: number[] = [];
  const call = makeCall({ callId: 'call-7', toolArgs: { city: 'Ghent', day: 7 } });
  const who = `${contestant.name}, ${groupOf(depth)}`;
  const everyLayer = Array.from({ length: depth }, (_, layer) => layer);

  await contestant.build(depth, (layer) => entered.push(layer))(call);
  assert.deepEqual(entered, everyLayer, `${who}: did not enter its layers once each, outermost first`);

  const answer: unknown = await contestant.build(depth)(call);
  assert.match(JSON.stringify(answer), /call-7.*Ghent|Ghent.*call-7/, `${who}: answered something else`);
  if (contestant.audited) proveEntries(who, answer, everyLayer);
}

interface AuditedAnswer {
  readonly status: string;
  readonly executed: string;
  readonly audit?: { readonly layers: readonly { readonly startedAt: string; readonly endedAt: string }[] };
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The same entries for everybody: name and status of every layer, innermost first, and two ISO times. */
function proveEntries(who: string, answer: unknown, everyLayer: readonly number[]): void {
  const { status, executed, audit } = answer as AuditedAnswer; // Anything else fails on the next line.
  assert.deepEqual({ status, executed }, { status: 'ok', executed: 'yes' }, `${who}: answered with another status`);
  // Without layers there is nobody to write a record.
  const layers = audit?.layers ?? [];
  const expected = everyLayer.toReversed().map((layer) => ({ name: `layer ${layer + 1}`, status: 'ok' }));
  const withoutTimes = layers.map(({ startedAt, endedAt, ...rest }) => {
    assert.match(startedAt, ISO, who);
    assert.match(endedAt, ISO, who);
    return rest;
  });
  assert.deepEqual(withoutTimes, expected, `${who}: wrote other entries`);
}
