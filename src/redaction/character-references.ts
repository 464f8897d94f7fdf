/** Characters by their names in HTML. */

/** The text that each stands for; those that are not seen stand for none. */
export const NAMED: ReadonlyMap<string, string> = new Map([
  ...([
    ['amp', '&'],
    ['quot', '"'],
    ['lt', '<'],
    ['gt', '>'],
    ['apos', "'"],
    ['nbsp', ' '],
    ['colon', ':'],
    ['equals', '='],
  ] as const),
  ...([
    ['sol', '/'],
    ['period', '.'],
    ['lowbar', '_'],
    ['hyphen', '-'],
    ['dash', '-'],
    ['shy', ''],
    ['zwnj', ''],
    ['zwj', ''],
  ] as const),
]);
