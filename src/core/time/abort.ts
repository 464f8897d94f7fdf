/**
 * Abort signals linked by hand: `AbortSignal.any` on a long-lived signal keeps every child it ever
 * made.
 */

export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Lets go of the parent. Must be called on every exit. */
  unlink(): void;
}

/**
 * Who may take a call back. It can be asked and followed without a signal, which is made only if
 * it is read: to make one and listen to it costs more than a call through a stack.
 */
export interface AbortSource {
  /** The signal, the same one every time. */
  read(): AbortSignal;
  /** What `read().aborted` would say. */
  isAborted(): boolean;
  /** What `read().reason` would say. */
  reason(): unknown;
  /** What `followAbort` does with `read()`. */
  follow(tell: () => void): () => void;
}

/** A source of its own. */
export interface OwnAbort extends AbortSource {
  /** Only the first one counts. Followers are told after listeners of the signal. */
  abort(reason?: unknown): void;
}

interface Follower {
  readonly tell: () => void;
}

interface OwnState extends OwnAbort {
  ended: { readonly reason: unknown } | null;
  controller: AbortController | null;
  /** Few: a set would cost more than all else here. */
  followers: Follower[] | null;
}

/**
 * The functions are the same for all: every call has a source, and five closures would cost more
 * than it does.
 */
export function createAbort(): OwnAbort {
  const own: OwnState = {
    ended: null,
    controller: null,
    followers: null,
    read: readOwn,
    isAborted: isOwnAborted,
    reason: ownReason,
    follow: followOwn,
    abort: abortOwn,
  };
  return own;
}

function readOwn(this: OwnState): AbortSignal {
  if (this.controller === null) {
    this.controller = new AbortController();
    if (this.ended !== null) this.controller.abort(this.ended.reason);
  }
  return this.controller.signal;
}

function isOwnAborted(this: OwnState): boolean {
  return this.ended !== null;
}

function ownReason(this: OwnState): unknown {
  return this.ended?.reason;
}

function followOwn(this: OwnState, tell: () => void): () => void {
  if (this.ended !== null) {
    tell();
    return () => {};
  }
  const followers = (this.followers ??= []);
  const follower = { tell };
  followers.push(follower);
  return () => {
    const at = followers.indexOf(follower);
    if (at !== -1) followers.splice(at, 1);
  };
}

function abortOwn(
  this: OwnState,
  reason: unknown = new DOMException('This operation was aborted', 'AbortError'),
): void {
  if (this.ended !== null) return;
  this.ended = { reason };
  this.controller?.abort(reason);
  // Each goes before it is told: telling may make others let go.
  for (let next = this.followers?.shift(); next !== undefined; next = this.followers?.shift())
    next.tell();
  this.followers = null;
}

/** A signal of a host, as a source. */
export const sourceOf = (signal: AbortSignal): AbortSource => ({
  read: () => signal,
  isAborted: () => signal.aborted,
  reason: () => signal.reason as unknown,
  follow: (tell) => followAbort(signal, tell),
});

/**
 * A source that also aborts with a signal; `unlink` lets go of that, and must be called on every
 * exit.
 */
export function abortWith(parent: AbortSignal | undefined): {
  readonly source: OwnAbort;
  unlink(): void;
} {
  const source = createAbort();
  const unlink =
    parent === undefined ? unlinked : followAbort(parent, () => source.abort(parent.reason));
  return { source, unlink };
}

const unlinked = (): void => {};

/** A signal that aborts with its parent, or on its own. */
export function linkAbort(parent?: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const unlink =
    parent === undefined ? () => {} : followAbort(parent, () => controller.abort(parent.reason));
  return { signal: controller.signal, abort: (reason) => controller.abort(reason), unlink };
}

/** Resolves when the signal aborts; `stop` lets go of it. */
export function whenAborted(signal: AbortSignal): {
  readonly aborted: Promise<void>;
  stop(): void;
} {
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => {
    stop = followAbort(signal, resolve);
  });
  return { aborted, stop: () => stop() };
}

/**
 * Waits for work that may never come to an end, and no longer than the signal allows: rejects with
 * the signal's reason. What the work still does then is not heard any more.
 */
export async function waitWithin<T>(
  signal: AbortSignal | undefined,
  work: () => T | PromiseLike<T>,
): Promise<T> {
  const worked = new Promise<T>((resolve) => resolve(work()));
  if (signal === undefined) return worked;
  const waiting = whenAborted(signal);
  try {
    return await Promise.race([worked, waiting.aborted.then(() => Promise.reject(signal.reason))]);
  } finally {
    waiting.stop();
  }
}

interface Group {
  readonly followers: Set<Follower>;
  readonly listener: () => void;
}

const groups = new WeakMap<AbortSignal, Group>();

/**
 * Calls `tell` when the signal aborts, or at once if it has; the returned function lets go of it.
 * However many follow a signal, it has one listener: to add one more is a walk past all others, and
 * from the eleventh on Node warns of a leak.
 */
export function followAbort(signal: AbortSignal, tell: () => void): () => void {
  if (signal.aborted) {
    tell();
    return () => {};
  }
  const group = groups.get(signal) ?? openGroup(signal);
  const follower = { tell };
  group.followers.add(follower);
  return () => {
    group.followers.delete(follower);
    if (group.followers.size === 0) closeGroup(signal, group);
  };
}

function openGroup(signal: AbortSignal): Group {
  const group: Group = {
    followers: new Set(),
    listener() {
      closeGroup(signal, group);
      for (const { tell } of group.followers) tell();
    },
  };
  signal.addEventListener('abort', group.listener);
  groups.set(signal, group);
  return group;
}

/** A group that ran empty may have a successor already, which stays. */
function closeGroup(signal: AbortSignal, group: Group): void {
  signal.removeEventListener('abort', group.listener);
  if (groups.get(signal) === group) groups.delete(signal);
}
