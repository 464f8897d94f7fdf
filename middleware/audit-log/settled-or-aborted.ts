/** Waits for something that may never come, as long as there is somebody to wait for it. */

/** What `waiting` comes to, or `otherwise` when the signal aborts first. `waiting` must not reject; it goes on unheard. */
export function settledOrAborted<T>(
  waiting: Promise<T>,
  signal: AbortSignal,
  otherwise: () => T,
): Promise<T>;
export function settledOrAborted<T, U>(
  waiting: Promise<T>,
  signal: AbortSignal,
  otherwise: () => U,
): Promise<T | U>;
export function settledOrAborted<T, U>(
  waiting: Promise<T>,
  signal: AbortSignal,
  otherwise: () => U,
): Promise<T | U> {
  if (signal.aborted) return Promise.resolve(otherwise());
  return new Promise((resolve) => {
    const leave = () => resolve(otherwise());
    signal.addEventListener('abort', leave, { once: true });
    void waiting.then((value) => {
      signal.removeEventListener('abort', leave);
      resolve(value);
    });
  });
}
