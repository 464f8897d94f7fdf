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

/** Keeps no request for longer than it is open, and sets no bound on how many are. */
export function pendingRequests<Request>(): PendingRequests<Request> {
  const open = new Map<unknown, Request>();
  const all = (): readonly Request[] => [...open.values()];
  return {
    add: (id, request) => void open.set(id, request),
    get: (id) => open.get(id),
    take(id) {
      const request = open.get(id);
      open.delete(id);
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
