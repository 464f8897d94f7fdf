/** `subscriptions/listen`: one stream to the client, fed by one of each server. */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { Frame } from '../proxy/link.ts';
import { CODES, metaOf, METHODS, notificationMessage, objectAt, paramsOf } from '../wire.ts';
import type { ClientRequest } from './client-requests.ts';
import { editFrame } from './edit-frame.ts';
import { changedMethod } from './list-changes.ts';
import { type Changing, CHANGING } from './merge.ts';
import type { Resources } from './resources.ts';
import { declares, isReady, type Session } from './session.ts';
import type { Upstream } from './upstream.ts';

export interface Listens {
  /** Answers `subscriptions/listen`. */
  readonly listen: (request: ClientRequest) => Promise<void>;
  /** Tells every stream that asked for it. */
  changed(kind: Changing): void;
  /** Gives what came on a server's stream to the client's. */
  updated(upstream: Upstream, frame: Frame): void;
  acknowledged(upstream: Upstream, frame: Frame): void;
  /** Opens the streams of a server that came late or again. */
  joined(upstream: Upstream): void;
}

interface Part {
  readonly id: number;
  isSettled: boolean;
  /** What the server took on of the URIs it was asked to watch. */
  uris: readonly string[];
}

interface Listen {
  readonly request: ClientRequest;
  readonly wanted: ReadonlySet<Changing>;
  /**
   * Which server watches which resources; those that nobody is known to own are watched by all that
   * can.
   */
  readonly watched: readonly { readonly uri: string; readonly owner: Upstream | null }[];
  readonly parts: Map<Upstream, Part>;
}

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const MAX_LISTENS = 1000;
const MAX_WATCHED = 1000;

export function createListens(session: Session, resources: Resources): Listens {
  const open = new Set<Listen>();
  const find = (upstream: Upstream, frame: Frame): { listen: Listen; part: Part } | null => {
    const id = metaOf(frame.message)[SUBSCRIPTION];
    for (const listen of open) {
      const part = listen.parts.get(upstream);
      if (part !== undefined && part.id === id) return { listen, part };
    }
    return null;
  };
  return {
    async listen(request) {
      if (open.size >= MAX_LISTENS)
        return request.error(CODES.internal, 'too many subscriptions are open');
      const listen = await prepare(session, resources, request);
      if (request.isOver()) return;
      open.add(listen);
      request.onCancel(() => open.delete(listen));
      for (const upstream of session.upstreams) openPart(session, listen, upstream);
      const isSettled = (): boolean => [...listen.parts.values()].every((part) => part.isSettled);
      await session.watch.until(
        (isLate) => isLate || isSettled() || request.isOver(),
        session.slowMs,
      );
      if (!request.isOver()) acknowledge(session, listen);
    },
    changed(kind) {
      for (const { request, wanted } of open) {
        if (wanted.has(kind))
          session.toClient({
            message: notificationMessage(changedMethod(kind), {
              _meta: { [SUBSCRIPTION]: request.id },
            }),
          });
      }
    },
    updated(upstream, frame) {
      const found = find(upstream, frame);
      if (found !== null)
        session.toClient(
          editFrame(frame, [
            { path: ['params', '_meta', SUBSCRIPTION], value: found.listen.request.id },
          ]),
        );
    },
    acknowledged(upstream, frame) {
      const part = find(upstream, frame)?.part;
      if (part === undefined) return;
      const { resourceSubscriptions: uris } = objectAt(paramsOf(frame.message), 'notifications');
      part.uris = textsIn(uris);
      part.isSettled = true;
      session.watch.changed();
    },
    joined(upstream) {
      for (const listen of open) openPart(session, listen, upstream);
    },
  };
}

async function prepare(
  session: Session,
  resources: Resources,
  request: ClientRequest,
): Promise<Listen> {
  const filter = objectAt(request.params, 'notifications');
  await Promise.all(session.upstreams.map((upstream) => upstream.available()));
  const watched: { uri: string; owner: Upstream | null }[] = [];
  for (const uri of textsIn(filter.resourceSubscriptions).slice(0, MAX_WATCHED)) {
    watched.push({ uri, owner: await resources.ownerOf(request, uri) });
  }
  const wanted = CHANGING.filter((kind) => filter[`${kind}ListChanged`] === true);
  return { request, wanted: new Set(wanted), watched, parts: new Map() };
}

/** A server is asked only for what it declared, and for the resources that may be its own. */
function openPart(session: Session, listen: Listen, upstream: Upstream): void {
  if (!isReady(upstream)) return;
  const kinds = [...listen.wanted].filter((kind) => declares(upstream, kind, 'listChanged'));
  const mine = declares(upstream, 'resources', 'subscribe')
    ? listen.watched.filter(({ owner }) => owner === null || owner === upstream)
    : [];
  if (kinds.length === 0 && mine.length === 0) return;
  const notifications: JsonObject = {
    ...Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true])),
    ...(mine.length === 0 ? {} : { resourceSubscriptions: mine.map(({ uri }) => uri) }),
  };
  const { message } = listen.request.frame;
  const asked = { message: { ...message, params: { ...paramsOf(message), notifications } } };
  let own: Part | null = null;
  // An answer ends a server's stream, and not the client's: the others go on, and this one may come
  // again.
  const onAnswer = (): void => {
    if (listen.parts.get(upstream) === own) listen.parts.delete(upstream);
    session.watch.changed();
  };
  listen.request.ask(upstream, asked, [], onAnswer, (id) => {
    own = { id, isSettled: false, uris: [] };
    listen.parts.set(upstream, own);
  });
}

function acknowledge(session: Session, { request, wanted, parts }: Listen): void {
  const uris = [...new Set([...parts.values()].flatMap((part) => part.uris))];
  const honored = [...wanted].filter((kind) =>
    session.upstreams.some((upstream) => declares(upstream, kind)),
  );
  const notifications: JsonObject = {
    ...Object.fromEntries(honored.map((kind) => [`${kind}ListChanged`, true])),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  };
  const params = { notifications, _meta: { [SUBSCRIPTION]: request.id } };
  session.toClient({
    message: notificationMessage(METHODS.acknowledged, params),
  });
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
