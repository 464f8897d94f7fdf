/**
 * What a run must leave alone: no promise without a handler, and the prototypes everybody shares.
 */

import { settle } from '../../test-kit.ts';

/**
 * Runs `work` and answers with every rejection that nobody handled meanwhile. Other listeners are
 * taken off for the time: a test runner or a host would act on what is only being counted here.
 */
export async function unhandledDuring(work: () => unknown): Promise<readonly unknown[]> {
  const reasons: unknown[] = [];
  const others = process.listeners('unhandledRejection');
  const listener = (reason: unknown) => void reasons.push(reason);
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', listener);
  try {
    await work();
    // Node reports after the microtasks of a turn, and what is reported may start further ones.
    await settle();
    await settle();
  } finally {
    process.removeListener('unhandledRejection', listener);
    for (const other of others) process.on('unhandledRejection', other);
  }
  return reasons;
}

const SHARED: readonly (readonly [string, object])[] = [
  ['Object.prototype', Object.prototype],
  ['Array.prototype', Array.prototype],
  ['Function.prototype', Function.prototype],
  ['Promise.prototype', Promise.prototype],
  ['Error.prototype', Error.prototype],
];

/**
 * Remembers the shared prototypes; the returned function names every member that has changed since.
 */
export function watchPrototypes(): () => readonly string[] {
  const before = SHARED.map(([, prototype]) => membersOf(prototype));
  return () =>
    SHARED.flatMap(([name, prototype], index) =>
      changes(before[index], membersOf(prototype)).map((key) => `${name}.${key}`),
    );
}

type Members = ReadonlyMap<PropertyKey, PropertyDescriptor | undefined>;

const membersOf = (prototype: object): Members =>
  new Map(
    Reflect.ownKeys(prototype).map((key) => [
      key,
      Reflect.getOwnPropertyDescriptor(prototype, key),
    ]),
  );

function changes(before: Members = new Map(), after: Members): readonly string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => !sameDescriptor(before.get(key), after.get(key))).map(String);
}

const FIELDS = ['value', 'get', 'set', 'writable', 'enumerable', 'configurable'] as const;

function sameDescriptor(
  a: PropertyDescriptor | undefined,
  b: PropertyDescriptor | undefined,
): boolean {
  if (a === undefined || b === undefined) return a === b;
  return FIELDS.every((field) => Object.is(Reflect.get(a, field), Reflect.get(b, field)));
}

export interface Violation {
  count: number;
  readonly first: string;
}

/**
 * What every run counts: rejections that nobody handled, and what did not hold, how often, and
 * where first.
 */
export interface Watched {
  unhandled: number;
  readonly violations: Record<string, Violation>;
}

export function report({ violations }: Watched, rule: string, where: string): void {
  (violations[rule] ??= { count: 0, first: where }).count += 1;
}

/** Runs a fuzz with an eye on the process it runs in. */
export async function watchedRun(figures: Watched, work: () => Promise<void>): Promise<void> {
  const changedPrototypes = watchPrototypes();
  figures.unhandled = (await unhandledDuring(work)).length;
  if (figures.unhandled > 0) report(figures, 'left a rejection that nobody handled', 'somewhere');
  for (const member of changedPrototypes()) report(figures, `changed ${member}`, 'somewhere');
}
