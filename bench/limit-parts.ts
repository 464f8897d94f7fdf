/** What the limit waits, remembers and tells the time with. */

/** What came of work: its value, what it threw, or `null` when its time ran out. */
export type Ran = { readonly value: unknown } | { readonly thrown: unknown } | null;

interface Deadline {
  at: number;
  before: Deadline;
  after: Deadline;
  readonly due: () => void;
}

/** Work with a time limit. One list and one timer for all: what came first is due first. */
export function deadlines(maxMs: number, graceMs: number) {
  const ring = { at: 0, due() {} } as unknown as Deadline; // Its neighbours are itself, set next.
  ring.before = ring.after = ring;
  let timer: NodeJS.Timeout | null = null;
  const fire = (): void => {
    timer = null;
    const now = performance.now();
    while (ring.after !== ring && ring.after.at <= now) {
      const late = ring.after;
      remove(late);
      late.due();
    }
    if (ring.after !== ring) timer = setTimeout(fire, ring.after.at - now);
  };
  const add = (deadline: Deadline): void => {
    deadline.before = ring.before;
    deadline.after = ring;
    ring.before = ring.before.after = deadline;
    if (timer === null) timer = setTimeout(fire, maxMs);
    else timer.ref();
  };
  const remove = (deadline: Deadline): void => {
    deadline.before.after = deadline.after;
    deadline.after.before = deadline.before;
    deadline.before = deadline.after = deadline;
    // Armed once for many calls, it must not keep a process alive that has nothing else to do.
    if (ring.after === ring) timer?.unref();
  };

  return {
    /** Calls `abort` when the time is over, and listens for as long as the grace after that. */
    run(work: () => unknown, abort: () => void): Promise<Ran> {
      return new Promise((resolve) => {
        const due = (): void => {
          abort();
          setTimeout(resolve, graceMs, null);
        };
        const deadline = { at: performance.now() + maxMs, before: ring, after: ring, due };
        add(deadline);
        const end = (ran: Ran): void => {
          remove(deadline);
          resolve(ran);
        };
        try {
          Promise.resolve(work()).then(
            (value) => end({ value }),
            (thrown: unknown) => end({ thrown }),
          );
        } catch (thrown) {
          end({ thrown });
        }
      });
    },
    close: () => clearTimeout(timer ?? undefined),
  };
}

/** One piece of work, under way as long as it has no answer. */
export interface Entry<Answer> {
  readonly key: string;
  answer: Answer | null;
  until: number;
  waiters: (() => void)[] | null;
  older: Entry<Answer> | null;
  newer: Entry<Answer> | null;
}

/** The answers of the last pieces of work; the one that was used longest ago goes first. */
export function answerBook<Answer>(maxAnswers: number, ttlMs: number) {
  const entries = new Map<string, Entry<Answer>>();
  let oldest: Entry<Answer> | null = null;
  let newest: Entry<Answer> | null = null;
  let count = 0;
  const link = (entry: Entry<Answer>): void => {
    entry.older = newest;
    if (newest === null) oldest = entry;
    else newest.newer = entry;
    newest = entry;
  };
  const unlink = (entry: Entry<Answer>): void => {
    if (entry.older === null) oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === null) newest = entry.older;
    else entry.newer.older = entry.older;
    entry.older = entry.newer = null;
  };
  const forget = (entry: Entry<Answer>): void => {
    unlink(entry);
    entries.delete(entry.key);
    count -= 1;
  };

  return {
    find(key: string, nowMs: number): Entry<Answer> | null {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      if (entry.answer === null) return entry;
      if (entry.until <= nowMs) {
        forget(entry);
        return null;
      }
      unlink(entry);
      link(entry);
      return entry;
    },
    begin(key: string): Entry<Answer> {
      const entry = { key, answer: null, until: 0, waiters: null, older: null, newer: null };
      entries.set(key, entry);
      return entry;
    },
    settled: (entry: Entry<Answer>): Promise<void> =>
      new Promise((resolve) => void (entry.waiters ??= []).push(resolve)),
    /** Keeps the answer, or with `null` lets somebody else try. Whoever waits looks again. */
    settle(entry: Entry<Answer>, answer: Answer | null, nowMs: number): void {
      if (answer === null) entries.delete(entry.key);
      else {
        entry.answer = answer;
        entry.until = nowMs + ttlMs;
        link(entry);
        count += 1;
        if (count > maxAnswers && oldest !== null) forget(oldest);
      }
      entry.waiters?.forEach((wake) => wake());
    },
  };
}

const KNOWN_TIMES = Array.from({ length: 16 }, () => ({ ms: Number.NaN, iso: '' }));

/** The times of calls that are under way together lie within a few milliseconds. */
export function isoTime(ms: number): string {
  const known = KNOWN_TIMES[ms % KNOWN_TIMES.length];
  if (known === undefined) return new Date(ms).toISOString();
  if (known.ms !== ms) [known.ms, known.iso] = [ms, new Date(ms).toISOString()];
  return known.iso;
}

/** A value as JSON in ASCII. */
export const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const UNUSUAL = /[^ !#-[\]-~]/;

export const quoted = (text: string): string =>
  UNUSUAL.test(text) ? asciiJson(text) : `"${text}"`;
