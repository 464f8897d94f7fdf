/** A stack around a call that ran elsewhere: every layer is told, and none of them can undo it. */

import { linkOf, slotOf } from './pass.ts';
import { annotate, fail } from './results.ts';
import { stateOf, withCall } from './own-call.ts';
import { isResultOf } from './make-result.ts';
import type { EntryPatch } from '../contract/audit-record.ts';
import { type ToolCall } from '../contract/call.ts';
import { describeThrown } from '../contract/errors.ts';
import { isObject, snapshotObject } from '../json/json.ts';
import {
  defineLayer,
  type Next,
  type TooLate,
  type ToolCaller,
  type ToolLayer,
} from '../contract/layer.ts';
import { type Stage, writeStageLine } from './stage.ts';
import { type ToolResult } from '../contract/result.ts';
import { statusRow } from '../contract/status.ts';

/**
 * Whether the call ran elsewhere and is only written down. For layers that observe and would
 * otherwise hold a call back: nothing they do can, and what they leave out is missing from the
 * record.
 */
export const isObserved = (call: ToolCall): boolean => stateOf(call).ranElsewhere;

/**
 * The layer as it stands around a call that is over. One that observes or cleans does its work; any
 * other one is not run, and its line says that it came too late. Whatever a layer does, the layers
 * inside it hear of the call exactly once.
 */
export function observedLayer(layer: ToolLayer): ToolLayer {
  const caller =
    layer.scrub !== undefined
      ? cleaning(layer)
      : layer.observes === true
        ? watching(layer)
        : acting(layer);
  return defineLayer({ ...layer, caller });
}

/**
 * A stage as it stands around a call that is over: it stops nothing, and says what it has to say.
 */
export const observedStage = (stage: Stage): Stage => ({
  name: stage.name,
  async leave(call, result) {
    const said = stage.tooLate === undefined ? null : await saidBy(stage.tooLate, call);
    const now = stateOf(call).clock.now();
    if (said !== null) writeStageLine(stage.name, call, { ...said, status: 'too_late' }, now);
    return result;
  },
});

/**
 * The bottom of such a stack. Once a layer that cleans has withheld the call, its output is
 * not handed to layers further in.
 */
export const observedBottom =
  (report: Next): Next =>
  async (call) =>
    stateOf(call).withheld ? fail(call, 'redacted', null, WITHHELD) : report(call);

const WITHHELD =
  'The tool had run before anybody could look at the call; what went in and what came out is withheld. Do not repeat the call.';

function acting({ tooLate = () => ({}) }: ToolLayer): ToolCaller {
  return async (call, next) => {
    const said = await saidBy(tooLate, call);
    const result = await next(call);
    return said === null ? result : annotate(result, {}, { ...said, status: 'too_late' });
  };
}

/** A word that cannot be had, or cannot be used, is no reason to lose the record. */
async function saidBy(tooLate: TooLate, call: ToolCall): Promise<EntryPatch | null> {
  try {
    const said: unknown = await tooLate(call);
    return said === null ? null : isObject(said) ? snapshotObject(said) : {};
  } catch (thrown) {
    return { error: describeThrown(thrown) };
  }
}

/** A layer that observes has promised to change nothing, so its answer is what it was given. */
function watching(layer: ToolLayer): ToolCaller {
  return async (call, next) => {
    const { answered, inside } = await ranAround(layer, call, next);
    if (inside !== null) return inside;
    const status = isResultOf(answered, slotOf(call).state)
      ? { wouldHaveBeen: answered.status }
      : {};
    return annotate(await next(call), {}, { ...status, status: 'too_late' });
  };
}

/** A layer that cleans may hide what it likes, and where it refuses, it has hidden everything. */
function cleaning(layer: ToolLayer): ToolCaller {
  return async (call, next) => {
    const blank = withCall(call, { toolArgs: {} });
    const hide = () => {
      stateOf(call).withheld = true;
      return next(blank);
    };
    const { answered, inside } = await ranAround(layer, call, next, hide);
    if (inside === null) await hide();
    return inside === null || isRefusal(answered, call)
      ? fail(blank, 'redacted', null, WITHHELD)
      : answered;
  };
}

/**
 * Says that the tool did not run, which is not true, or is to be thrown at a host that can change
 * nothing any more.
 */
const isRefusal = (answered: ToolResult, call: ToolCall): boolean =>
  isResultOf(answered, slotOf(call).state) &&
  (statusRow(answered.status)?.executed === 'no' || linkOf(answered).raise !== null);

function isCopyOf(call: ToolCall, passed: ToolCall): boolean {
  try {
    return stateOf(passed) === stateOf(call);
  } catch {
    return false;
  }
}

/**
 * Runs a layer whose `next` works once. Where it throws before it got there, the layers inside are
 * told by `instead`.
 */
async function ranAround(
  layer: ToolLayer,
  call: ToolCall,
  next: Next,
  instead: () => Promise<ToolResult> = () => next(call),
): Promise<{ answered: ToolResult; inside: ToolResult | null }> {
  let entered: Promise<ToolResult> | null = null;
  // A call that cannot be used leads nowhere.
  const once: Next = (passed) =>
    entered ?? (isCopyOf(call, passed) ? (entered = next(passed)) : next(passed));
  // Read again after the layer has run, when the compiler still takes it for what it was.
  const inside = (): Promise<ToolResult> | null => entered;
  try {
    const answered = await layer.caller(call, once);
    return { answered, inside: await inside() };
  } catch (thrown) {
    await (inside() ?? instead());
    throw thrown;
  }
}
