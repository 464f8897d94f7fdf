/** Requests of the proxy's own, to one side, and the answers to them. */

import { randomBytes } from 'node:crypto';
import { notificationMessage, type RequestId, requestMessage, type WireMessage } from '../wire.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { AbortSource } from '../../core/time/abort.ts';
import { pendingRequests } from '../../system/pending-requests.ts';
import { abortError } from './exchange.ts';

export interface RequestOptions {
  readonly abort: AbortSource;
  /** The request of the other side that this one belongs to. */
  readonly about?: RequestId;
}

export interface Outgoing {
  /**
   * Resolves with the answer, an error too. Rejects with the reason of an abort, or when nobody is
   * there to answer.
   */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<WireMessage>;
  /** Whether a message answers one of these requests. A second answer does nothing. */
  settle(message: WireMessage): boolean;
  /** The other side is gone. */
  fail(why: string): void;
}

/** The other side went away with a request that it had. */
export class GoneError extends Error {
  override readonly name = 'GoneError';
}

interface Open {
  readonly resolve: (message: WireMessage) => void;
  readonly reject: (reason: Error) => void;
  readonly unfollow: () => void;
}

/**
 * Ids begin with something that nobody can guess: an answer of the one side cannot be taken for one
 * of the other.
 */
export function createOutgoing(send: (message: WireMessage, about?: RequestId) => void): Outgoing {
  const prefix = `allium-${randomBytes(6).toString('hex')}-`;
  const open = pendingRequests<Open>();
  let count = 0;
  let gone: string | null = null;

  return {
    request(method, params, { abort, about }) {
      if (gone !== null) return Promise.reject(new GoneError(gone));
      if (abort.isAborted()) return Promise.reject(abortError(abort));
      const id = `${prefix}${(count += 1)}`;
      return new Promise((resolve, reject) => {
        const cancel = (): void => {
          open.take(id);
          send(
            notificationMessage('notifications/cancelled', {
              requestId: id,
              reason: 'the call was cancelled',
            }),
            about,
          );
          reject(abortError(abort));
        };
        const unfollow = abort.follow(cancel);
        open.add(id, { resolve, reject, unfollow });
        try {
          send(requestMessage(id, method, params), about);
        } catch (thrown) {
          // What nests too deep cannot be written, so it will not be answered.
          open.take(id);
          unfollow();
          throw thrown;
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
    fail(why) {
      gone ??= why;
      for (const { reject, unfollow } of open.takeAll()) {
        unfollow();
        reject(new GoneError(why));
      }
    },
  };
}
