/**
 * What was asked and is not answered yet. Every request gets exactly one reply, whatever the other
 * side does.
 */

import { isObject } from '../../core/json/json.ts';
import { followAbort } from '../../core/time/abort.ts';
import { type PendingRequests, pendingRequests } from '../../system/pending-requests.ts';
import { METHODS } from './protocol.ts';
import type { TellProblem } from './problems.ts';
import type { Incoming, Unsent, Wire } from './wire.ts';
import type { Queued } from './write-queue.ts';

/** How a request ended. */
export type Reply =
  | { readonly by: 'result'; readonly result: unknown }
  | { readonly by: 'error'; readonly error: unknown }
  /** An answer came, and cannot be read. */
  | { readonly by: 'unreadable_line' | 'line_too_long' }
  /** It went out, and nobody will answer any more. */
  | { readonly by: 'lost' }
  /** It never went out. */
  | { readonly by: 'unsent'; readonly reason: Unsent | 'withdrawn' };

interface Request {
  readonly method: string;
  readonly params: object;
  /** What a call can be cancelled by, and hears progress by. */
  readonly call?: {
    readonly callId: string;
    readonly signal: AbortSignal;
    readonly onProgress: (params: Readonly<Record<string, unknown>>) => void;
  };
}

export interface Requests {
  ask(request: Request): Promise<Reply>;
  /** An answer, or a line that seems to be one. False where nothing waits for it. */
  answered(id: unknown, reply: Reply): boolean;
  progressed(params: Readonly<Record<string, unknown>>): void;
  /** Nobody will answer any more. */
  end(): void;
}

interface Open {
  readonly id: number;
  readonly call: Request['call'];
  readonly queued: Queued;
  readonly settle: (reply: Reply) => void;
  unfollow: () => void;
}

/**
 * A call that was cancelled may still be answered, which tells what it did. One that never is must
 * not be kept for good: of those, only so many of the newest are.
 */
const MAX_CANCELLED = 1_000;

export function createRequests(wire: Pick<Wire, 'send' | 'push'>): Requests {
  const open = pendingRequests<Open>();
  const byCall = new Map<string, Set<Open>>();
  const cancelled = new Set<Open>();
  let lastId = 0;

  const close = (one: Open, reply: Reply): void => {
    open.take(one.id);
    cancelled.delete(one);
    forgetCall(byCall, one);
    one.unfollow();
    one.settle(reply);
  };
  const cancel = (one: Open, callId: string): void => {
    if (one.queued.withdraw()) return close(one, { by: 'unsent', reason: 'withdrawn' });
    forgetCall(byCall, one);
    cancelled.add(one);
    wire.push({
      jsonrpc: '2.0',
      method: METHODS.cancel,
      params: { call_id: callId, request_id: one.id },
    });
    const [oldest] = cancelled;
    if (cancelled.size > MAX_CANCELLED && oldest !== undefined) close(oldest, { by: 'lost' });
  };
  return {
    ask: ({ method, params, call }) =>
      new Promise((settle) => {
        if (call?.signal.aborted === true) return settle({ by: 'unsent', reason: 'withdrawn' });
        const id = (lastId += 1);
        const queued = wire.send({ jsonrpc: '2.0', id, method, params });
        if (typeof queued === 'string') return settle({ by: 'unsent', reason: queued });
        const one: Open = { id, call, queued, settle, unfollow: () => {} };
        open.add(id, one);
        if (call === undefined) return;
        addCall(byCall, call.callId, one);
        one.unfollow = followAbort(call.signal, () => cancel(one, call.callId));
      }),
    answered(id, reply) {
      const one = open.get(id);
      if (one !== undefined) close(one, reply);
      return one !== undefined;
    },
    progressed: (params) => hearing(open, byCall, params)?.call?.onProgress(params),
    end() {
      for (const one of open.all())
        close(one, one.queued.withdraw() ? { by: 'unsent', reason: 'closed' } : { by: 'lost' });
    },
  };
}

function addCall(byCall: Map<string, Set<Open>>, callId: string, one: Open): void {
  const same = byCall.get(callId);
  if (same === undefined) byCall.set(callId, new Set([one]));
  else same.add(one);
}

function forgetCall(byCall: Map<string, Set<Open>>, one: Open): void {
  const callId = one.call?.callId ?? '';
  const same = byCall.get(callId);
  if (same?.delete(one) === true && same.size === 0) byCall.delete(callId);
}

/**
 * Whose progress it is. Ids of calls come from models and may be the same in two sessions: progress
 * that could be of either is of neither, unless it names the request.
 */
function hearing(
  open: PendingRequests<Open>,
  byCall: ReadonlyMap<string, ReadonlySet<Open>>,
  { call_id: callId, request_id: requestId }: Readonly<Record<string, unknown>>,
): Open | undefined {
  const same = typeof callId === 'string' ? byCall.get(callId) : undefined;
  if (same === undefined) return undefined;
  if (requestId === undefined) return same.size === 1 ? [...same][0] : undefined;
  const named = open.get(requestId);
  return named !== undefined && same.has(named) ? named : undefined;
}

/**
 * Takes what came in to where it belongs, and tells what belongs nowhere. `others` gets the
 * requests and all other notifications.
 */
export function receiveReplies(
  requests: Requests,
  tell: TellProblem,
  others: (message: Readonly<Record<string, unknown>>) => void,
) {
  return (incoming: Incoming): void => {
    if ('unreadable' in incoming) {
      const { unreadable, id } = incoming;
      const known = requests.answered(id, { by: unreadable });
      return tell(
        unreadable,
        known ? `the answer to request ${String(id)} cannot be read` : 'a line was skipped',
      );
    }
    const { message } = incoming;
    if (message.method === METHODS.progress && message.id === undefined)
      return progress(requests, message.params);
    if (message.method !== undefined) return others(message);
    const { id, result, error } = message;
    const reply: Reply = error === undefined ? { by: 'result', result } : { by: 'error', error };
    if (!requests.answered(id, reply))
      tell('unknown_id', 'an answer came to nothing that was asked, or a second one');
  };
}

function progress(requests: Requests, params: unknown): void {
  try {
    if (isObject(params)) requests.progressed(params);
  } catch {
    // Whoever hears of progress may fail, and must not break the stream it came from.
  }
}
