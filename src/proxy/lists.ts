/** Lists of tools on their way to the client, and those that the proxy reads for itself. */

import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { type AbortSource, createAbort, type OwnAbort } from '../core/signal.ts';
import type { Catalog } from './catalog.ts';
import type { Outgoing } from './outgoing.ts';
import {
  CODES,
  errorMessage,
  idKey,
  modernVersionOf,
  objectAt,
  paramsOf,
  type RequestId,
  type WireMessage,
} from './wire.ts';

export interface Lists {
  /**
   * Answers a request of the client's for a page of the list. It goes to the server under an id of ours: by an id that a client uses twice,
   * a list could be taken for something that is only forwarded.
   */
  serve(message: WireMessage, respond: (message: WireMessage) => void): Promise<void>;
  /** Whether the request that was taken back is one of these. */
  cancel(id: RequestId): boolean;
  /** Reads the list where it is not known, or may have changed, until it is the newest; `null` where it need not. `meta` is that of the request it is needed for. */
  ensure(meta: JsonObject, abort: AbortSource): Promise<void> | null;
}

/** A server that says so every time its list is read does not want it read. */
const MAX_READINGS = 8;

/** A server whose list never ends is not read to the end. */
const MAX_PAGES = 200;

const ENVELOPE = 'io.modelcontextprotocol/';

export function createLists(catalog: Catalog, server: Outgoing): Lists {
  const open = new Map<string, OwnAbort>();
  let reading: Promise<void> | null = null;

  const readAll = async (meta: JsonObject): Promise<void> => {
    const abort = createAbort();
    const asOf = catalog.expiries;
    // What a request says of its protocol, and nothing of what it was about.
    const envelope = Object.fromEntries(
      Object.entries(meta).filter(([name]) => name.startsWith(ENVELOPE)),
    );
    const _meta = Object.keys(envelope).length === 0 ? {} : { _meta: envelope };
    const pages: JsonValue[] = [];
    let cursor: JsonValue | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const message = await server.request(
        'tools/list',
        { ...(cursor === undefined ? {} : { cursor }), ..._meta },
        { abort },
      );
      if (!isObject(message.result)) throw new Error('the server did not answer with a list');
      pages.push(...toolsIn(message.result));
      cursor = message.result.nextCursor;
      if (typeof cursor !== 'string') break;
    }
    catalog.take(pages, { isFirst: true, isLast: true, asOf });
  };

  const readUntilCurrent = async (meta: JsonObject, abort: AbortSource): Promise<void> => {
    for (let readings = 0; !catalog.isCurrent; readings += 1) {
      if (readings === MAX_READINGS)
        throw new Error('the list of tools changes faster than it can be read');
      reading ??= readAll(meta).finally(() => (reading = null));
      await Promise.race([reading, aborted(abort)]);
    }
  };

  const shownPage = (asked: WireMessage, answer: WireMessage, asOf: number): WireMessage => {
    const result = objectAt(answer, 'result');
    const page = toolsIn(result);
    catalog.take(page, {
      isFirst: paramsOf(asked).cursor === undefined,
      isLast: typeof result.nextCursor !== 'string',
      asOf,
    });
    // What layers show may change without the server's doing, so nobody may keep it.
    const fresh = modernVersionOf(asked) === null ? {} : { ttlMs: 0, cacheScope: 'private' };
    return { ...answer, result: { ...result, tools: catalog.shown(page), ...fresh } };
  };

  return {
    async serve(message, respond) {
      const id = message.id as RequestId; // It was seen to be a request.
      const abort = createAbort();
      const asOf = catalog.expiries;
      open.set(idKey(id), abort);
      try {
        const answer = await server.request('tools/list', paramsOf(message), { abort });
        respond({ ...(isObject(answer.result) ? shownPage(message, answer, asOf) : answer), id });
      } catch {
        if (!abort.isAborted()) respond(errorMessage(id, CODES.internal, 'the server is gone'));
      } finally {
        open.delete(idKey(id));
      }
    },
    cancel(id) {
      const asked = open.get(idKey(id));
      asked?.abort();
      return asked !== undefined;
    },
    ensure(meta, abort) {
      return catalog.isCurrent ? null : readUntilCurrent(meta, abort);
    },
  };
}

const toolsIn = ({ tools }: JsonObject): readonly JsonValue[] =>
  Array.isArray(tools) ? (tools as readonly JsonValue[]) : [];

const aborted = (abort: AbortSource): Promise<never> =>
  new Promise((_, reject) => void abort.follow(() => reject(new Error('aborted'))));
