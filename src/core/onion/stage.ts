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
import { answer, memberThrew } from './frame.ts';
import type { TooLate } from '../contract/layer.ts';
import { type ToolResult } from '../contract/result.ts';

export interface Stage {
  readonly name: string;
  /** The call to go on with, or what it comes to instead. */
  readonly enter?: (call: ToolCall) => ToolCall | ToolResult | Promise<ToolCall | ToolResult>;
  /** What the call comes to, given what it came to inside. */
  readonly leave?: (call: ToolCall, result: ToolResult) => ToolResult | Promise<ToolResult>;
  /** What the stage has to say of a call that ran elsewhere; `null` for nothing. */
  readonly tooLate?: TooLate;
}

/** Nothing that is there already is awaited. */
export function stageLink({ name, enter, leave }: Stage, inner: Link): Link {
  return (call, parent) => {
    const now = (): number => slotOf(call).state.clock.now();
    const refused = (result: ToolResult, startedAt: number) => {
      if (!result.ok) slotOf(call).state.blockedBy = name;
      return ended(name, call, parent, result, startedAt);
    };
    const threw = (thrown: unknown) => refused(memberThrew(name, call, thrown), now());
    const goOn = (entered: ToolCall | ToolResult, startedAt: number): Promise<ToolResult> => {
      if (isResult(entered)) return Promise.resolve(refused(entered, startedAt));
      const answering = inner(entered, parent);
      if (leave === undefined) return answering;
      const left = (result: ToolResult, inside: ToolResult) => {
        if (result === inside || result.ok) return result;
        return inside.ok ? refused(result, now()) : ended(name, call, parent, result, now());
      };
      return answering.then((inside) => {
        const leaving = leave(entered, inside);
        return leaving instanceof Promise
          ? leaving.then((result) => left(result, inside), threw)
          : left(leaving, inside);
      });
    };
    try {
      const entered = enter === undefined ? call : enter(call);
      if (!(entered instanceof Promise)) return goOn(entered, now());
      const startedAt = now();
      return entered.then((one) => goOn(one, startedAt), threw);
    } catch (thrown) {
      return Promise.resolve(threw(thrown));
    }
  };
}

function ended(
  name: string,
  call: ToolCall,
  parent: Frame | null,
  result: ToolResult,
  startedAt: number,
): ToolResult {
  writeStageLine(name, call, { status: result.status }, startedAt);
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
  pushEntry(state, line, Object.keys(said).length === 0 ? null : said, true);
}
