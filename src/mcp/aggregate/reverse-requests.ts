/**
 * Requests of servers to the client. Two servers may use the same ids and tokens at once, so the
 * client sees others.
 */

import { oneLine } from '../../core/contract/errors.ts';
import type { Frame } from '../proxy/link.ts';
import {
  CODES,
  errorMessage,
  idKey,
  isRequestId,
  metaOf,
  METHODS,
  notificationMessage,
  paramsOf,
  type RequestId,
  type WireMessage,
} from '../wire.ts';
import { type Edit, editFrame } from './edit-frame.ts';
import type { Session } from './session.ts';
import type { Upstream } from './upstream.ts';

export interface ReverseRequests {
  readonly fromUpstream: (upstream: Upstream, frame: Frame) => void;
  /** An answer of the client. */
  answered(frame: Frame): void;
  /** Progress that the client reports on a request of a server. */
  progressed(frame: Frame): void;
  /** A server does not want its answer any more. */
  cancelled(upstream: Upstream, notification: WireMessage): void;
  /** Nobody waits for what this server asked. */
  readonly gone: (upstream: Upstream) => void;
}

interface Asked {
  readonly upstream: Upstream;
  readonly id: RequestId;
  /** The token of the server, by the one that the client was given. */
  readonly token: { readonly ours: string; readonly theirs: RequestId } | null;
}

/** A person can answer only so many questions. */
const MAX_OPEN = 1000;

export function reverseRequests(session: Session): ReverseRequests {
  const open = new Map<string, Asked>();
  const ours = (upstream: Upstream, id: RequestId): string => `${upstream.index}:${idKey(id)}`;
  const openOf = (upstream: Upstream) =>
    [...open].filter(([, asked]) => asked.upstream === upstream);
  const withdraw = (id: string, reason: string): void =>
    session.toClient({
      message: notificationMessage(METHODS.cancelled, { requestId: id, reason }),
    });

  return {
    fromUpstream(upstream, frame) {
      // Only requests come here, and those have an id.
      const { id } = frame.message as { readonly id: RequestId };
      const own = ours(upstream, id);
      if (open.has(own) || openOf(upstream).length >= MAX_OPEN) {
        return refuse(session, upstream, id);
      }
      const { progressToken: theirs } = metaOf(frame.message);
      const token = isRequestId(theirs) ? { ours: ours(upstream, theirs), theirs } : null;
      open.set(own, { upstream, id, token });
      const edits: Edit[] = [{ path: ['id'], value: own }];
      if (token !== null)
        edits.push({ path: ['params', '_meta', 'progressToken'], value: token.ours });
      session.toClient(editFrame(frame, edits));
    },
    answered(frame) {
      const { id } = frame.message;
      const asked = typeof id === 'string' ? open.get(id) : undefined;
      if (asked === undefined || typeof id !== 'string')
        return session.report('the client answered a request that is not open');
      open.delete(id);
      asked.upstream.send(editFrame(frame, [{ path: ['id'], value: asked.id }]));
    },
    progressed(frame) {
      const { progressToken } = paramsOf(frame.message);
      const asked = [...open.values()].find(
        ({ token }) => token !== null && token.ours === progressToken,
      );
      if (asked?.token == null) return;
      asked.upstream.send(
        editFrame(frame, [{ path: ['params', 'progressToken'], value: asked.token.theirs }]),
      );
    },
    cancelled(upstream, notification) {
      const { requestId, reason } = paramsOf(notification);
      if (!isRequestId(requestId) || !open.delete(ours(upstream, requestId))) return;
      withdraw(
        ours(upstream, requestId),
        typeof reason === 'string' ? reason : 'the server does not wait for it',
      );
    },
    gone(upstream) {
      for (const [id] of openOf(upstream)) {
        open.delete(id);
        withdraw(id, 'the server is gone');
      }
    },
  };
}

function refuse({ report }: Session, upstream: Upstream, id: RequestId): void {
  report(`server "${oneLine(upstream.name)}" asked under an id that is in use, or asks too much`);
  upstream.send({
    message: errorMessage(id, CODES.invalidRequest, 'this id is in use, or too much is open'),
  });
}
