/** Lists of tools on their way to the client, and those that the proxy reads for itself. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { type AbortSource, createAbort, type OwnAbort } from '../../core/time/abort.ts';
import type { Catalog } from './catalog.ts';
import type { IncomingRequest } from './link.ts';
import { pendingRequests } from '../../system/pending-requests.ts';
import type { Outgoing } from '../outgoing.ts';
import { CODES, errorMessage, METHODS, type RequestId, type WireMessage } from '../wire.ts';

export interface Lists {
  /**
   * Answers a request of the client's for a page of the list. It goes to the server under an id of
   * ours: by an id that a client uses twice, a list could be taken for something that is only
   * forwarded.
   */
  serve(request: IncomingRequest, respond: (message: WireMessage) => void): Promise<void>;
  /** Aborts the list request with this id; `false` where none is open. */
  cancel(id: RequestId): boolean;
  /**
   * Reads the list where it is not known, or may have changed, until it is the newest; `null` where
   * it need not. `meta` is that of the request it is needed for.
   */
  ensure(meta: JsonObject, abort: AbortSource): Promise<void> | null;
}

/** The most readings in a row of a list that the server says has changed each time. */
const MAX_READINGS = 8;

/** The most pages that are read of one list. */
const MAX_PAGES = 200;

const ENVELOPE = 'io.modelcontextprotocol/';

export function createLists(catalog: Catalog, server: Outgoing): Lists {
  const open = pendingRequests<OwnAbort>();
  let reading: Promise<void> | null = null;

  const readUntilCurrent = async (meta: JsonObject, abort: AbortSource): Promise<void> => {
    for (let readings = 0; !catalog.isCurrent; readings += 1) {
      if (readings === MAX_READINGS)
        throw new Error('the list of tools changes faster than it can be read');
      reading ??= readAll(catalog, server, meta).finally(() => (reading = null));
      await Promise.race([reading, aborted(abort)]);
    }
  };

  return {
    async serve(request, respond) {
      const { id, params } = request;
      const abort = createAbort();
      const asOf = catalog.expiries;
      open.add(id, abort);
      try {
        const answer = await server.request(METHODS.listTools, params, { abort });
        const result = isObject(answer.result)
          ? { result: shownPage(catalog, request, answer.result, asOf) }
          : {};
        respond({ ...answer, ...result, id });
      } catch {
        if (!abort.isAborted()) respond(errorMessage(id, CODES.internal, 'the server is gone'));
      } finally {
        open.take(id);
      }
    },
    cancel(id) {
      const asked = open.get(id);
      asked?.abort();
      return asked !== undefined;
    },
    ensure(meta, abort) {
      return catalog.isCurrent ? null : readUntilCurrent(meta, abort);
    },
  };
}

/** Gives the whole list to the catalog, or as much of it as `MAX_PAGES` hold. */
async function readAll(catalog: Catalog, server: Outgoing, meta: JsonObject): Promise<void> {
  const abort = createAbort();
  const asOf = catalog.expiries;
  // Only the protocol members of `_meta`: its progress token belongs to the request it came with.
  const envelope = Object.fromEntries(
    Object.entries(meta).filter(([name]) => name.startsWith(ENVELOPE)),
  );
  const _meta = Object.keys(envelope).length === 0 ? {} : { _meta: envelope };
  const pages: JsonValue[] = [];
  let cursor: JsonValue | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = { ...(cursor === undefined ? {} : { cursor }), ..._meta };
    const message = await server.request(METHODS.listTools, params, { abort });
    if (!isObject(message.result)) throw new Error('the server did not answer with a list');
    pages.push(...toolsIn(message.result));
    cursor = message.result.nextCursor;
    if (typeof cursor !== 'string') break;
  }
  catalog.take(pages, { isFirst: true, isLast: true, asOf });
}

/** The result of a page as the client is to see it, once the catalog has it. */
function shownPage(
  catalog: Catalog,
  { params, modernVersion }: IncomingRequest,
  result: JsonObject,
  asOf: number,
): JsonObject {
  const page = toolsIn(result);
  catalog.take(page, {
    isFirst: params.cursor === undefined,
    isLast: typeof result.nextCursor !== 'string',
    asOf,
  });
  // Layers may show other tools without a change at the server, so a client must not cache the
  // page.
  const fresh = modernVersion === null ? {} : { ttlMs: 0, cacheScope: 'private' };
  return { ...result, tools: catalog.shown(page), ...fresh };
}

const toolsIn = ({ tools }: JsonObject): readonly JsonValue[] =>
  Array.isArray(tools) ? (tools as readonly JsonValue[]) : [];

const aborted = (abort: AbortSource): Promise<never> =>
  new Promise((_, reject) => void abort.follow(() => reject(new Error('aborted'))));
