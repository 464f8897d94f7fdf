/**
 * What `toWire` makes of a record, written as bytes of JSON at once: the copy in between costs more
 * than the text.
 */

import {
  asciiJson,
  bytes,
  FULL,
  type Label,
  NOT_PLAIN,
  type Style,
  wordsOf,
  writeJson,
  shapeCache,
} from '../json/json-bytes.ts';
import { OPAQUE_MEMBERS, type Reach, reachBelow, spellingsOf } from './wire-names.ts';

/** Deeper records are written another way. */
const MAX_DEPTH = 64;

/**
 * Writes a record like `asciiJson(toWire(record))` at a place of `bytes` and answers the next one,
 * or `NOT_PLAIN` where `toWire` has to say what becomes of it.
 */
export const writeWire = (record: object, at: number): number => writeJson(record, at, OPEN);

/** `holder` is the member around, which says what its `metadata` is. */
function wireStyle(reach: Reach, holder: string): Style {
  return {
    maxDepth: MAX_DEPTH,
    labels: reach === 'none' ? labelsAsTheyAre : snakeLabels,
    below(name, value) {
      const member = spellingsOf(name).camel;
      const inside = reachBelow(reach, holder, member);
      if (inside === 'all') return HOLDERS.get(member) ?? OPEN;
      return inside === 'none' || Array.isArray(value) ? OPAQUE : HERE;
    },
    writeText(text, at) {
      if (!text.isWellFormed()) return NOT_PLAIN;
      const json = asciiJson(text);
      return at + json.length > FULL ? NOT_PLAIN : at + bytes.write(json, at, 'latin1');
    },
    makeRoom: () => NOT_PLAIN,
  };
}

const labelsOf = (names: readonly string[]): readonly Label[] =>
  names.map((name, index) => {
    const label = `${index === 0 ? '' : ','}${JSON.stringify(name)}:`;
    return { name, words: PRINTABLE.test(name) ? wordsOf(label) : null, length: label.length };
  });

const PRINTABLE = /^[\x20-\x7e]*$/;

const labelsAsTheyAre = shapeCache(labelsOf);

const snakeLabels = shapeCache((names) => {
  const wire = names.map((name) => spellingsOf(name).snake);
  // Two that become one are for `toWire` to refuse.
  if (new Set(wire).size < wire.length) return undefined;
  return labelsOf(wire).map((label, index) => ({ ...label, name: names[index] ?? '' }));
});

const OPEN = wireStyle('all', '');
const HERE = wireStyle('here', '');
const OPAQUE = wireStyle('none', '');
const HOLDERS: ReadonlyMap<string, Style> = new Map(
  OPAQUE_MEMBERS.filter((name) => name.endsWith('.metadata')).map((name) => {
    const holder = name.slice(0, -'.metadata'.length);
    return [holder, wireStyle('all', holder)];
  }),
);
