/** The onion: a list of layers becomes one caller. First is outermost. */

import { createPass, type Link, linkOf, slotOf } from './pass.ts';
import { stamp, withAudit } from './make-result.ts';
import { abortOf, ownCall, recreate } from './own-call.ts';
import { closeAudit, openAudit, scrub } from './audit.ts';
import { bottomLink } from './executor-guard.ts';
import type { ToolCall, CreateId } from '../contract/call.ts';
import type { Clock } from '../time/clock.ts';
import { AlliumError } from '../contract/errors.ts';
import {
  demandCalled,
  defineLayer,
  type Next,
  type ToolCaller,
  type ToolLayer,
  type Scrub,
} from '../contract/layer.ts';
import { layerLink } from './frame.ts';
import { isObject } from '../json/json.ts';
import { conditionsFor } from './conditions.ts';
import { nestedStack } from './nested-stack.ts';
import { checkOptions, expected } from '../contract/options.ts';
import { demandOrder } from '../contract/order.ts';
import type { ToolResult } from '../contract/result.ts';
import { type Stage, stageLink } from './stage.ts';
import { withResult } from './results.ts';
import type { ContentBlock } from '../contract/content.ts';

export interface ComposeOptions {
  readonly clock?: Clock;
  readonly createId?: CreateId;
}

/**
 * A composed stack: a caller that can be listed in another stack, which then takes its layers in.
 */
export interface ComposedCaller {
  (call: ToolCall, next: Next): Promise<ToolResult>;
  readonly layers: readonly ToolLayer[];
}

/** What a composed caller was made with: a stack that lists it takes its layers and options in. */
const COMPOSED: unique symbol = Symbol('allium.composed');
type Composed = ComposedCaller & { readonly [COMPOSED]: ComposeOptions };

const isComposed = (member: unknown): member is Composed =>
  typeof member === 'function' && COMPOSED in member;

/**
 * Builds one caller from layers and plain functions. It never rejects for what happens in a call,
 * except where a layer was told to raise; mistakes in the list throw here and now.
 */
export function composeToolCallers(
  members: readonly (ToolLayer | ToolCaller)[],
  options: ComposeOptions = {},
): ComposedCaller {
  const layers = layersIn(members);
  checkOptions('composeToolCallers', options, {
    clock: expected.object,
    createId: expected.function,
  });
  demandOrder(layers);
  const settings = members.reduce<ComposeOptions>(
    (all, member) => (isComposed(member) ? { ...member[COMPOSED], ...all } : all),
    options,
  );
  const run = runnerOf(layers);
  const composed = async (given: ToolCall, next: Next): Promise<ToolResult> => {
    const call = ownCall(given);
    if (slotOf(call).state.active) return nestedStack(call, next, layers, chainOf);
    return run(firstCallOf(call, settings), next);
  };
  const caller: Composed = Object.assign(composed, { layers, [COMPOSED]: settings });
  return caller;
}

/** Runs a call whose pass has not been used yet. */
export type RunStack = (call: ToolCall, next: Next) => Promise<ToolResult>;

/**
 * The one way a stack runs: for `composeToolCallers`, and for the dispatcher with its own stages.
 */
export function runnerOf(members: readonly (ToolLayer | Stage)[]): RunStack {
  const scrubs = members.flatMap((member) => ('scrub' in member ? (member.scrub ?? []) : []));
  const isRecorded = members.some((member) => 'caller' in member);
  const chainFor = rememberLast((next: Next) => chainOf(members, bottomLink(next)));
  return (call, next) => {
    const { state } = slotOf(call);
    state.active = true;
    state.scrubs = scrubs;
    state.abort = abortOf(call);
    state.annotations = call.annotations;
    if (isRecorded) state.audit = openAudit(call.annotations);
    return chainFor(next)(call, null).then((result) => outerEdge(result, call));
  };
}

/** A chain of links from the outermost member to the last one. */
const chainOf = (members: readonly (ToolLayer | Stage)[], last: Link): Link =>
  members.reduceRight<Link>(
    (inner, member) => ('caller' in member ? layerLink(member, inner) : stageLink(member, inner)),
    last,
  );

/** A chain is built once per executor; most stacks have one. */
function rememberLast(build: (next: Next) => Link): (next: Next) => Link {
  const chains = new WeakMap<Next, Link>();
  let last: Next | undefined;
  let chain: Link;
  return (next) => {
    if (next === last) return chain;
    chain = chains.get(next) ?? build(next);
    chains.set(next, chain);
    last = next;
    return chain;
  };
}

/** The call in a pass of its own: a host may hand in the same call twice, also at once. */
function firstCallOf(call: ToolCall, { clock, createId }: ComposeOptions): ToolCall {
  const { state, conditions } = slotOf(call);
  const pass = createPass(state);
  // What one run does with it is not for the next to find.
  if (state.consultation !== null) pass.consultation = { ...state.consultation };
  if (clock !== undefined) pass.clock = clock;
  if (createId !== undefined) pass.createId = createId;
  return recreate(call, { state: pass, frame: null, conditions: conditionsFor(conditions) });
}

/** Here, and only here, a raise leaves the onion. */
function outerEdge(last: ToolResult, call: ToolCall): ToolResult {
  const { state } = linkOf(last);
  const result = withAudit(cleanRefusal(last), state.audit);
  state.active = false;
  linkOf(result).call = call; // Whoever keeps a result must not keep all that it went through.
  closeAudit(state);
  if (state.raised === null) return told(result);
  const raised = stamp(cleanRefusal(state.raised), state.executed);
  const { status, error, toolName, toolCallId } = raised;
  const message = `${status}: ${error ?? 'refused'}`;
  throw new AlliumError(
    linkOf(raised).raise ?? 'ERR_CALL_REFUSED',
    message,
    { toolName, toolCallId, status },
    { result: told(result.ok ? raised : result) },
  );
}

function told(result: ToolResult): ToolResult {
  linkOf(result).state.ending?.settle(result);
  return result;
}

/**
 * The layers of a list in which composed stacks may stand, checked one by one but not for their
 * order.
 */
export function layersIn(members: readonly (ToolLayer | ToolCaller)[]): readonly ToolLayer[] {
  if (!Array.isArray(members))
    throw notALayer(`composeToolCallers takes a list of layers, got ${typeof members}`);
  // A hole in the list is not skipped: a layer was meant to stand there.
  return Object.freeze(
    Array.from(members).flatMap((member: unknown, index) => layersOf(member, index)),
  );
}

function layersOf(member: unknown, index: number): readonly ToolLayer[] {
  if (typeof member === 'function') {
    if (isComposed(member)) return member.layers;
    demandCalled(member, index);
    return [
      defineLayer({
        name: member.name === '' ? `caller ${index + 1}` : member.name,
        caller: member as ToolCaller,
      }),
    ];
  }
  if (isObject(member)) return [defineLayer(member as unknown as ToolLayer)];
  throw notALayer(
    `member ${index + 1} of the stack is neither a layer nor a function, got ${member === null ? 'null' : typeof member}`,
  );
}

const notALayer = (message: string): AlliumError => new AlliumError('ERR_INVALID_LAYER', message);

/**
 * What has run has passed every layer, the cleaning ones too. A call that was answered further out
 * has not, and its result repeats what the model sent: the stack's scrubs go over it here.
 * `interruption.shown` stays, because a person decides about exactly what they see.
 */
export function cleanRefusal(result: ToolResult): ToolResult {
  const { state, derived } = linkOf(result);
  const { scrubs } = state;
  if (scrubs.length === 0 || result.executed !== 'no') return result;
  const { content, metadata } = result;
  return withResult(result, {
    arguments: scrub(result.arguments, scrubs),
    result: scrub(result.result, scrubs),
    ...(derived ? {} : { content: content.map((block) => cleanBlock(block, scrubs)) }),
    error: scrub(result.error, scrubs),
    renderedResult: scrub(result.renderedResult, scrubs),
    ...(metadata === undefined ? {} : { metadata: scrub(metadata, scrubs) }),
  });
}

/** A cleaner may empty the members of a block; what kind of block it is stays. */
const cleanBlock = (block: ContentBlock, scrubs: readonly Scrub[]): ContentBlock =>
  Object.fromEntries(
    Object.entries(block).map(([name, value]: [string, unknown]) => [
      name,
      name === 'type' ? value : scrub(value, scrubs),
    ]),
  ) as unknown as ContentBlock; // The members keep their names, so the shape is the same.
