/** Lists of tools on their way to the client, and those that the proxy reads for itself. */

import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';
import type { Catalog } from './catalog.ts';
import type { Outgoing } from './outgoing.ts';
import { idKey, modernVersionOf, objectAt, paramsOf, type RequestId, type WireMessage } from './wire.ts';

export interface Lists {
  /** A request of the client's for a page of the list, which is forwarded. */
  asked(message: WireMessage): void;
  /** The page as the client is to see it, where a message of the server is one; otherwise `null`. */
  answered(message: WireMessage): WireMessage | null;
  /** Reads the list where it is not known, or may have changed. `meta` is that of the request it is needed for. */
  ensure(meta: JsonObject, signal: AbortSignal): Promise<void>;
}

/** A server whose list never ends is not read to the end. */
const MAX_PAGES = 200;

const ENVELOPE = 'io.modelcontextprotocol/';

export function createLists(catalog: Catalog, server: Outgoing): Lists {
  const open = new Map<string, { readonly isFirst: boolean; readonly isModern: boolean }>();
  let reading: Promise<void> | null = null;

  const readAll = async (meta: JsonObject): Promise<void> => {
    const signal = new AbortController().signal;
    // What a request says of its protocol, and nothing of what it was about.
    const envelope = Object.fromEntries(Object.entries(meta).filter(([name]) => name.startsWith(ENVELOPE)));
    const _meta = Object.keys(envelope).length === 0 ? {} : { _meta: envelope };
    const pages: JsonValue[] = [];
    let cursor: JsonValue | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const message = await server.request('tools/list', { ...(cursor === undefined ? {} : { cursor }), ..._meta }, { signal });
      if (!isObject(message.result)) throw new Error('the server did not answer with a list');
      pages.push(...toolsIn(message.result));
      cursor = message.result.nextCursor;
      if (typeof cursor !== 'string') break;
    }
    catalog.take(pages, { isFirst: true, isLast: true });
  };

  return {
    asked(message) {
      // It was seen to be a request.
      const id = message.id as RequestId;
      open.set(idKey(id), { isFirst: paramsOf(message).cursor === undefined, isModern: modernVersionOf(message) !== null });
    },
    answered(message) {
      const asked = open.get(idKey(message.id as RequestId));
      if (asked === undefined) return null;
      open.delete(idKey(message.id as RequestId));
      if (!isObject(message.result)) return message;
      const result = objectAt(message, 'result');
      const page = toolsIn(result);
      catalog.take(page, { isFirst: asked.isFirst, isLast: typeof result.nextCursor !== 'string' });
      // What layers show may change without the server's doing, so nobody may keep it.
      const fresh = asked.isModern ? { ttlMs: 0, cacheScope: 'private' } : {};
      return { ...message, result: { ...result, tools: catalog.shown(page), ...fresh } };
    },
    ensure(meta, signal) {
      if (catalog.isCurrent) return Promise.resolve();
      reading ??= readAll(meta).finally(() => (reading = null));
      return Promise.race([reading, aborted(signal)]);
    },
  };
}

const toolsIn = ({ tools }: JsonObject): readonly JsonValue[] => (Array.isArray(tools) ? (tools as readonly JsonValue[]) : []);

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new Error('aborted'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
