/**
 * A step of the dispatcher's own between layers. It has no frame, and a line in the record only
 * where it turned the call away, or has a word on one that ran elsewhere.
 */

import { type Frame, type Link, slotOf } from './pass.ts';
import { isResult } from './make-result.ts';
import { pushEntry } from './audit.ts';
import type { EntryPatch } from '../contract/audit-record.ts';
import { type ToolCall } from '../contract/call.ts';
import { isoTime } from '../time/clock.ts';
import { answer, cancelled, memberThrew } from './frame.ts';
import { isAbandoned } from './own-call.ts';
import type { TooLate } from '../contract/layer.ts';
import { type ToolResult } from '../contract/result.ts';

export interface Stage {
  readonly name: string;
  /** The call to go on with, or what it comes to instead. */
  readonly enter?: (call: ToolCall) => ToolCall | ToolResult | Promise<ToolCall | ToolResult>;
  /** What the call comes to, given what it came to inside. */
  readonly leave?: (call: ToolCall, result: ToolResult) => ToolResult | Promise<ToolResult>;
  /** Whether `leave` has something to do for this call. Asked after `enter`. @default it has */
  readonly leaves?: (call: ToolCall) => boolean;
  /** What the stage has to say of a call that ran elsewhere; `null` for nothing. */
  readonly tooLate?: TooLate;
}

/** Nothing that is there already is awaited. */
export const stageLink =
  (stage: Stage, inner: Link): Link =>
  (call, parent) => {
    const { enter } = stage;
    if (enter === undefined) return goOn(stage, inner, call, parent);
    try {
      const entered = enter(call);
      if (!(entered instanceof Promise))
        return isResult(entered)
          ? Promise.resolve(refused(stage, call, parent, entered))
          : goOn(stage, inner, entered, parent);
      const startedAt = slotOf(call).state.clock.now();
      return entered.then(
        (one) =>
          isResult(one)
            ? refused(stage, call, parent, one, startedAt)
            : goOn(stage, inner, one, parent),
        (thrown: unknown) => threw(stage, call, parent, thrown),
      );
    } catch (thrown) {
      return Promise.resolve(threw(stage, call, parent, thrown));
    }
  };

/** What is inside, and then the stage's `leave`, which may have a place to give back. */
function goOn(
  stage: Stage,
  inner: Link,
  call: ToolCall,
  parent: Frame | null,
): Promise<ToolResult> {
  const answering = isLate(call, parent) ? Promise.resolve(cancelled(call)) : inner(call, parent);
  const { leave, leaves } = stage;
  if (leave === undefined || leaves?.(call) === false) return answering;
  return answering.then((inside) => {
    try {
      const left = leave(call, inside);
      return left instanceof Promise
        ? left.then(
            (result) => changed(stage, call, parent, inside, result),
            (thrown: unknown) => threw(stage, call, parent, thrown),
          )
        : changed(stage, call, parent, inside, left);
    } catch (thrown) {
      return threw(stage, call, parent, thrown);
    }
  });
}

const threw = (stage: Stage, call: ToolCall, parent: Frame | null, thrown: unknown): ToolResult =>
  refused(stage, call, parent, memberThrew(stage.name, call, thrown));

/** The stage is to blame for a refusal only where it was ok inside. */
function changed(
  stage: Stage,
  call: ToolCall,
  parent: Frame | null,
  inside: ToolResult,
  result: ToolResult,
): ToolResult {
  if (result === inside || result.ok) return result;
  const end = inside.ok ? refused : ended;
  return end(stage, call, parent, result);
}

/**
 * Whether a layer outside has answered meanwhile, without waiting for `next`: the call may have
 * ended, and its record be closed.
 */
const isLate = (call: ToolCall, parent: Frame | null): boolean =>
  slotOf(call).state.abandoned && isAbandoned(parent);

/** The stage turned the call away: it is to blame for that. */
function refused(
  stage: Stage,
  call: ToolCall,
  parent: Frame | null,
  result: ToolResult,
  startedAt?: number,
): ToolResult {
  const { state } = slotOf(call);
  if (!result.ok && !isLate(call, parent)) state.blockedBy = stage.name;
  return ended(stage, call, parent, result, startedAt);
}

/** Writes the stage's line, and hands the result to the layer outside. */
function ended(
  stage: Stage,
  call: ToolCall,
  parent: Frame | null,
  result: ToolResult,
  startedAt = slotOf(call).state.clock.now(),
): ToolResult {
  if (isLate(call, parent)) return result;
  writeStageLine(stage.name, call, { status: result.status }, startedAt);
  return answer(parent, result);
}

/** The line of a stage: `said` with the two times. */
export function writeStageLine(
  name: string,
  call: ToolCall,
  { status = 'ok', ...said }: EntryPatch,
  startedAt: number,
): void {
  const { state } = slotOf(call);
  const line = { name, status, startedAt: isoTime(startedAt), endedAt: isoTime(state.clock.now()) };
  pushEntry(state, line, Object.keys(said).length === 0 ? null : said);
}
