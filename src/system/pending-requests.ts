/** Requests that are open: each is answered once, whatever the other side does. */

/** `1` and `"1"` are two ids. */
type RequestId = string | number;

/** What is kept of each request is its owner's business. */
export interface PendingRequests<Request> {
  add(id: RequestId, request: Request): void;
  /** `undefined` for everything that is not the id of an open request. */
  get(id: unknown): Request | undefined;
  /**
   * The request that an answer with this id belongs to. Not open any more from then on: a second
   * answer belongs to nothing.
   */
  take(id: unknown): Request | undefined;
  /** All that are open, in the order they were added: no answer will come any more. */
  takeAll(): readonly Request[];
  /** Those that are open, in the order they were added. */
  all(): readonly Request[];
  readonly size: number;
}

/**
 * Keeps no request for longer than it is open, and sets no bound on how many are. Each is held in a
 * box that is emptied: a `Map` that grows leaves its old table behind, which holds what was in it,
 * and the table that came after it, until the next collection of everything.
 */
export function pendingRequests<Request>(): PendingRequests<Request> {
  const open = new Map<unknown, { request: Request | undefined }>();
  const all = (): readonly Request[] =>
    [...open.values()].flatMap(({ request }) => (request === undefined ? [] : [request]));
  return {
    add: (id, request) => void open.set(id, { request }),
    get: (id) => open.get(id)?.request,
    take(id) {
      const box = open.get(id);
      if (box === undefined) return undefined;
      open.delete(id);
      const { request } = box;
      box.request = undefined;
      return request;
    },
    takeAll() {
      const requests = all();
      open.clear();
      return requests;
    },
    all,
    get size() {
      return open.size;
    },
  };
}
