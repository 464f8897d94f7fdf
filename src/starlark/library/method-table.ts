// Methods of one built-in type, by name.

import type { Thread } from '../thread.ts';
import type { Kwargs, Method, Value } from '../values.ts';

/**
 * What the methods of a type do, by name. The receiver comes as an argument, so that a call needs
 * no bound object.
 */
export type MethodCalls<T extends Value> = Readonly<
  Record<string, (thread: Thread, receiver: T, args: readonly Value[], kwargs: Kwargs) => Value>
>;

/** A type's methods for looking up. */
export function methodTable<T extends Value>(calls: MethodCalls<T>): ReadonlyMap<string, Method> {
  return new Map(
    Object.entries(calls).map(([name, call]) => {
      // The table is asked with a receiver of its own type alone: `findMethod` chooses it by the
      // receiver.
      const method: Method = { name, call: call as Method['call'] };
      return [name, method];
    }),
  );
}
