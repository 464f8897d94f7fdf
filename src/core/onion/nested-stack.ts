/**
 * A stack that a layer calls by itself, instead of listing it. It runs in the same pass, between
 * that layer and the ones below it, and goes on with the very `next` its layer got.
 */

import { type Frame, type Link, slotOf } from './pass.ts';
import { fail } from './results.ts';
import { isAbandoned } from './own-call.ts';
import { joinScrubs } from './audit.ts';
import type { ToolCall } from '../contract/call.ts';
import { AlliumError } from '../contract/errors.ts';
import { accepted, cancelled, notNow } from './frame.ts';
import type { Next, ToolLayer } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';

/**
 * An executor of its own is refused: it would run past the checks, and past the word on what ran,
 * that the outer stack has for its executor.
 */
export function nestedStack(
  call: ToolCall,
  next: Next,
  layers: readonly ToolLayer[],
  chainOf: (layers: readonly ToolLayer[], last: Link) => Link,
): Promise<ToolResult> {
  const { state, frame } = slotOf(call);
  if (frame === null || frame.next !== next)
    return Promise.resolve(
      fail(
        call,
        'tool_middleware_exception',
        new AlliumError('ERR_INVALID_CALL', NOT_ITS_NEXT),
        `A layer around ${call.toolName} failed, so this call was stopped. Do not repeat it unchanged.`,
        { executed: 'no' },
      ),
    );
  const objection = notNow(frame);
  if (objection !== null) return Promise.resolve(objection);
  joinScrubs(
    state,
    layers.flatMap((layer) => layer.scrub ?? []),
  );
  frame.sent = call;
  return chainOf(layers, lastLink(frame))(call, frame);
}

const NOT_ITS_NEXT =
  'a stack that is called within another one goes on with the next of the layer that calls it, and with nothing else; list its layers, or make what it should run the executor of the outer stack';

/** Where the layer of `frame` would have gone on, with the innermost layer of its stack outside. */
const lastLink =
  (frame: Frame): Link =>
  (passed, parent) => {
    const call = passed === frame.call ? passed : accepted(frame, passed);
    return slotOf(call).state.abandoned && isAbandoned(parent)
      ? Promise.resolve(cancelled(call))
      : frame.inner(call, parent);
  };
