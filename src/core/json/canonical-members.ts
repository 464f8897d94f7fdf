/** The members of an object in the order of RFC 8785, with their names as they are written. */

import { quoted } from './canonical-text.ts';
import { type Label, wordsOf } from './json-bytes.ts';
import { shapeCache } from './shape-cache.ts';

export interface Member extends Label {
  /** The quoted name with the punctuation around it. */
  readonly label: string;
  /** The same with the quote that opens a string. */
  readonly quoteLabel: string;
}

/**
 * Members in the order of their names' UTF-16 code units, or `undefined` if a name cannot be
 * written. Sorting and quoting them once for each shape saves a third of the whole work.
 */
export const membersOf: (names: readonly string[]) => readonly Member[] | undefined = shapeCache(
  (names) => {
    const members: Member[] = [];
    // Without a comparator `toSorted` compares UTF-16 code units, which is RFC 8785's order.
    for (const name of names.toSorted()) {
      const text = quoted(name);
      if (text === undefined) return undefined;
      const label = members.length === 0 ? `${text}:` : `,${text}:`;
      members.push({
        name,
        label,
        quoteLabel: `${label}"`,
        words: wordsOf(label),
        length: label.length,
      });
    }
    return members;
  },
);
