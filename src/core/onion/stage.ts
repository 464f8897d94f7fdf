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

/** A stage at work on one call. */
interface Step {
  readonly stage: Stage;
  readonly call: ToolCall;
  readonly parent: Frame | null;
}

/** Nothing that is there already is awaited. */
export const stageLink =
  (stage: Stage, inner: Link): Link =>
  (call, parent) => {
    const step: Step = { stage, call, parent };
    try {
      const entered = stage.enter === undefined ? call : stage.enter(call);
      if (!(entered instanceof Promise)) return goOn(step, inner, entered);
      const startedAt = nowOf(step);
      return entered.then(
        (one) => goOn(step, inner, one, startedAt),
        (thrown: unknown) => threw(step, thrown),
      );
    } catch (thrown) {
      return Promise.resolve(threw(step, thrown));
    }
  };

function goOn(
  step: Step,
  inner: Link,
  entered: ToolCall | ToolResult,
  startedAt?: number,
): Promise<ToolResult> {
  if (isResult(entered)) return Promise.resolve(refused(step, entered, startedAt));
  // A stage that made the call wait still has its `leave`: it may have taken a place.
  const answering = isLate(step)
    ? Promise.resolve(cancelled(entered))
    : inner(entered, step.parent);
  const { leave, leaves } = step.stage;
  if (leave === undefined || leaves?.(entered) === false) return answering;
  return answering.then((inside) => {
    try {
      const left = leave(entered, inside);
      return left instanceof Promise
        ? left.then(
            (result) => changed(step, inside, result),
            (thrown: unknown) => threw(step, thrown),
          )
        : changed(step, inside, left);
    } catch (thrown) {
      return threw(step, thrown);
    }
  });
}

/** The stage is to blame for a refusal only where it was ok inside. */
function changed(step: Step, inside: ToolResult, result: ToolResult): ToolResult {
  if (result === inside || result.ok) return result;
  return inside.ok ? refused(step, result) : ended(step, result, nowOf(step));
}

const threw = (step: Step, thrown: unknown): ToolResult =>
  refused(step, memberThrew(step.stage.name, step.call, thrown));

/**
 * Whether a layer outside has answered meanwhile, without waiting for `next`: the call may have
 * ended, and its record be closed.
 */
const isLate = ({ call, parent }: Step): boolean =>
  slotOf(call).state.abandoned && isAbandoned(parent);

function refused(step: Step, result: ToolResult, startedAt = nowOf(step)): ToolResult {
  if (isLate(step)) return result;
  if (!result.ok) slotOf(step.call).state.blockedBy = step.stage.name;
  return ended(step, result, startedAt);
}

function ended(step: Step, result: ToolResult, startedAt: number): ToolResult {
  if (isLate(step)) return result;
  const { stage, call, parent } = step;
  writeStageLine(stage.name, call, { status: result.status }, startedAt);
  return answer(parent, result);
}

const nowOf = ({ call }: Step): number => slotOf(call).state.clock.now();

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
