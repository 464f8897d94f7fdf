/**
 * How often tests repeat themselves: fewer times in `npm test`, and as often as it takes to be sure
 * in `npm run test:long`.
 */

const isLong = process.env.ALLIUM_TEST_LONG === '1';

export const howMany = (usually: number, long: number): number => (isLong ? long : usually);

/** All of a list in the long form, and every so many-th of it in `npm test`. */
export const everyNth = <T>(nth: number, all: readonly T[]): readonly T[] =>
  isLong ? all : all.filter((_, index) => index % nth === 0);
