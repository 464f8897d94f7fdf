/**
 * Stacks of layers that do nothing, built by hand and by allium. The tool is the same everywhere:
 * it answers with its arguments as an allium result, so that what differs is the stack and nothing
 * else.
 */

import {
  composeToolCallers,
  type Next,
  ok,
  type ToolCall,
  type ToolCaller,
  type ToolResult,
} from 'allium';
import { distinct } from './harness.ts';

/** Told which layer was entered; only stacks built for the proof have it. */
export type Trace = (layer: number) => void;

export interface Contestant {
  readonly name: string;
  /** Its results carry one audit entry per layer. */
  readonly audited: boolean;
  /** A stack of so many layers, first is outermost, around the tool. */
  readonly build: (depth: number, trace?: Trace) => (call: ToolCall) => unknown;
}

/** A literal of its own for every stack. */
export const makeTool = (): Next => distinct('async (call) => ok(call, call.toolArgs)', { ok });

/** The statement that tells the trace, or nothing: a measured stack holds no trace of it. */
export const markOf = (layer: number, trace: Trace | undefined): string =>
  trace === undefined ? '' : `trace(${layer}); `;

/** One of something per layer, outermost first. */
export const perLayer = <T>(depth: number, make: (layer: number) => T): T[] =>
  Array.from({ length: depth }, (_, layer) => make(layer));

/** Nested from the inside out, so that layer 0 comes to lie outermost. */
const nest = <T>(depth: number, bottom: T, wrap: (inner: T, layer: number) => T): T =>
  perLayer(depth, (layer) => layer).reduceRight(wrap, bottom);

const nameOf = (layer: number): string => `layer ${layer + 1}`;

/** Nothing but function calls: what the machine asks for if nobody wants to know anything. */
export const handPlain: Contestant = {
  name: 'closures',
  audited: false,
  build: (depth, trace) =>
    nest<Next>(depth, makeTool(), (inner, layer) =>
      distinct(`(call) => { ${markOf(layer, trace)}return inner(call); }`, { inner, trace }),
    ),
};

interface Entry {
  readonly name: string;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string;
}

type AuditedNext = (call: ToolCall, entries: Entry[]) => Promise<ToolResult>;

/**
 * The audit-writing closure is the layer itself: the least code that leaves the same entries
 * behind.
 */
export const handAudited: Contestant = {
  name: 'closures+audit',
  audited: true,
  build: (depth, trace) =>
    attaching(
      nest<AuditedNext>(depth, makeTool(), (inner, layer) =>
        audited(inner, layer, markOf(layer, trace), trace),
      ),
    ),
};

/**
 * The layer is a function of its own that awaits, and the audit-writing closure stands beside it.
 */
export const handAwaiting: Contestant = {
  name: 'closures+audit',
  audited: true,
  build: (depth, trace) =>
    attaching(
      nest<AuditedNext>(depth, makeTool(), (inner, layer) => awaiting(inner, layer, trace)),
    ),
};

function awaiting(inner: AuditedNext, layer: number, trace: Trace | undefined): AuditedNext {
  const source = `async (call, entries) => { ${markOf(layer, trace)}const result = await inner(call, entries); return result; }`;
  return audited(distinct(source, { inner, trace }), layer, '', undefined);
}

function audited(
  inner: AuditedNext,
  layer: number,
  mark: string,
  trace: Trace | undefined,
): AuditedNext {
  const source = `async (call, entries) => {
    ${mark}const startedAt = Date.now();
    const result = await inner(call, entries);
    entries.push({ name, status: result.status, startedAt: isoTime(startedAt), endedAt: isoTime(Date.now()) });
    return result;
  }`;
  return distinct(source, { inner, name: nameOf(layer), isoTime, trace });
}

const newest = { ms: Number.NaN, iso: '' };
const older = { ms: Number.NaN, iso: '' };

/**
 * Formatting costs more than ten clock reads, and the entries of one call share a few milliseconds.
 */
function isoTime(ms: number): string {
  if (ms === newest.ms) return newest.iso;
  if (ms === older.ms) return older.iso;
  older.ms = newest.ms;
  older.iso = newest.iso;
  newest.ms = ms;
  newest.iso = new Date(ms).toISOString();
  return newest.iso;
}

/**
 * Hands out the same answer as allium: with the entries, with how long it took and that it ran,
 * frozen.
 */
function attaching(chain: AuditedNext): (call: ToolCall) => Promise<unknown> {
  // Field by field: a spread of a frozen result costs as much as two layers and would flatter
  // whoever is compared with it.
  const source = `async (call) => {
    const layers = [];
    const startedAt = performance.now();
    const result = await chain(call, layers);
    return Object.freeze({
      ok: result.ok, status: result.status, toolName: result.toolName, toolCallId: result.toolCallId,
      arguments: result.arguments, result: result.result, content: result.content,
      renderedResult: result.renderedResult, observation: result.observation,
      error: result.error, errorCategory: result.errorCategory, errorClass: result.errorClass,
      executor: result.executor, executed: 'yes', approval: result.approval, outputFiles: result.outputFiles,
      executionDurationMs: performance.now() - startedAt,
      audit: Object.freeze({ layers: Object.freeze(layers) }),
    });
  }`;
  return distinct(source, { chain });
}

/** Layers that hand the promise on. */
export const allium: Contestant = {
  name: 'allium',
  audited: true,
  build: (depth, trace) =>
    composed(depth, trace, (mark) => `(call, next) => { ${mark}return next(call); }`),
};

/** Layers that wait for the result, as most real ones do. */
export const alliumAwaiting: Contestant = {
  name: 'allium',
  audited: true,
  build: (depth, trace) =>
    composed(
      depth,
      trace,
      (mark) => `async (call, next) => { ${mark}const result = await next(call); return result; }`,
    ),
};

function composed(
  depth: number,
  trace: Trace | undefined,
  sourceOf: (mark: string) => string,
): (call: ToolCall) => unknown {
  const layers = perLayer(depth, (layer) => ({
    name: nameOf(layer),
    caller: distinct<ToolCaller>(sourceOf(markOf(layer, trace)), { trace }),
  }));
  return distinct('(call) => caller(call, tool)', {
    caller: composeToolCallers(layers),
    tool: makeTool(),
  });
}
