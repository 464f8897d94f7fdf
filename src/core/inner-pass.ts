/**
 * A composed stack that a layer or an executor calls by itself, instead of listing it. It makes a pass of its own over
 * the same call: going on it uses the call it came from, and coming back its record joins the outer one.
 */

import { joinScrubs, mergeAudit } from './audit.ts';
import { createCall, isAbandoned, SLOT, type ToolCall, withCall } from './call.ts';
import { cancelled } from './frame.ts';
import type { Next } from './layer.ts';
import { BRAND, isResultOf, moved } from './build-result.ts';
import type { ToolResult } from './result.ts';
import { depthOf, type Frame } from './state.ts';
import { type Executed, strongerExecuted } from './status.ts';
import type { CallTerms } from './terms.ts';
import { endingOf } from './when-ended.ts';

/** Runs `stack` over `pass`, which is `outer` with a state of its own. */
export async function innerPass(
  outer: ToolCall,
  pass: ToolCall,
  next: Next,
  stack: (pass: ToolCall, bottom: Next) => Promise<ToolResult>,
): Promise<ToolResult> {
  const { state, frame } = outer[SLOT];
  // Both records are cleaned by both stacks from the start: a layer of either may read what the other wrote.
  joinScrubs(state, pass[SLOT].state.scrubs);
  pass[SLOT].state.scrubs = state.scrubs;
  pass[SLOT].state.ending = endingOf(outer);
  // Where `next` belongs to the layer that called the stack, the outer guard knows what ran; otherwise only this pass does.
  let strange = false;
  const bottom: Next = async (passed) => {
    if (isAbandoned(frame)) return moved(cancelled(outer), passed, 'no');
    const sent = heldTo(passed[SLOT].terms, withCall(outer, passed));
    const answering = next(sent);
    if (frame?.sent !== sent) strange = true;
    const answered: unknown = await answering;
    // What is no result of the outer call is none of this pass either, and its guard says so.
    return isResultOf(answered, state)
      ? moved(answered, passed, ranIn(answered))
      : (answered as ToolResult);
  };
  const result = await stack(pass, bottom);
  pass[SLOT].state.active = false;
  if (state.active && !isAbandoned(frame))
    rejoin(outer, frame, pass, strange ? result.executed : 'no');
  const answer = moved(result, outer, result.executed);
  if (frame !== null && frame.sent === null) frame.answered = answer;
  return answer;
}

/** A result that went through a layer was stamped below; one fresh from an executor says that it ran. */
const ranIn = (result: ToolResult): Executed =>
  result[BRAND].at === null ? (result[BRAND].claim ?? 'yes') : result.executed;

/** Terms that layers of the pass laid down hold for what is below it too. */
const heldTo = (terms: CallTerms | null, call: ToolCall): ToolCall =>
  terms === call[SLOT].terms ? call : createCall(call, call[SLOT].state, call[SLOT].frame, terms);

/** What the pass ran, wrote and raised holds for the outer call too. */
function rejoin(outer: ToolCall, frame: Frame | null, pass: ToolCall, executed: Executed): void {
  const { state } = outer[SLOT];
  const inner = pass[SLOT].state;
  const written = Object.entries(inner.audit ?? {}).filter(
    ([key]) => key === 'layers' || inner.writers?.has(key) === true,
  );
  if (written.length > 0)
    mergeAudit(state, Object.fromEntries(written), (frame === null ? 0 : depthOf(frame)) + 1);
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
