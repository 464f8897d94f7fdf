/**
 * A composed stack that a layer or an executor calls by itself, instead of listing it. It makes a
 * pass of its own over the same call: going on it uses the call it came from, and coming back its
 * record joins the outer one.
 */

import { type Conditions, type Frame, linkOf, slotOf } from './pass.ts';
import { isResultOf, moved } from './make-result.ts';
import { createCall, isAbandoned, withCall } from './own-call.ts';
import { joinScrubs, mergeAudit } from './audit.ts';
import { type ToolCall } from '../contract/call.ts';
import { cancelled } from './frame.ts';
import type { Next } from '../contract/layer.ts';
import { type ToolResult } from '../contract/result.ts';
import { type Executed, strongerExecuted } from '../contract/status.ts';
import { endingOf } from './when-ended.ts';

/** Runs `stack` over `pass`, which is `outer` with a state of its own. */
export async function innerPass(
  outer: ToolCall,
  pass: ToolCall,
  next: Next,
  stack: (pass: ToolCall, bottom: Next) => Promise<ToolResult>,
): Promise<ToolResult> {
  const { state, frame } = slotOf(outer);
  // Both records are cleaned by both stacks from the start: a layer of either may read what the
  // other wrote.
  joinScrubs(state, slotOf(pass).state.scrubs);
  slotOf(pass).state.scrubs = state.scrubs;
  slotOf(pass).state.ending = endingOf(outer);
  // Where `next` belongs to the layer that called the stack, the outer guard knows what ran;
  // otherwise only this pass does.
  let strange = false;
  const bottom: Next = async (passed) => {
    if (isAbandoned(frame)) return moved(cancelled(outer), passed, 'no');
    const sent = heldTo(slotOf(passed).terms, withCall(outer, passed));
    const answering = next(sent);
    if (frame?.sent !== sent) strange = true;
    const answered: unknown = await answering;
    // What is no result of the outer call is none of this pass either, and its guard says so.
    return isResultOf(answered, state)
      ? moved(answered, passed, ranIn(answered))
      : (answered as ToolResult);
  };
  const result = await stack(pass, bottom);
  slotOf(pass).state.active = false;
  if (state.active && !isAbandoned(frame))
    rejoin(outer, frame, pass, strange ? result.executed : 'no');
  const answer = moved(result, outer, result.executed);
  if (frame !== null && frame.sent === null) frame.answered = answer;
  return answer;
}

/**
 * A result that went through a layer was stamped below; one fresh from an executor says that it
 * ran.
 */
const ranIn = (result: ToolResult): Executed =>
  linkOf(result).at === null ? (linkOf(result).claim ?? 'yes') : result.executed;

/** Terms that layers of the pass laid down hold for what is below it too. */
const heldTo = (terms: Conditions | null, call: ToolCall): ToolCall =>
  terms === slotOf(call).terms
    ? call
    : createCall(call, slotOf(call).state, slotOf(call).frame, terms);

/** What the pass ran, wrote and raised holds for the outer call too. */
function rejoin(outer: ToolCall, frame: Frame | null, pass: ToolCall, executed: Executed): void {
  const { state } = slotOf(outer);
  const inner = slotOf(pass).state;
  const written = Object.entries(inner.audit ?? {}).filter(
    ([key]) => key === 'layers' || inner.writers?.has(key) === true,
  );
  if (written.length > 0)
    mergeAudit(state, Object.fromEntries(written), (frame === null ? 0 : frame.depth) + 1);
  state.executed = strongerExecuted(state.executed, executed);
  state.approvedArgs = inner.approvedArgs ?? state.approvedArgs;
  state.executedArgs = inner.executedArgs ?? state.executedArgs;
  state.blockedBy = inner.blockedBy ?? state.blockedBy;
  state.receipt = inner.receipt ?? state.receipt;
  // Decisions are used up, and a question that ended the pass ends the call.
  state.decisions = inner.decisions;
  state.question = inner.question ?? state.question;
  state.trace ??= inner.trace;
  if (inner.raised !== null) state.raised ??= moved(inner.raised, outer, executed);
}
