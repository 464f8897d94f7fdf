/** `initialize` and `server/discover`: many servers are opened, and one answer is given. */

import type { JsonObject } from '../../core/json/json-value.ts';
import { oneLine } from '../../core/contract/errors.ts';
import { CODES, metaOf, modernVersionOf } from '../wire.ts';
import type { ClientRequest } from './client-requests.ts';
import { modernOpening } from './handshake.ts';
import {
  commonVersions,
  lowestVersion,
  mergeCapabilities,
  mergeInstructions,
  type Named,
} from './merge.ts';
import { isReady, type Session } from './session.ts';

const isOpening = ({ upstreams }: Session): boolean =>
  upstreams.some((upstream) => upstream.standing().is === 'opening');
const isAnyReady = ({ upstreams }: Session): boolean => upstreams.some(isReady);

/**
 * Answers as soon as all have answered; after `slowMs` with those that have, and where that is
 * nobody, with the first that does. Those that come later are announced then.
 */
export async function initialize(session: Session, request: ClientRequest): Promise<void> {
  if (session.isGreeted && session.opening?.era === 'legacy')
    return request.error(CODES.invalidRequest, 'this connection is initialized');
  session.opening = { era: 'legacy', params: request.params };
  session.isGreeted = false;
  for (const upstream of session.upstreams) upstream.greet();
  await session.watch.until(
    (isLate) => !isOpening(session) || (isLate && isAnyReady(session)),
    session.slowMs,
  );
  const servers = readyServers(session);
  if (servers.length === 0) return request.error(CODES.internal, nobodyText(session));
  reportMissing(session);
  session.isGreeted = true;
  request.result({
    protocolVersion: lowestVersion(servers.map(({ account }) => account)),
    serverInfo: session.serverInfo,
    ...described(session, servers),
  });
}

/**
 * One connection has one era. Where any server knows only the handshake the answer is that there is
 * no `server/discover`: a client that speaks both shakes hands then, and gets all servers instead
 * of some.
 */
export async function discover(session: Session, request: ClientRequest): Promise<void> {
  const version = modernVersionOf(request.frame.message);
  if (version === null)
    return request.error(
      CODES.invalidParams,
      'server/discover needs the revision of the client in _meta',
    );
  if (session.opening?.era === 'legacy')
    return request.error(CODES.noMethod, 'this connection was initialized');
  const opening = modernOpening(version, metaOf(request.frame.message));
  session.opening = opening;
  session.isGreeted = false;
  for (const upstream of session.upstreams) upstream.greet();
  await session.watch.until(
    (isLate) => isAnyLegacy(session) || !isOpening(session) || (isLate && isAnyReady(session)),
    session.slowMs,
  );
  const servers = readyServers(session);
  // The client did not wait for the answer.
  if (session.opening !== opening)
    return request.error(CODES.noMethod, 'this connection was opened anew');
  if (isAnyLegacy(session))
    return request.error(CODES.noMethod, 'not every server here knows server/discover');
  if (servers.length === 0) return refuseVersion(session, request, version);
  reportMissing(session);
  session.isGreeted = true;
  request.result({
    supportedVersions: commonVersions(servers.map(({ account }) => account)),
    ...described(session, servers),
    ttlMs: 0,
    cacheScope: 'private',
  });
}

/** A client may begin with any request: each says what `server/discover` would have said. */
export function openModern(session: Session, request: ClientRequest): boolean {
  if (session.opening !== null) return true;
  const version = modernVersionOf(request.frame.message);
  if (version === null) return false;
  session.opening = modernOpening(version, metaOf(request.frame.message));
  session.isGreeted = true;
  for (const upstream of session.upstreams) upstream.greet();
  return true;
}

const isAnyLegacy = ({ upstreams }: Session): boolean =>
  upstreams.some((upstream) => {
    const standing = upstream.standing();
    return standing.is === 'other_era' && standing.versions.length === 0;
  });

function described(session: Session, servers: readonly Named[]): JsonObject {
  const instructions = mergeInstructions(servers);
  return {
    capabilities: mergeCapabilities(
      servers.map(({ account }) => account),
      servers.length < session.upstreams.length,
    ),
    ...(instructions === '' ? {} : { instructions }),
  };
}

const readyServers = ({ upstreams }: Session): readonly Named[] =>
  upstreams.flatMap((upstream) => {
    const standing = upstream.standing();
    return standing.is === 'ready'
      ? [{ name: upstream.name, prefix: upstream.prefix, account: standing.account }]
      : [];
  });

function reportMissing({ upstreams, slowMs, report }: Session): void {
  const slow = upstreams.filter((upstream) => upstream.standing().is === 'opening');
  for (const { name } of slow)
    report(`server "${oneLine(name)}" has not answered within ${slowMs} ms, and joins later`);
}

function nobodyText({ upstreams }: Session): string {
  const reasons = upstreams.map((upstream) => {
    const standing = upstream.standing();
    return `${oneLine(upstream.name)}: ${'why' in standing ? oneLine(standing.why) : 'it has not answered'}`;
  });
  return `no server is there (${reasons.join('; ')})`;
}

const UNSUPPORTED_VERSION = -32_022;

/** A client that is told what is spoken here can choose again. */
function refuseVersion(session: Session, request: ClientRequest, requested: string): void {
  const offers = session.upstreams.flatMap((upstream) => {
    const standing = upstream.standing();
    return standing.is === 'other_era' ? [standing.versions] : [];
  });
  const supported = commonVersions(
    offers.map((versions) => ({ versions, capabilities: {}, instructions: '' })),
  );
  if (supported.length === 0) return request.error(CODES.internal, nobodyText(session));
  request.error(UNSUPPORTED_VERSION, 'no server here speaks this revision', {
    supported,
    requested,
  });
}
