/**
 * Resources keep their URIs, so whose they are has to be found out: listed, by template, or by
 * asking.
 */

import type { JsonObject } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import type { Frame } from '../proxy/link.ts';
import { CODES, METHODS, requestMessage } from '../wire.ts';
import { type ClientRequest, forward } from './client-requests.ts';
import type { Lists } from './lists.ts';
import { declares, type Session } from './session.ts';
import type { Upstream } from './upstream.ts';

export interface Resources {
  readonly read: (request: ClientRequest) => Promise<void>;
  readonly subscribe: (request: ClientRequest) => Promise<void>;
  readonly unsubscribe: (request: ClientRequest) => Promise<void>;
  /**
   * The server that a URI or a template belongs to, as far as that can be known without asking for
   * it.
   */
  ownerOf(request: ClientRequest, uri: string): Promise<Upstream | null>;
  /** Asks a server that was started anew for what the client still wants to be told. */
  resubscribe(upstream: Upstream): void;
}

const MAX_LEARNED = 10_000;

export function createResources(session: Session, lists: Lists): Resources {
  /** Owners that were found by asking, or that took a subscription. */
  const learned = new Map<string, Upstream>();
  const subscribed = new Map<string, Upstream>();
  const learn = (uri: string, upstream: Upstream): void => {
    learned.set(uri, upstream);
    for (const oldest of learned.size > MAX_LEARNED ? learned.keys() : [])
      return void learned.delete(oldest);
  };
  const ownerOf = async (request: ClientRequest, uri: string): Promise<Upstream | null> =>
    learned.get(uri) ??
    (await listedBy(session, lists, request, uri)) ??
    (await templateOf(session, lists, request, uri));
  const route = async (
    request: ClientRequest,
    part: string | undefined,
    onOwner: (uri: string, upstream: Upstream) => void,
  ): Promise<void> => {
    const { uri } = request.params;
    if (typeof uri !== 'string')
      return request.error(CODES.invalidParams, 'a resource needs a uri');
    const owner = await ownerOf(request, uri);
    if (owner !== null)
      return forward(request, owner, [], (answer) => {
        if (isResult(answer)) onOwner(uri, owner);
      });
    await askInOrder(session, request, part, (upstream) => onOwner(uri, upstream));
  };

  return {
    read: (request) => route(request, undefined, learn),
    subscribe: (request) =>
      route(request, 'subscribe', (uri, upstream) => {
        learn(uri, upstream);
        if (subscribed.size < MAX_LEARNED) subscribed.set(uri, upstream);
      }),
    unsubscribe: (request) => route(request, 'subscribe', (uri) => void subscribed.delete(uri)),
    ownerOf,
    resubscribe(upstream) {
      for (const [uri, owner] of subscribed) {
        if (owner === upstream)
          upstream.request(
            { message: requestMessage(0, METHODS.subscribe, { uri }) },
            [],
            () => {},
          );
      }
    },
  };
}

const isResult = ({ message }: Frame): boolean => isObject(message.result);

const withResources = ({ upstreams }: Session): readonly Upstream[] =>
  upstreams.filter((upstream) => declares(upstream, 'resources'));

async function listedBy(
  session: Session,
  lists: Lists,
  request: ClientRequest,
  uri: string,
): Promise<Upstream | null> {
  const known = await Promise.all(
    session.upstreams.map((upstream) => lists.known(request, upstream, 'resources')),
  );
  const at = known.findIndex((items) => items.some((item) => item.uri === uri));
  return session.upstreams[at] ?? null;
}

async function templateOf(
  session: Session,
  lists: Lists,
  request: ClientRequest,
  uri: string,
): Promise<Upstream | null> {
  const known = await Promise.all(
    session.upstreams.map((upstream) => lists.known(request, upstream, 'templates')),
  );
  const fits = known.flatMap((items, index) =>
    items.map((item) => ({ index, fit: templateFit(item, uri) })),
  );
  // The more of it is spelt out, the more certain. Sorting keeps the order of servers where that is
  // equal.
  const [best] = fits.filter(({ fit }) => fit > 0).sort((a, b) => b.fit - a.fit);
  return session.upstreams[best?.index ?? -1] ?? null;
}

/**
 * How many characters of a URI are spelt out in a template that it fits, or 0. What stands in
 * braces may be anything, also nothing. Goes through the URI once: a pattern made of a foreign
 * template could take forever.
 */
export function templateFit({ uriTemplate }: JsonObject, uri: string): number {
  if (typeof uriTemplate !== 'string') return 0;
  // A completion names the template itself.
  if (uriTemplate === uri) return uri.length + 1;
  const [head = '', ...rest] = uriTemplate.split(/\{[^{}]*\}/);
  const tail = rest.pop();
  if (tail === undefined || !uri.startsWith(head)) return 0;
  let at = head.length;
  for (const literal of rest) {
    const found = uri.indexOf(literal, at);
    if (found === -1) return 0;
    at = found + literal.length;
  }
  const spelt = head.length + tail.length + rest.reduce((sum, literal) => sum + literal.length, 0);
  return uri.endsWith(tail) && uri.length - tail.length >= at ? spelt : 0;
}

/**
 * One after the other, until one answers without an error; the first error is the answer where none
 * does.
 */
async function askInOrder(
  session: Session,
  request: ClientRequest,
  part: string | undefined,
  onOwner: (upstream: Upstream) => void,
): Promise<void> {
  let refusal: Frame | null = null;
  for (const upstream of withResources(session)) {
    if (request.isOver()) return;
    if (part !== undefined && !declares(upstream, 'resources', part)) continue;
    const answer = await new Promise<Frame | null>((resolve) =>
      request.ask(upstream, request.frame, [], resolve),
    );
    if (answer !== null && isResult(answer)) {
      onOwner(upstream);
      return request.pass(answer);
    }
    refusal ??= answer;
  }
  if (refusal !== null) request.pass(refusal);
  else request.error(CODES.invalidParams, 'no server here has this resource');
}
