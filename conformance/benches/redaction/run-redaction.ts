/**
 * What `npm run fuzz -- --secrets` does: measures the redaction layer as it is used, and prints
 * what it missed, what it altered and what it cost.
 */

import { ok } from '../../../src/core/onion/results.ts';
import { redaction } from '../../../middleware/redaction/redaction.ts';
import { composeToolCallers } from '../../../src/core/onion/compose.ts';
import { makeCall } from '../../test-kit.ts';
import { type Cost, licenceProse, measureCosts } from './measure-cost.ts';
import {
  type Alteration,
  type Clean,
  type KindFinding,
  measureDocuments,
  measureKinds,
} from './measure-redaction.ts';
import { collectDocuments } from './ordinary-documents.ts';

/** What the layer makes of the text that a tool answers with. */
export function throughRedaction(layer = redaction()): Clean {
  const stack = composeToolCallers([layer]);
  return async (text) => {
    const { result, status } = await stack(makeCall({ toolName: 'read' }), async (entered) =>
      ok(entered, text),
    );
    if (typeof result !== 'string')
      throw new TypeError(`the layer answered ${status} without a text`);
    return result;
  };
}

/** At least so many of a hundred kinds are found. */
export const FEWEST_FOUND = 95;
/** At most so many of a hundred ordinary documents are altered. */
export const MOST_ALTERED = 0.5;
/** A text made to be slow costs at most so many times what prose of its length does. */
export const MOST_COST = 3;

export interface RedactionRun {
  readonly seed: number;
  /** The folder of this project. */
  readonly root: string;
  readonly print: (line: string) => void;
}

/** Runs all measures. True when they are within the limits. */
export async function runRedaction({ seed, root, print }: RedactionRun): Promise<boolean> {
  const clean = throughRedaction();
  const kinds = await measureKinds(clean, { seed });
  const missed = kinds.filter(({ found }) => !found);
  printMissed(missed, print);
  const collection = collectDocuments(root);
  const altered = await measureDocuments(clean, collection.documents);
  printAltered(altered, print);
  print(`documents by kind: ${JSON.stringify(collection.kinds)}`);
  const found = kinds.length - missed.length;
  print(
    `kinds found: ${found} of ${kinds.length} (${percent(found, kinds.length)} %, at least ${FEWEST_FOUND} %)`,
  );
  print(
    `documents altered: ${altered.length} of ${collection.documents.length} (${percent(altered.length, collection.documents.length)} %, at most ${MOST_ALTERED} %)`,
  );
  const costs = await measureCosts(clean, { seed, prose: licenceProse(root) });
  printCosts(costs, print);
  const isSlow = costs.some(({ ratio }) => ratio > MOST_COST);
  return (
    !isSlow &&
    found * 100 >= kinds.length * FEWEST_FOUND &&
    altered.length * 100 <= collection.documents.length * MOST_ALTERED
  );
}

const percent = (part: number, all: number) => ((part * 100) / all).toFixed(2);

function printMissed(missed: readonly KindFinding[], print: (line: string) => void): void {
  const carriers = new Map<string, number>();
  for (const { id, source, survivors } of missed) {
    print(`missed: ${id} (${source})`);
    for (const { carrier, cleaned } of survivors.slice(0, 2))
      print(`    ${carrier}: ${JSON.stringify(cleaned).slice(0, 200)}`);
    for (const { carrier } of survivors) carriers.set(carrier, (carriers.get(carrier) ?? 0) + 1);
  }
  const sorted = [...carriers].sort((a, b) => b[1] - a[1]);
  print(
    `samples that kept their secret, by carrier: ${sorted.map(([carrier, count]) => `${carrier} ${count}`).join(', ')}`,
  );
}

function printAltered(altered: readonly Alteration[], print: (line: string) => void): void {
  for (const { name, before, after } of altered)
    print(`altered: ${name}\n    - ${before}\n    + ${after}`);
}

function printCosts(costs: readonly Cost[], print: (line: string) => void): void {
  const times = (ratio: number | undefined) => (ratio ?? 0).toFixed(2);
  for (const { name, ratio } of costs.slice(0, 10))
    print(`cost: ${times(ratio)} times prose: ${name}`);
  const above = costs.filter(({ ratio }) => ratio > MOST_COST).length;
  print(
    `texts made to be slow: ${costs.length}, in the middle ${times(costs[costs.length >> 1]?.ratio)} times prose, above ${MOST_COST}: ${above}`,
  );
}
