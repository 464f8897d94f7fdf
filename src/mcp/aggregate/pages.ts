/** A merged list in pages that fit into one message. */

import { isObject } from '../../core/json/json.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { Frame } from '../proxy/link.ts';
import { metaOf, paramsOf, requestMessage } from '../wire.ts';
import type { ClientRequest } from './client-requests.ts';
import type { Upstream } from './upstream.ts';

const MAX_PAGE_ITEMS = 1000;
/** Far below what a line may have. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

export interface Page {
  readonly items: readonly JsonObject[];
  readonly nextCursor?: string;
}

export interface Pager {
  first(items: readonly JsonObject[]): Page;
  /** `null` for a cursor that is not of the list that was read last. */
  next(cursor: string): Page | null;
}

/**
 * Keeps the list that is being read, so that its pages belong together. A list that is begun anew
 * ends the one before.
 */
export function pager(): Pager {
  let edition = 0;
  let list: readonly JsonObject[] = [];
  const pageAt = (start: number): Page => {
    const end = endOfPage(list, start);
    const items = list.slice(start, end);
    if (end < list.length) return { items, nextCursor: `${edition}.${end}` };
    return { items };
  };
  return {
    first(items) {
      edition += 1;
      list = items;
      return pageAt(0);
    },
    next(cursor) {
      const [, of, start] = /^(\d{1,9})\.(\d{1,9})$/.exec(cursor) ?? [];
      return Number(of) === edition && Number(start) < list.length ? pageAt(Number(start)) : null;
    },
  };
}

function endOfPage(list: readonly JsonObject[], start: number): number {
  let bytes = 0;
  let end = start;
  while (end < list.length && end - start < MAX_PAGE_ITEMS) {
    bytes += Buffer.byteLength(JSON.stringify(list[end]));
    // One that is larger than a page came in one message, so it fits into one.
    if (bytes > MAX_PAGE_BYTES && end > start) break;
    end += 1;
  }
  return end;
}

export interface ListKind {
  readonly method: string;
  /** Where the items are in a result. */
  readonly member: string;
  readonly capability: 'tools' | 'prompts' | 'resources';
}

const MAX_PAGES = 100;
const MAX_ITEMS = 10_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** A list, or why there is none. */
export type Collected =
  | { readonly items: readonly JsonObject[]; readonly isCut: boolean }
  | { readonly problem: string };

/**
 * Asks in the name of a request of the client, with what that says about the client and without
 * what belongs to it alone.
 */
export async function collectPages(
  request: ClientRequest,
  upstream: Upstream,
  kind: ListKind,
): Promise<Collected> {
  const items: JsonObject[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let size = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await ask(request, upstream, kind, cursor);
    if (answer === null) return { problem: 'it is gone' };
    const { result } = answer.message;
    const found =
      isObject(result) && Object.hasOwn(result, kind.member) ? result[kind.member] : undefined;
    if (!isObject(result) || !Array.isArray(found))
      return { problem: 'it answered without a list' };
    for (const item of found as readonly unknown[])
      if (isObject(item)) items.push(item as JsonObject); // It was parsed from JSON.
    size += JSON.stringify(found).length;
    const next = result.nextCursor;
    if (typeof next !== 'string' || next === '')
      return { items: items.slice(0, MAX_ITEMS), isCut: items.length > MAX_ITEMS };
    if (cursors.has(next) || items.length > MAX_ITEMS || size > MAX_CHARACTERS) break;
    cursors.add(next);
    cursor = next;
  }
  return { items: items.slice(0, MAX_ITEMS), isCut: true };
}

function ask(
  request: ClientRequest,
  upstream: Upstream,
  { method }: ListKind,
  cursor: string | undefined,
): Promise<Frame | null> {
  const { message } = request.frame;
  // Only a list is asked as the client asked it; looking for a resource is our own idea.
  const { cursor: _cursor, _meta, ...rest } = request.method === method ? paramsOf(message) : {};
  const { progressToken: _token, ...meta } = metaOf(message);
  const params = {
    ...rest,
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  return new Promise((resolve) => {
    request.ask(upstream, { message: requestMessage(0, method, params) }, [], resolve);
  });
}
