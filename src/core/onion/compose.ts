/** The onion: a list of layers becomes one caller. First is outermost. */

import { createPass, linkOf, slotOf } from './pass.ts';
import { stamp, withAudit } from './make-result.ts';
import { abortOf, createCall, ownCall } from './own-call.ts';
import { closeAudit, openAudit } from './audit.ts';
import { chainOf } from './executor-guard.ts';
import { type ToolCall } from '../contract/call.ts';
import { cleanRefusal } from './clean-refusal.ts';
import type { Clock } from '../time/clock.ts';
import { AlliumError } from '../contract/errors.ts';
import { demandCalled } from '../contract/uncalled-factory.ts';
import type { Link } from './frame.ts';
import type { CreateId } from '../contract/ids.ts';
import { innerPass } from './inner-pass.ts';
import { isObject } from '../json/json.ts';
import {
  defineLayer,
  isStage,
  type Next,
  type Scrub,
  type ToolCaller,
  type ToolLayer,
} from '../contract/layer.ts';
import { termsFor } from './nested-conditions.ts';
import { checkOptions, expected } from '../contract/options.ts';
import { demandOrder } from '../contract/order.ts';
import type { ToolResult } from '../contract/result.ts';

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
  const scrubs = layers.flatMap((layer) => layer.scrub ?? []);
  const recorded = layers.some((layer) => !isStage(layer));
  const chainFor = rememberLast((next: Next) => chainOf(layers, next));

  const composed = async (call: ToolCall, next: Next): Promise<ToolResult> => {
    const own = ownCall(call);
    const pass = enter(own, settings, recorded, scrubs);
    if (!slotOf(own).state.active) return outerEdge(await chainFor(next)(pass, null), pass);
    return innerPass(own, pass, next, (inner, bottom) => chainOf(layers, bottom)(inner, null));
  };
  const caller: Composed = Object.assign(composed, { layers, [COMPOSED]: settings });
  return caller;
}

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

/**
 * Every pass through a stack has a state of its own, also when a host hands in the same call twice
 * at once.
 */
function enter(
  call: ToolCall,
  settings: ComposeOptions,
  recorded: boolean,
  scrubs: readonly Scrub[],
): ToolCall {
  const seed = slotOf(call).state;
  const state = createPass(seed);
  if (settings.clock !== undefined) state.clock = settings.clock;
  if (settings.createId !== undefined) state.createId = settings.createId;
  state.active = true;
  state.scrubs = scrubs;
  state.abort = abortOf(call);
  state.annotations = call.annotations;
  if (recorded) state.audit = openAudit(call.annotations);
  return createCall(call, state, null, termsFor(slotOf(call).terms));
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
