/** Numbers that repeat with their seed: a failed run can be run again. */

export interface Random {
  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  /** True about once in `times`. */
  oneIn(times: number): boolean;
  pick<T>(items: readonly T[]): T;
}

const GOLDEN = 0x9e3779b9;

/** A small shift-and-multiply generator. Good enough to mix cases, useless for secrets. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + GOLDEN) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const below = (limit: number): number => next() % limit;
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError('nothing to pick from');
      return items[below(items.length)] as T; // The index is below the length.
    },
  };
}

/** A seed of a name: what is chosen by it stays as it is when other names come and go. */
export function seedOf(name: string): number {
  let value = 7;
  for (const character of name)
    value = (Math.imul(value, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return value;
}
