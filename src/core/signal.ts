/** Abort signals linked by hand: `AbortSignal.any` on a long-lived signal keeps every child it ever made. */

export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Lets go of the parent. Must be called on every exit. */
  unlink(): void;
}

/** A signal that aborts with its parent, or on its own. */
export function linkAbort(parent?: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const follow = () => controller.abort(parent?.reason);
  if (parent?.aborted === true) follow();
  else parent?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => parent?.removeEventListener('abort', follow),
  };
}

/** Resolves when the signal aborts; `stop` lets go of it. */
export function whenAborted(signal: AbortSignal): { readonly aborted: Promise<void>; stop(): void } {
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    const listener = () => resolve();
    signal.addEventListener('abort', listener, { once: true });
    stop = () => signal.removeEventListener('abort', listener);
  });
  return { aborted, stop: () => stop() };
}
