/** Requests of ours to one side of a connection, and the answers to them. */

import { randomBytes } from 'node:crypto';
import {
  METHODS,
  notificationMessage,
  objectAt,
  type RequestId,
  requestMessage,
  type WireMessage,
} from './wire.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import type { ToolProgress } from '../core/contract/call.ts';
import type { AbortSource } from '../core/time/abort.ts';
import { type PendingRequests, pendingRequests } from '../system/pending-requests.ts';

export interface RequestOptions {
  readonly abort: AbortSource;
  /** The request of the other side that this one belongs to. */
  readonly about?: RequestId;
  /** Asks for progress under a token of ours, and is told of it. */
  readonly onProgress?: (progress: ToolProgress) => void;
}

export interface Outgoing {
  /**
   * Resolves with the answer, an error too. Rejects with the reason of an abort, or when nobody is
   * there to answer.
   */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<WireMessage>;
  /** Whether a message answers one of these requests. A second answer does nothing. */
  settle(message: WireMessage): boolean;
  /** Whether these parameters of a notification tell of the progress of one of these requests. */
  progressed(params: JsonObject): boolean;
  /** The other side is gone. */
  fail(why: string): void;
}

/** The other side went away with a request that it had. */
export class GoneError extends Error {
  override readonly name = 'GoneError';
}

interface Open {
  readonly resolve: (message: WireMessage) => void;
  readonly reject: (reason: unknown) => void;
  readonly unfollow: () => void;
  readonly onProgress: RequestOptions['onProgress'];
}

/**
 * Ids begin with something that nobody can guess: an answer of the one side cannot be taken for one
 * of the other.
 */
export function createOutgoing(
  send: (message: WireMessage, about?: RequestId) => void | Promise<void>,
  reason = 'the call was cancelled',
): Outgoing {
  const prefix = `allium-${randomBytes(6).toString('hex')}-`;
  const open = pendingRequests<Open>();
  let count = 0;
  let gone: string | null = null;

  return {
    request(method, params, { abort, about, onProgress }) {
      if (gone !== null) return Promise.reject(new GoneError(gone));
      if (abort.isAborted()) return Promise.reject(abortError(abort));
      const id = `${prefix}${(count += 1)}`;
      return new Promise((resolve, reject) => {
        const cancel = (): void => {
          open.take(id);
          const cancelled = { requestId: id, reason };
          // A side that is gone need not be told.
          send(notificationMessage(METHODS.cancelled, cancelled), about)?.catch(() => {});
          reject(abortError(abort));
        };
        open.add(id, { resolve, reject, unfollow: abort.follow(cancel), onProgress });
        try {
          const sent = onProgress === undefined ? params : withToken(params, id);
          const sending = send(requestMessage(id, method, sent), about);
          if (sending !== undefined) sending.catch((thrown: unknown) => unsent(open, id, thrown));
        } catch (thrown) {
          unsent(open, id, thrown);
        }
      });
    },
    settle(message) {
      const { id } = message;
      if (typeof id !== 'string' || !id.startsWith(prefix)) return false;
      const waiting = open.take(id);
      waiting?.unfollow();
      waiting?.resolve(message);
      return true;
    },
    progressed(params) {
      const onProgress = open.get(params.progressToken)?.onProgress;
      onProgress?.(progressIn(params));
      return onProgress !== undefined;
    },
    fail(why) {
      gone ??= why;
      for (const { reject, unfollow } of open.takeAll()) {
        unfollow();
        reject(new GoneError(why));
      }
    },
  };
}

/** A message that nests too deep, or a side that is gone: no answer will come. */
function unsent(open: PendingRequests<Open>, id: RequestId, thrown: unknown): void {
  const waiting = open.take(id);
  waiting?.unfollow();
  waiting?.reject(thrown);
}

const withToken = (params: JsonObject, progressToken: string): JsonObject => ({
  ...params,
  _meta: { ...objectAt(params, '_meta'), progressToken },
});

/** What can be read of the progress that the other side tells: numbers and text. */
export const progressIn = ({ progress, total, message }: JsonObject): ToolProgress => ({
  ...(typeof progress === 'number' ? { progress } : {}),
  ...(typeof total === 'number' ? { total } : {}),
  ...(typeof message === 'string' ? { message } : {}),
});

/** What a request is rejected with that its caller took back. */
export function abortError(abort: AbortSource): Error {
  const reason = abort.reason();
  return reason instanceof Error ? reason : new Error('aborted');
}
