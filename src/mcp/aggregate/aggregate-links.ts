/**
 * Several servers behind one link: to the client they are one, with names that say whose each tool
 * is.
 */

import { type Clock, systemClock } from '../../core/time/clock.ts';
import { oneLine } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { ownVersion } from '../../system/own-package.ts';
import type { Frame, Link, LinkHandlers, ServersBehind } from '../proxy/link.ts';
import {
  CODES,
  errorMessage,
  isRequestId,
  kindOf,
  methodOf,
  METHODS,
  notificationMessage,
  paramsOf,
  type RequestId,
} from '../wire.ts';
import { clientRequests } from './client-requests.ts';
import { drainGate, standingWatch } from './standing-watch.ts';
import { changedBy, changedMethod, listChanges, type ListChanges } from './list-changes.ts';
import { createListens, type Listens } from './listens.ts';
import { createLists, type Lists } from './lists.ts';
import { CHANGING } from './merge.ts';
import { createMethods } from './methods.ts';
import { checkUpstreams, splitName, type UpstreamSpec } from './names.ts';
import { createResources } from './resources.ts';
import { reverseRequests, type ReverseRequests } from './reverse-requests.ts';
import { declares, isReady, type Session } from './session.ts';
import { createUpstream, type Upstream, type UpstreamHost } from './upstream.ts';

export type { UpstreamSpec } from './names.ts';

export interface AggregateOptions {
  /** Told what was left out, dropped or lost, without its content. */
  readonly report: (problem: string) => void;
  /** How long a server is waited for before the others go on without it. @default 5000 */
  readonly slowMs?: number;
  /** @default the system's */
  readonly clock?: Clock;
  /** What the client is told beside the name `allium`. @default the version of this package */
  readonly version?: string;
}

export interface AggregateLink extends Link {
  /**
   * The name of the server that a tool or prompt belongs to, by the name the client uses; `null`
   * for a tool of no server.
   */
  serverOf(name: string): string | null;
}

/**
 * Opens the servers when the client opens, greets each as the client greeted, and answers as one.
 * Tools and prompts are called `<prefix>_<name>`; resources keep their URIs. Does not translate
 * between the eras of the protocol: a server that does not speak the client's is left out. A server
 * that is lost is opened again when something of it is needed.
 */
export function aggregateLinks(
  upstreams: readonly UpstreamSpec[],
  options: AggregateOptions,
): AggregateLink {
  checkOptions('aggregateLinks', options, {
    report: expected.required(expected.function),
    slowMs: expected.integer(1),
    clock: expected.object,
    version: expected.string,
  });
  checkUpstreams(upstreams);
  const { clock = systemClock, slowMs = 5000, report, version = ownVersion() } = options;
  const gate = drainGate(clock, slowMs);
  const watch = standingWatch(clock);
  const opened: Upstream[] = [];
  let client: LinkHandlers | null = null;
  const session: Session = {
    upstreams: opened,
    clock,
    slowMs,
    watch,
    serverInfo: { name: 'allium', version },
    report,
    toClient: (frame) => client?.onFrame(frame),
    opening: null,
    isGreeted: false,
  };
  const toolsChanged = new Set<() => void>();
  const parts = assemble(session, () => toolsChanged.forEach((listener) => listener()));
  for (const [index, spec] of upstreams.entries()) {
    opened.push(createUpstream(spec, index, hostOf(session, parts, gate.congested)));
  }

  return {
    transport: 'pipe',
    async start(handlers) {
      client = handlers;
    },
    send(frame) {
      if (client !== null) fromClient(session, parts, frame);
      return gate.isOpen();
    },
    onDrain: (listener) => gate.onDrain(listener),
    pause: () => opened.forEach((upstream) => upstream.pause()),
    resume: () => opened.forEach((upstream) => upstream.resume()),
    async close() {
      const handlers = client;
      client = null;
      watch.close();
      gate.close();
      parts.changes.close();
      await Promise.all(opened.map((upstream) => upstream.close()));
      handlers?.onClose('closed');
    },
    serverOf: (name) => splitName(opened, name)?.upstream.name ?? null,
    behind: behindOf(opened, toolsChanged),
  };
}

/** What becomes of the servers, for what no message tells. */
const behindOf = (
  upstreams: readonly Upstream[],
  toolsChanged: Set<() => void>,
): ServersBehind => ({
  onToolsChanged: (listener) => void toolsChanged.add(listener),
  isThere(name) {
    const target = splitName(upstreams, name);
    return target === null || isReady(target.upstream);
  },
  async open(name) {
    await splitName(upstreams, name)?.upstream.available();
  },
});

type Assembled = ReturnType<typeof assemble>;

function assemble(session: Session, onToolsChanged: () => void) {
  const changes = listChanges(session.clock, (kind) => {
    if (!session.isGreeted) return;
    if (session.opening?.era === 'modern') listens.changed(kind);
    else session.toClient({ message: notificationMessage(changedMethod(kind), {}) });
  });
  const lists = createLists(session, {
    onLate: changes.changed,
    onStale: (kind) => {
      if (kind === 'tools') onToolsChanged();
    },
  });
  const resources = createResources(session, lists);
  const listens = createListens(session, resources);
  return {
    changes,
    lists,
    resources,
    listens,
    methods: createMethods(session, { lists, resources, listens }),
    requests: clientRequests(session),
    reverse: reverseRequests(session),
    /** The client's `notifications/initialized`, for those that come later. */
    initialized: { frame: null as Frame | null },
  };
}

function hostOf(
  session: Session,
  parts: Assembled,
  onCongestion: UpstreamHost['onCongestion'],
): UpstreamHost {
  const { clock, slowMs, watch, report } = session;
  return {
    clock,
    slowMs,
    watch,
    report,
    onCongestion,
    opening: () => session.opening,
    onRequest: parts.reverse.fromUpstream,
    onNotification: (upstream, frame) => tellClient(session, parts, upstream, frame),
    onGone: parts.reverse.gone,
    onReady: (upstream) => join(session, parts, upstream),
  };
}

/**
 * A server that comes late or again is brought to where the others are, and the client is told to
 * look again.
 */
function join(
  session: Session,
  { initialized, lists, changes, resources, listens, methods }: Assembled,
  upstream: Upstream,
): void {
  for (const kind of CHANGING) lists.forget(upstream, kind);
  if (initialized.frame !== null) upstream.send(initialized.frame);
  if (!session.isGreeted) return;
  methods.joined(upstream);
  resources.resubscribe(upstream);
  listens.joined(upstream);
  for (const kind of CHANGING) if (declares(upstream, kind)) changes.changed(kind);
}

function fromClient(session: Session, parts: Assembled, frame: Frame): void {
  const kind = kindOf(frame.message);
  if (kind === 'response') return parts.reverse.answered(frame);
  if (kind === 'notification') return fromClientUnasked(session, parts, frame);
  if (kind === null) return session.report('the client sent something that is no message');
  const request = parts.requests.open(frame);
  if (request !== null) return parts.methods.handle(request);
  session.report('the client used an id that is still open');
  // It has just been seen to be a request, and those have an id.
  session.toClient({
    message: errorMessage(frame.message.id as RequestId, CODES.invalidRequest, 'this id is in use'),
  });
}

function fromClientUnasked(
  session: Session,
  { requests, reverse, methods, initialized }: Assembled,
  frame: Frame,
): void {
  const method = methodOf(frame.message);
  const ready = session.upstreams.filter(isReady);
  switch (method) {
    case METHODS.cancelled:
      return requests.cancel(frame.message);
    case METHODS.progress:
      return reverse.progressed(frame);
    case METHODS.initialized:
      initialized.frame = frame;
      return ready.forEach((upstream) => upstream.send(frame));
    case METHODS.rootsChanged:
      return ready.forEach((upstream) => upstream.send(frame));
    default: {
      const owner = methods.ownerOf(method.replace(/^notifications\//, ''));
      if (owner === null)
        session.report(`the client sent ${oneLine(method)}, which belongs to no single server`);
      else owner.send(frame);
    }
  }
}

interface Tellers {
  readonly lists: Lists;
  readonly listens: Listens;
  readonly changes: ListChanges;
  readonly reverse: ReverseRequests;
}

/**
 * Everything is given on as it came, but for what would not be true any more on the client's side.
 */
function tellClient(
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
    case METHODS.progress: {
      const { progressToken } = paramsOf(message);
      // Of another server's request it could not know anything.
      if (isRequestId(progressToken) && upstream.hasToken(progressToken)) session.toClient(frame);
      return;
    }
    case METHODS.logged:
      return session.toClient(withLogger(upstream, frame));
    case METHODS.cancelled:
      return reverse.cancelled(upstream, message);
    case METHODS.acknowledged:
      return listens.acknowledged(upstream, frame);
    case METHODS.resourceUpdated:
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
