/** Refuses schemas whose references multiply the work, or never come to an end. */

import type { SchemaGraph, SchemaNode } from './schema-graph.ts';
import { unsupported } from './unsupported.ts';

/** Most subschemas a schema may come to when every reference is written out. */
const MAX_COST = 20_000;
/** Deepest nesting with references written out, so that neither this file nor ajv runs out of stack. */
const MAX_HEIGHT = 256;

interface Cost {
  readonly total: number;
  readonly height: number;
}

/**
 * Refuses doubling references and references that lead back to the same value. Recursion into members and items is
 * allowed and counted once; what it costs depends on the value and is metered when values are checked.
 */
export function checkCost({ root, nodes }: SchemaGraph, where: string): void {
  checkLoops(nodes.values(), where);
  measure(root, 1, { where, known: new Map(), open: new Set() });
}

interface Measuring {
  readonly where: string;
  readonly known: Map<SchemaNode, Cost>;
  readonly open: Set<SchemaNode>;
}

const ONCE: Cost = { total: 1, height: 1 };

function measure(node: SchemaNode, depth: number, measuring: Measuring): Cost {
  const { where, known, open } = measuring;
  if (open.has(node)) return ONCE;
  const cost = known.get(node) ?? measureParts(node, depth, measuring);
  if (cost.total > MAX_COST)
    throw unsupported(
      where,
      node.place,
      `comes to more than ${MAX_COST} subschemas with its references written out`,
    );
  if (depth + cost.height > MAX_HEIGHT)
    throw unsupported(
      where,
      node.place,
      `nests deeper than ${MAX_HEIGHT} with its references written out`,
    );
  known.set(node, cost);
  return cost;
}

function measureParts(node: SchemaNode, depth: number, measuring: Measuring): Cost {
  if (depth > MAX_HEIGHT) return { total: 1, height: MAX_HEIGHT };
  let total = 1;
  let height = 0;
  measuring.open.add(node);
  for (const child of [...node.sameValue, ...node.parts]) {
    const cost = measure(child, depth + 1, measuring);
    total += cost.total;
    height = Math.max(height, cost.height);
  }
  measuring.open.delete(node);
  return { total, height: height + 1 };
}

/** A schema that applies itself to the same value again would never end. Peels off what ends; what stays is a loop. */
function checkLoops(nodes: Iterable<SchemaNode>, where: string): void {
  const waiting = new Map<SchemaNode, number>();
  for (const node of nodes) waiting.set(node, 0);
  for (const node of waiting.keys())
    for (const next of node.sameValue) waiting.set(next, (waiting.get(next) ?? 0) + 1);
  const free = [...waiting.keys()].filter((node) => waiting.get(node) === 0);
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    waiting.delete(node);
    for (const next of node.sameValue) {
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left === 0) free.push(next);
    }
  }
  const [loop] = waiting.keys();
  if (loop !== undefined)
    throw unsupported(where, loop.place, 'refers to itself without going into a member or an item');
}
