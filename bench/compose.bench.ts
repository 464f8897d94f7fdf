/**
 * What the onion costs: stacks of layers that do nothing, built by hand, by allium and by others.
 * The baseline is the least code that leaves the same audit entries behind.
 *
 * Cases of one depth run against each other in a process of their own, with a single allium stack
 * in it: the hand-written stacks are literals of their own, while a library's code is shared by all
 * its stacks, and a dozen of them in one process would slow each other down by a fifth. Layers that
 * hand the promise on and layers that await are therefore separate groups.
 *
 * Before anything is measured every contestant proves that it enters its layers, each once and in
 * order, and the audited ones that they write equal entries.
 */

import { strict as assert } from 'node:assert';
import type { ToolCall } from 'allium';
import { makeCall } from 'allium/conformance';
import { reportFromChild } from './child.ts';
import {
  allium,
  alliumAwaiting,
  type Contestant,
  handAudited,
  handAwaiting,
  handPlain,
} from './contestants.ts';
import { type Case, loopOver, measure } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { koa, loadHono, loadLangChain } from './peers.ts';
import { type Goal, joinReports, ratioGoal, renderRows, type Report, rowsOf } from './report.ts';

const DEPTHS = [0, 1, 4, 8, 16, 32];
const GOAL_DEPTHS = [8, 32];
const MAX_TO_HAND = 1.4;
const MAX_TO_LANGCHAIN = 0.4;

interface Entrant {
  readonly group: string;
  readonly name: string;
  readonly depth: number;
  readonly contestant: Contestant;
}

export async function composeBench(options: BenchOptions): Promise<Report> {
  const langChain = await loadLangChain();
  const handingOn = [handPlain, handAudited, allium, koa, await loadHono(), langChain];
  const awaiting = [handAwaiting, alliumAwaiting];
  const entrants = DEPTHS.flatMap((depth) => [
    ...handingOn.map((contestant) => entrantOf(contestant, depth, groupOf(depth))),
    // Without a layer nobody awaits.
    ...(depth === 0
      ? []
      : awaiting.map((contestant) => entrantOf(contestant, depth, `${groupOf(depth)}, async`))),
  ]).filter(options.matches);
  const groups = [...new Set(entrants.map(({ group }) => group))];
  if (groups.length <= 1) return measureHere(entrants, langChain.name, options);
  const parts: Report[] = [];
  for (const group of groups)
    parts.push(await reportFromChild(['compose', '--group', group, ...options.asArguments]));
  return joinReports('compose', parts);
}

const groupOf = (depth: number): string => `${depth} ${depth === 1 ? 'layer' : 'layers'}`;

const entrantOf = (contestant: Contestant, depth: number, group: string): Entrant => ({
  group,
  name: contestant.name,
  depth,
  contestant,
});

async function measureHere(
  entrants: readonly Entrant[],
  langChain: string,
  options: BenchOptions,
): Promise<Report> {
  for (const entrant of entrants) await prove(entrant);
  const measured = await measure(entrants.map(caseOf), options);
  const rows = rowsOf(measured, handAudited.name);
  const goals = GOAL_DEPTHS.flatMap((depth): Goal[] => [
    ratioGoal(measured, groupOf(depth), allium.name, handAudited.name, MAX_TO_HAND),
    ratioGoal(measured, groupOf(depth), allium.name, langChain, MAX_TO_LANGCHAIN),
  ]);
  return { bench: 'compose', text: renderRows(rows, handAudited.name), data: rows, goals };
}

/** Sixteen calls in turn, so that no contestant can live on one. */
const makeCalls = (): ToolCall[] =>
  Array.from({ length: 16 }, (_, i) =>
    makeCall({ callId: `call-${i}`, toolArgs: { city: 'Ghent', day: i } }),
  );

const caseOf = ({ group, name, depth, contestant }: Entrant): Case => ({
  group,
  name,
  run: loopOver(contestant.build(depth), makeCalls()),
});

/**
 * Throws unless the contestant enters every layer once, first is outermost, and answers for the
 * call it was given.
 */
async function prove({ group, name, depth, contestant }: Entrant): Promise<void> {
  const entered: number[] = [];
  const call = makeCall({ callId: 'call-7', toolArgs: { city: 'Ghent', day: 7 } });
  const who = `${name}, ${group}`;
  const everyLayer = Array.from({ length: depth }, (_, layer) => layer);

  await contestant.build(depth, (layer) => entered.push(layer))(call);
  assert.deepEqual(
    entered,
    everyLayer,
    `${who}: did not enter its layers once each, outermost first`,
  );

  const answer: unknown = await contestant.build(depth)(call);
  assert.match(
    JSON.stringify(answer),
    /call-7.*Ghent|Ghent.*call-7/,
    `${who}: answered something else`,
  );
  if (contestant.audited) proveEntries(who, answer, everyLayer);
}

interface AuditedAnswer {
  readonly status: string;
  readonly executed: string;
  readonly audit?: {
    readonly layers: readonly { readonly startedAt: string; readonly endedAt: string }[];
  };
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * The same entries for everybody: name and status of every layer, innermost first, and two ISO
 * times.
 */
function proveEntries(who: string, answer: unknown, everyLayer: readonly number[]): void {
  const { status, executed, audit } = answer as AuditedAnswer; // Anything else fails on the next line.
  assert.deepEqual(
    { status, executed },
    { status: 'ok', executed: 'yes' },
    `${who}: answered with another status`,
  );
  // Without layers there is nobody to write a record.
  const layers = audit?.layers ?? [];
  const expected = everyLayer
    .toReversed()
    .map((layer) => ({ name: `layer ${layer + 1}`, status: 'ok' }));
  const withoutTimes = layers.map(({ startedAt, endedAt, ...rest }) => {
    assert.match(startedAt, ISO, who);
    assert.match(endedAt, ISO, who);
    return rest;
  });
  assert.deepEqual(withoutTimes, expected, `${who}: wrote other entries`);
}
