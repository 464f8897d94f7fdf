/**
 * Tools that run in the background: the call that starts one is answered at once, and the run is a
 * call of its own.
 */

import { taskEvent, toolCallUpdateEvent } from '../../core/wire/wire.ts';
import { slotOf } from '../../core/onion/pass.ts';
import { annotate, fail } from '../../core/onion/results.ts';
import type { JsonValue } from '../../core/json/json-value.ts';
import { make, NO_CONTENT } from '../../core/onion/make-result.ts';
import { stateOf } from '../../core/onion/own-call.ts';
import { type ToolCall } from '../../core/contract/call.ts';
import type { RunStack } from '../../core/onion/compose.ts';
import { describeThrown, isAlliumError } from '../../core/contract/errors.ts';
import { isObject, snapshot } from '../../core/json/json.ts';
import { inherited } from '../../core/onion/conditions.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { followAbort, linkAbort } from '../../core/time/abort.ts';
import {
  type BackgroundRuns,
  type BackgroundUpdate,
  failureDetails,
  type ToolRequest,
} from '../../tools/tool.ts';
import type { EventHub } from '../events/events.ts';
import { STARTED } from './lifecycle.ts';
import type { CallOptions, Opening } from '../intake/open-call.ts';
import { recordOf } from '../record.ts';

/** A call whose caller has its answer already, through the whole stack. */
export type RunBehind = (
  request: ToolRequest,
  options: CallOptions,
  extra: Pick<Opening, 'nesting' | 'conditions' | 'isBackground'>,
) => Promise<ToolResult>;

export interface BackgroundParts {
  /**
   * The host's layers that observe or clean, with admission between them: what may refuse has its
   * say about the run.
   */
  readonly run: RunStack;
  readonly hub: EventHub;
  /** Aborts when the dispatcher is closed. */
  readonly closing: AbortSignal;
  readonly runBehind: RunBehind;
}

/**
 * Starts what a call asks for and answers it. Only who records and who cleans looks at the start,
 * because nothing has happened yet that could be refused: the run passes every layer, once, with
 * the arguments the model sent.
 */
export function backgroundStarter(
  parts: BackgroundParts,
): (call: ToolCall, background: BackgroundRuns) => Promise<ToolResult> {
  const { hub } = parts;
  return (call, background) =>
    parts.run(call, async (admitted) => {
      hub.emit('tool_call_update', toolCallUpdateEvent, admitted, STARTED);
      const { toolName, callId, turn } = admitted;
      const tell = (update: BackgroundUpdate) => hub.emit('task', taskEvent, admitted, update);
      const run = (id: string, signal: AbortSignal) => runTask(admitted, id, signal, parts);
      try {
        return started(
          admitted,
          await background.start({ toolName, callId, sessionId: turn.sessionId }, run, tell),
        );
      } catch (thrown) {
        return notStarted(admitted, thrown);
      }
    });
}

function notStarted(call: ToolCall, thrown: unknown): ToolResult {
  const { category = 'not_started', errorClass = 'retryable' } = failureDetails(thrown);
  return fail(call, 'executor_error', thrown, describeThrown(thrown), {
    category,
    errorClass,
    executed: 'no',
  });
}

/** It answered, and the tool has done nothing yet. */
function started(call: ToolCall, value: JsonValue): ToolResult {
  const result = snapshot(value);
  const ending = {
    ok: true,
    status: 'ok',
    result,
    content: NO_CONTENT,
    error: null,
    errorCategory: null,
    errorClass: null,
  } as const;
  const id = isObject(result) ? result['task_id'] : undefined;
  const answered = make(call, ending, null, 'no');
  return typeof id === 'string'
    ? annotate(answered, { metadata: { ...answered.audit?.metadata, taskId: id } })
    : answered;
}

/** What a layer raises has no caller to reach: the refusal it was raised with is the result. */
async function runTask(
  call: ToolCall,
  id: string,
  signal: AbortSignal,
  { runBehind, closing }: BackgroundParts,
): Promise<ToolResult> {
  const abort = linkAbort(signal);
  const unfollow = followAbort(closing, () => abort.abort(closing.reason));
  const { conditions } = slotOf(call);
  const extra = {
    nesting: stateOf(call).nesting,
    conditions: conditions === null ? null : inherited(conditions),
    isBackground: true,
  };
  try {
    const request = { name: call.toolName, arguments: recordOf(call).opened, id };
    return await runBehind(request, { turn: call.turn, signal: abort.signal }, extra);
  } catch (thrown) {
    if (isAlliumError(thrown) && thrown.result !== undefined) return thrown.result;
    throw thrown;
  } finally {
    unfollow();
    abort.unlink();
  }
}
