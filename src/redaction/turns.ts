/**
 * Work that is done at once where it is short, and takes turns with the rest of the process where
 * it is not.
 */

/** Work in steps. What it yields is waited for; work that yields nothing was done at once. */
export type Work<T> = Generator<Promise<unknown>, T, unknown>;

/** Waits for one answer in the midst of such work. */
export function* wait<T>(answer: Promise<T>): Work<T> {
  return (yield answer) as T; // `finish` hands back what the promise came to.
}

/** Lets everybody else who is waiting go first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The outcome of the work, or a promise of it where the work had to wait. */
export function finish<T>(work: Work<T>): T | Promise<T> {
  const first = work.next();
  return first.done === true ? first.value : goOn(work, first.value);
}

async function goOn<T>(work: Work<T>, first: Promise<unknown>): Promise<T> {
  for (let waiting = first; ; ) {
    const step = work.next(await waiting);
    if (step.done === true) return step.value;
    waiting = step.value;
  }
}
