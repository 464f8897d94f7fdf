/** A layer: one member of the stack, seen from both seams. */

import type { JsonObject } from '../json/json-value.ts';
import type { EntryPatch } from './audit-record.ts';
import type { ToolAnnotations } from './annotations.ts';
import type { CallFields, JsonSchema, ToolCall } from './call.ts';
import { AlliumError, oneLine } from './errors.ts';
import { isObject } from '../json/json.ts';
import type { ToolResult } from './result.ts';

export type Next = (call: ToolCall) => Promise<ToolResult>;
export type ToolCaller = (call: ToolCall, next: Next) => ToolResult | Promise<ToolResult>;

/** Cleans a text: what it answers is shown in its place. */
export type Scrub = (text: string) => string;

/** What the model is shown of a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: ToolAnnotations;
}

/** A tool as its author defined it: what the model is shown, and `metadata`, which it is not. */
export interface DefinedTool extends ToolSpec {
  readonly metadata?: JsonObject;
}

/** The tool behind a name, as one call sees it. */
export interface CallTool {
  /** The tool as it was defined, before any layer. */
  readonly definition: DefinedTool;
  /** What a call of this tool says about it. */
  readonly described: Pick<
    CallFields,
    'annotations' | 'description' | 'schema' | 'declaredExecutor'
  >;
  /**
   * Stands for the whole definition, with what a call does not carry. Throws `ERR_NOT_JSON` where
   * it has no canonical form.
   */
  readonly hash: () => string;
}

/**
 * The tool of this name, or `null` where there is none. A call gets the same answer for as long as
 * it is under way, also when the host replaces its tools meanwhile: what is judged, shown to a
 * person and entered is one tool.
 */
export type ToolOf = (call: ToolCall, toolName: string) => CallTool | null;

export type SchemaTransform = (tool: ToolSpec) => ToolSpec | null;

/** `must` throws when composed; `should` is advice. */
export type OrderRule = { readonly level: 'must' | 'should'; readonly because: string } & (
  | { readonly outsideOf: string; readonly insideOf?: never }
  | { readonly insideOf: string; readonly outsideOf?: never }
);

const rules = (level: OrderRule['level']) =>
  Object.freeze({
    insideOf: (layer: string, because: string): OrderRule => ({ insideOf: layer, level, because }),
    outsideOf: (layer: string, because: string): OrderRule => ({
      outsideOf: layer,
      level,
      because,
    }),
  });

/** Rules for where the wrong order does harm. */
export const must = rules('must');

/** Rules for where the wrong order surprises. */
export const should = rules('should');

/**
 * What a layer that acts has to say about a call that ran elsewhere, before it could be asked:
 * details for its line, such as `wouldHaveBeen`, or `null` where it has nothing to do with the
 * call. It may count the call; it cannot refuse it any more.
 */
export type TooLate = (call: ToolCall) => EntryPatch | null | Promise<EntryPatch | null>;

export interface ToolLayer {
  readonly name: string;
  readonly caller: ToolCaller;
  /** Changes or hides (`null`) what the model is shown. Must not rename. */
  readonly schemaTransform?: SchemaTransform;
  /**
   * Sees everything, changes nothing. A leading run of these also sees unknown tools and malformed
   * calls.
   */
  readonly observes?: boolean;
  /** Changes arguments on the way down. */
  readonly rewrites?: boolean;
  /** Cleans every audit string before a sink sees it. */
  readonly scrub?: Scrub;
  /**
   * Asked in place of `caller` about a call that ran elsewhere. Without it the record says just
   * that the layer came too late.
   */
  readonly tooLate?: TooLate;
  readonly order?: readonly OrderRule[];
  readonly close?: () => Promise<void>;
}

const KEYS: Readonly<Record<keyof ToolLayer, string>> = {
  name: 'string',
  caller: 'function',
  schemaTransform: 'function',
  observes: 'boolean',
  rewrites: 'boolean',
  scrub: 'function',
  tooLate: 'function',
  order: 'object',
  close: 'function',
};

/** Checks a layer and freezes it. */
export function defineLayer(layer: ToolLayer): ToolLayer {
  if (!isObject(layer)) throw invalid('?', 'a layer must be an object with a name and a caller');
  const name = typeof layer.name === 'string' && layer.name !== '' ? layer.name : '?';
  for (const [key, value] of Object.entries(layer)) {
    if (!Object.hasOwn(KEYS, key))
      throw invalid(name, `a layer has no "${key}"; it has ${Object.keys(KEYS).join(', ')}`);
    const expected = KEYS[key as keyof ToolLayer];
    if (value !== undefined && typeof value !== expected)
      throw invalid(name, `"${key}" must be a ${expected}, got ${typeof value}`);
  }
  if (name === '?' || typeof layer.caller !== 'function')
    throw invalid(name, 'a layer needs a name and a caller');
  if (layer.order === undefined) return Object.freeze({ ...layer });
  if (!Array.isArray(layer.order)) throw invalid(name, '"order" must be a list of rules');
  const order = layer.order.map((rule: OrderRule) => checkedRule(name, rule));
  return Object.freeze({ ...layer, order: Object.freeze(order) });
}

function checkedRule(name: string, rule: OrderRule): OrderRule {
  if (!isObject(rule)) throw invalid(name, 'an order rule must be an object');
  const sides = [rule.outsideOf, rule.insideOf].filter(
    (side) => typeof side === 'string' && side !== '',
  );
  if (
    sides.length === 1 &&
    ['must', 'should'].includes(rule.level) &&
    typeof rule.because === 'string' &&
    rule.because !== ''
  ) {
    return Object.freeze({ ...rule });
  }
  throw invalid(
    name,
    'an order rule is { outsideOf | insideOf: name, level: "must" | "should", because: text }',
  );
}

const invalid = (layer: string, message: string): AlliumError =>
  new AlliumError('ERR_INVALID_LAYER', `layer "${layer}": ${message}`, { layer });

/** Hands every call on as it is. */
export const passThrough: ToolLayer = defineLayer({
  name: 'passThrough',
  caller: (call, next) => next(call),
});

/** What a predicate may look at: the tool, never the arguments, so that both seams decide alike. */
export interface ToolView {
  readonly toolName: string;
  readonly annotations: ToolAnnotations;
  readonly schema: JsonSchema | null;
  readonly description: string;
}

/**
 * Applies a layer only to some tools, at both seams. Does not look at arguments or the turn: a
 * layer that was shown to the model must also run. Its `scrub` and its order rules hold for the
 * whole stack.
 */
export function when(predicate: (tool: ToolView) => boolean, layer: ToolLayer): ToolLayer {
  if (typeof predicate !== 'function')
    throw invalid('when', `"predicate" must be a function, got ${typeof predicate}`);
  const inner = defineLayer(layer);
  const { schemaTransform, tooLate = () => ({}) } = inner;
  return defineLayer({
    ...inner,
    tooLate: (call) => (predicate(viewOf(call)) ? tooLate(call) : null),
    caller: (call, next) => (predicate(viewOf(call)) ? inner.caller(call, next) : next(call)),
    ...(schemaTransform === undefined
      ? {}
      : {
          schemaTransform: (tool) => (predicate(viewOfSpec(tool)) ? schemaTransform(tool) : tool),
        }),
  });
}

const viewOf = ({ toolName, annotations, schema, description }: ToolCall): ToolView =>
  Object.freeze({ toolName, annotations, schema, description });

const viewOfSpec = ({ name, annotations, inputSchema, description }: ToolSpec): ToolView =>
  Object.freeze({ toolName: name, annotations, schema: inputSchema, description });

/**
 * Refuses `layers: [timeout]` for `layers: [timeout({ … })]`, which would fail at every call and
 * say nothing of why: a function declaration without a parameter for `next`. An arrow function of
 * that form may be a caller that refuses every call.
 */
export function demandCalled(
  member: { readonly name: string; readonly length: number },
  index: number,
): void {
  if (member.length >= 2 || !Object.hasOwn(member, 'prototype')) return;
  const name = oneLine(member.name);
  const message = `member ${index + 1} of the stack is the function "${name}", which does not take (call, next): call it, ${name}(…), and put the layer that it makes into the stack`;
  throw new AlliumError('ERR_INVALID_LAYER', message);
}

/** Whether a tool name is meant by one of the patterns. An empty list means none. */
export function matchesTool(patterns: readonly string[], toolName: string): boolean {
  return patterns.some(
    (pattern) =>
      pattern === toolName ||
      pattern === '*' ||
      (pattern.includes('*') && matchesGlob(pattern, toolName)),
  );
}

/**
 * Finds the parts between the stars one after another, each as early as possible, and the last one
 * at the end. No regular expression: `*a*a*a*` as one backtracks for hours on a name that a model
 * or a foreign server made up.
 */
function matchesGlob(pattern: string, name: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop() ?? '';
  if (!name.startsWith(head)) return false;
  let from = head.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return name.length - tail.length >= from && name.endsWith(tail);
}
