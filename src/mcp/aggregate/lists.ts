/**
 * The lists of all servers as one. One that is slow or fails is left out, and never the whole list.
 */

import { oneLine } from '../../core/contract/errors.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { CODES, METHODS } from '../wire.ts';
import type { ClientRequest } from './client-requests.ts';
import {
  type Collected,
  collectPages,
  type ListKind,
  type Page,
  type Pager,
  pager,
} from './pages.ts';
import type { Changing } from './merge.ts';
import { exposeNames } from './names.ts';
import { declares, type Session } from './session.ts';
import type { Upstream } from './upstream.ts';

export const LISTS = Object.freeze({
  tools: { method: METHODS.listTools, member: 'tools', capability: 'tools' },
  prompts: { method: METHODS.listPrompts, member: 'prompts', capability: 'prompts' },
  resources: { method: METHODS.listResources, member: 'resources', capability: 'resources' },
  templates: {
    method: METHODS.listTemplates,
    member: 'resourceTemplates',
    capability: 'resources',
  },
} satisfies Record<string, ListKind>);

export type ListName = keyof typeof LISTS;

/** What is known of one list of one server. */
interface Listing {
  /** As it was read last; `null` before, and after the server said that it changed. */
  items: readonly JsonObject[] | null;
  /** What the client was shown of it, also where it has changed since. */
  shown: readonly JsonObject[];
  refused: ReadonlySet<string>;
  /** A list that is late is waited for, not asked for again. */
  overdueSince: number | null;
}

export interface Lists {
  /** Answers the client's request for a list. */
  answer(request: ClientRequest, name: ListName): Promise<void>;
  /** The list of one server, read now where it is not known. Empty where it cannot be read. */
  known(request: ClientRequest, upstream: Upstream, name: ListName): Promise<readonly JsonObject[]>;
  /** A name that was left out must not be called either. */
  isRefused(upstream: Upstream, name: ListName, own: string): boolean;
  /** What was read of this server is not so any more. */
  forget(upstream: Upstream, kind: Changing): void;
}

const OVERDUE_MS = 60_000;

export interface ListEvents {
  /** A list has arrived that was left out. */
  readonly onLate: (kind: Changing) => void;
  /** What was answered with a list may not be so any more. Told at once, and every time. */
  readonly onStale: (kind: Changing) => void;
}

export function createLists(session: Session, { onLate, onStale }: ListEvents): Lists {
  const listings = new Map<string, Listing>();
  const pagers = { tools: pager(), prompts: pager(), resources: pager(), templates: pager() };
  const listingOf = (upstream: Upstream, name: ListName): Listing => {
    const key = `${name} ${upstream.index}`;
    const listing = listings.get(key) ?? unreadListing();
    listings.set(key, listing);
    return listing;
  };
  const read = (
    request: ClientRequest,
    upstream: Upstream,
    name: ListName,
  ): Promise<readonly JsonObject[]> =>
    readList(session, request, upstream, name, listingOf(upstream, name), (kind) => {
      onStale(kind);
      onLate(kind);
    });

  const merged = async (request: ClientRequest, name: ListName): Promise<readonly JsonObject[]> => {
    const parts = await Promise.all(
      session.upstreams.map((upstream) => read(request, upstream, name)),
    );
    return name === 'tools' || name === 'prompts' ? parts.flat() : distinct(session, name, parts);
  };

  return {
    async answer(request, name) {
      const { cursor } = request.params;
      const page =
        cursor === undefined
          ? pagers[name].first(await merged(request, name))
          : nextPage(pagers[name], cursor);
      if (page === null)
        return request.error(
          CODES.invalidParams,
          'this cursor is not of a list that is being read; begin again without one',
        );
      const { items, nextCursor } = page;
      const fields = {
        [LISTS[name].member]: items,
        ...(nextCursor === undefined ? {} : { nextCursor }),
      };
      request.result(
        session.opening?.era === 'modern' ? { ...fields, ttlMs: 0, cacheScope: 'private' } : fields,
      );
    },
    async known(request, upstream, name) {
      return listingOf(upstream, name).items ?? (await read(request, upstream, name));
    },
    isRefused: (upstream, name, own) => listingOf(upstream, name).refused.has(own),
    forget(upstream, kind) {
      for (const name of kind === 'resources' ? (['resources', 'templates'] as const) : [kind])
        listingOf(upstream, name).items = null;
      onStale(kind);
    },
  };
}

const unreadListing = (): Listing => ({
  items: null,
  shown: [],
  refused: new Set(),
  overdueSince: null,
});

const nextPage = (list: Pager, cursor: JsonValue): Page | null =>
  typeof cursor === 'string' ? list.next(cursor) : null;

async function readList(
  session: Session,
  request: ClientRequest,
  upstream: Upstream,
  name: ListName,
  listing: Listing,
  onLate: (kind: Changing) => void,
): Promise<readonly JsonObject[]> {
  const { clock, watch, slowMs } = session;
  const { capability } = LISTS[name];
  const leftOut = (why: string): void =>
    session.report(`server "${oneLine(upstream.name)}" is left out of a list of ${name}: ${why}`);
  if (!(await upstream.available())) {
    if (upstream.standing().is !== 'other_era') leftOut('it is not there');
    return [];
  }
  if (!declares(upstream, capability)) return [];
  if (listing.overdueSince !== null && clock.monotonic() - listing.overdueSince < OVERDUE_MS)
    return listing.shown;

  let collected: Collected | null = null;
  const collecting = collectPages(request, upstream, LISTS[name]).then((got) => {
    collected = got;
    watch.changed();
    return got;
  });
  await watch.until((isLate) => isLate || collected !== null || request.isOver(), slowMs);
  if (collected !== null) return settle(session, upstream, name, listing, collected);
  // Whoever cancelled has cancelled it there too: nothing will come that is worth waiting for.
  if (request.isOver()) return [];
  leftOut(`it has not answered within ${slowMs} ms`);
  listing.overdueSince = clock.monotonic();
  void collecting.then((late) => {
    const before = JSON.stringify(listing.shown);
    listing.overdueSince = null;
    const items = settle(session, upstream, name, listing, late);
    // Said only where it makes a difference: whoever is told asks again, and may be kept waiting
    // again.
    if (JSON.stringify(items) !== before) onLate(capability);
  });
  return listing.shown;
}

function settle(
  session: Session,
  upstream: Upstream,
  name: ListName,
  listing: Listing,
  collected: Collected,
): readonly JsonObject[] {
  const complain = (problem: string): void =>
    session.report(`server "${oneLine(upstream.name)}", list of ${name}: ${problem}`);
  if ('problem' in collected) {
    complain(collected.problem);
    listing.shown = [];
    return [];
  }
  if (collected.isCut) complain('it is too long, and was cut');
  const isNamed = name === 'tools' || name === 'prompts';
  const { items, refused, problems } = isNamed
    ? exposeNames(upstream.prefix, collected.items)
    : { items: collected.items, refused: new Set<string>(), problems: [] };
  for (const problem of problems.slice(0, MAX_REPORTED))
    complain(`${oneLine(problem)}; it is left out`);
  if (problems.length > MAX_REPORTED)
    complain(`${problems.length - MAX_REPORTED} more are left out`);
  Object.assign(listing, { items, refused, shown: items });
  return items;
}

const MAX_REPORTED = 5;

/** A resource belongs to the first that lists it. */
function distinct(
  session: Session,
  name: 'resources' | 'templates',
  parts: readonly (readonly JsonObject[])[],
): readonly JsonObject[] {
  const seen = new Set<unknown>();
  const items = parts.flat().filter((item) => {
    const key = name === 'resources' ? item.uri : item.uriTemplate;
    return !seen.has(key) && seen.add(key);
  });
  const dropped = parts.flat().length - items.length;
  if (dropped > 0)
    session.report(`${dropped} of the ${name} are listed by two servers; the first keeps them`);
  return items;
}
