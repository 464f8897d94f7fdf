/** How often tests repeat themselves: fewer times in `npm test`, and as often as it takes to be sure in `npm run test:long`. */

export const howMany = (usually: number, long: number): number =>
  process.env.ALLIUM_TEST_LONG === '1' ? long : usually;
