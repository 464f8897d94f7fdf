/** What servers tell the client without being asked. */

import { oneLine } from '../../core/errors.ts';
import type { Frame } from '../link.ts';
import { isRequestId, methodOf, paramsOf } from '../wire.ts';
import { changedBy, type ListChanges } from './list-changes.ts';
import type { Listens } from './listens.ts';
import type { Lists } from './lists.ts';
import type { ReverseRequests } from './reverse-requests.ts';
import type { Session } from './session.ts';
import type { Upstream } from './upstream.ts';

export interface Tellers {
  readonly lists: Lists;
  readonly listens: Listens;
  readonly changes: ListChanges;
  readonly reverse: ReverseRequests;
}

/** Everything is given on as it came, but for what would not be true any more on the client's side. */
export function tellClient(
  session: Session,
  { lists, listens, changes, reverse }: Tellers,
  upstream: Upstream,
  frame: Frame,
): void {
  const { message } = frame;
  const method = methodOf(message);
  const kind = changedBy(method);
  if (kind !== undefined) {
    lists.forget(upstream, kind);
    return changes.changed(kind);
  }
  switch (method) {
    case 'notifications/progress': {
      const { progressToken } = paramsOf(message);
      // Of another server's request it could not know anything.
      if (isRequestId(progressToken) && upstream.hasToken(progressToken)) session.toClient(frame);
      return;
    }
    case 'notifications/message':
      return session.toClient(withLogger(upstream, frame));
    case 'notifications/cancelled':
      return reverse.cancelled(upstream, message);
    case 'notifications/subscriptions/acknowledged':
      return listens.acknowledged(upstream, frame);
    case 'notifications/resources/updated':
      return session.opening?.era === 'modern'
        ? listens.updated(upstream, frame)
        : session.toClient(frame);
    default:
      return session.toClient(frame);
  }
}

function withLogger({ name }: Upstream, { message }: Frame): Frame {
  const params = paramsOf(message);
  const logger =
    typeof params.logger === 'string' ? `${oneLine(name)}/${params.logger}` : oneLine(name);
  return { message: { ...message, params: { ...params, logger } } };
}
