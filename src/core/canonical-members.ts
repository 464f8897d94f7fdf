/** The members of an object in the order of RFC 8785, with their names as they are written. Objects come in few shapes. */

import { quoted } from './canonical-text.ts';

export interface Member {
  readonly name: string;
  /** The quoted name with the punctuation around it. */
  readonly label: string;
  /** The same with the quote that opens a string. */
  readonly quoteLabel: string;
  /** The label as bytes, four in a word and the first one lowest; `null` where it is not all ASCII. */
  readonly words: readonly number[] | null;
}

/** Sorting and quoting the names of a shape once saves a third of the whole work. */
interface Shape {
  readonly names: readonly string[];
  readonly members: readonly Member[];
}

/** By first name, so that most look-ups meet one candidate. Bounded in every direction: names come from outside. */
const shapes = new Map<string, Shape[]>();
const MAX_FIRST_NAMES = 64;
const MAX_SHAPES_EACH = 8;
const MAX_NAMES = 32;
const MAX_NAME_LENGTH = 64;

/** Members in the order of their names' UTF-16 code units, or `undefined` if a name cannot be written. */
export function membersOf(names: readonly string[]): readonly Member[] | undefined {
  const first = names[0];
  if (first === undefined) return [];
  const candidates = shapes.get(first);
  if (candidates !== undefined) {
    for (const shape of candidates) if (sameNames(shape.names, names)) return shape.members;
  }
  const members = sortedMembers(names);
  if (members !== undefined) remember(first, { names, members });
  return members;
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  // The last name differs more often than the first ones.
  for (let index = a.length - 1; index >= 0; index -= 1) if (a[index] !== b[index]) return false;
  return true;
}

function sortedMembers(names: readonly string[]): readonly Member[] | undefined {
  const members: Member[] = [];
  // Without a comparator `toSorted` compares UTF-16 code units, which is RFC 8785's order.
  for (const name of names.toSorted()) {
    const text = quoted(name);
    if (text === undefined) return undefined;
    const label = members.length === 0 ? `${text}:` : `,${text}:`;
    members.push({ name, label, quoteLabel: `${label}"`, words: wordsOf(label) });
  }
  return members;
}

function wordsOf(label: string): readonly number[] | null {
  const words: number[] = [];
  for (let index = 0; index < label.length; index += 1) {
    const unit = label.charCodeAt(index);
    if (unit > 0x7f) return null;
    words[index >> 2] = (words[index >> 2] ?? 0) | (unit << (8 * (index & 3)));
  }
  return words;
}

function remember(first: string, shape: Shape): void {
  if (shape.names.length > MAX_NAMES || shape.names.some((name) => name.length > MAX_NAME_LENGTH)) return;
  const candidates = shapes.get(first);
  if (candidates !== undefined && candidates.length < MAX_SHAPES_EACH) {
    candidates.push(shape);
    return;
  }
  if (shapes.size >= MAX_FIRST_NAMES) shapes.clear();
  shapes.set(first, [shape]);
}
