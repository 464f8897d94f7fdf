/** Abort signals linked by hand: `AbortSignal.any` on a long-lived signal keeps every child it ever made. */

export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Lets go of the parent. Must be called on every exit. */
  unlink(): void;
}

/** A signal that is made only if somebody reads it: making one costs more than a call through a stack. */
export interface LazySignal {
  read(): AbortSignal;
  /** What `read().aborted` would say, without making the signal for it. */
  isAborted(): boolean;
}

/** A signal that aborts with its parent, or on its own. */
export function linkAbort(parent?: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const unlink = parent === undefined ? () => {} : followAbort(parent, () => controller.abort(parent.reason));
  return { signal: controller.signal, abort: (reason) => controller.abort(reason), unlink };
}

/** Resolves when the signal aborts; `stop` lets go of it. */
export function whenAborted(signal: AbortSignal): { readonly aborted: Promise<void>; stop(): void } {
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => {
    stop = followAbort(signal, resolve);
  });
  return { aborted, stop: () => stop() };
}

/**
 * Waits for work that may never come to an end, and no longer than somebody wants it: rejects with the signal's reason. What the work
 * still does then is not heard any more.
 */
export async function waitWithin<T>(signal: AbortSignal | undefined, work: () => T | PromiseLike<T>): Promise<T> {
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
  readonly followers: Set<{ readonly tell: () => void }>;
  readonly listener: () => void;
}

const groups = new WeakMap<AbortSignal, Group>();

/**
 * Calls `tell` when the signal aborts, or at once if it has; the returned function lets go of it. However many follow a
 * signal, it has one listener: to add one more is a walk past all others, and from the eleventh on Node warns of a leak.
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
