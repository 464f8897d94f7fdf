/**
 * JSON written as bytes: strings of printable ASCII, numbers, and names that were laid out before,
 * character by character. For the short strings that values are made of, this costs half of what
 * calls out of the engine do. What is not plain is left to a style, or to another way of writing.
 * The loops use nothing that is imported or exported: such names are looked up each time.
 */

/** How a value is written. */
export interface Style {
  readonly maxDepth: number;
  /**
   * The members of an object, in the order in which they are written; `undefined` where one cannot
   * be.
   */
  labels(source: object): readonly Label[] | undefined;
  /** The style of the object or list that a member holds; `null` for this one. */
  readonly below: ((name: string, value: object) => Style) | null;
  /** Writes a string that is long or needs care, and answers the next place. */
  writeText(text: string, at: number): number;
  /** Answers where to go on when there is little room left. */
  makeRoom(at: number): number;
}

/** A name as it is written. */
export interface Label {
  readonly name: string;
  /**
   * With everything around it, four bytes in a word and the first one lowest; `null` where it is
   * not plain.
   */
  readonly words: readonly number[] | null;
  readonly length: number;
}

const SIZE = 65_536;
const target = Buffer.alloc(SIZE);
const view = new DataView(target.buffer, target.byteOffset, SIZE);
/** What was written. All writers share it: read it before the next `writeJson` begins. */
export const bytes = target;

/** Up to here there is room for a label and a short string. */
const LIMIT = SIZE - 1024;
export const FULL = LIMIT;
const MAX_LABEL = 256;
const SHORT = 128;
const NOWHERE = -1;
/** Instead of a place: the value has to be written another way. */
export const NOT_PLAIN = NOWHERE;

/**
 * Writes an object or a list at a place and answers the next one. The value must not run anything
 * when it is read.
 */
export function writeJson(value: object, at: number, style: Style): number {
  writesSoFar += 1;
  return writeValue(value, at, style, 0);
}

/** Writes a JSON text that is there already, as UTF-8. The caller sees to the room. */
export function writeKnown(text: string, at: number): number {
  writesSoFar += 1;
  return at + target.write(text, at);
}

/**
 * How often a writer began: who writes several values compares it to see that no other began in
 * between.
 */
export let writesSoFar = 0;

/** `depth` is how many objects and lists are around the value. */
function writeValue(value: unknown, at: number, style: Style, depth: number): number {
  switch (typeof value) {
    case 'string':
      return writeString(value, at, style);
    case 'number':
      return writeNumber(value, at);
    case 'boolean':
      return writeAscii(value ? 'true' : 'false', at);
    case 'object':
      if (value === null) return writeAscii('null', at);
      if (depth >= style.maxDepth) return NOWHERE;
      return Array.isArray(value)
        ? writeItems(value, at, style, depth + 1)
        : writeMembers(value, at, style, depth + 1);
    case 'undefined':
    case 'bigint':
    case 'function':
    case 'symbol':
      return NOWHERE;
  }
}

function writeItems(items: readonly unknown[], start: number, style: Style, depth: number): number {
  let at = start;
  for (let index = 0; index < items.length; index += 1) {
    target[at] = index === 0 ? 0x5b : 0x2c;
    at += 1;
    if (at > LIMIT) at = style.makeRoom(at);
    if (at !== NOWHERE) at = writeValue(items[index], at, style, depth);
    if (at === NOWHERE) return NOWHERE;
  }
  if (items.length === 0) return writeAscii('[]', at);
  target[at] = 0x5d;
  return at + 1;
}

function writeMembers(source: object, start: number, style: Style, depth: number): number {
  const prototype: unknown = Object.getPrototypeOf(source);
  if (prototype !== Object.prototype && prototype !== null) return NOWHERE;
  const labels = style.labels(source);
  let at = start > LIMIT ? style.makeRoom(start) : start;
  if (labels === undefined || at === NOWHERE) return NOWHERE;
  target[at] = 0x7b;
  at += 1;
  for (let index = 0; index < labels.length; index += 1) {
    const label = labels[index];
    const words = label?.words ?? null;
    if (label === undefined || words === null) return NOWHERE;
    // Up to three bytes more than the label has: what follows is written over them.
    for (let word = 0; word < words.length; word += 1)
      view.setInt32(at + 4 * word, words[word] ?? 0, true);
    at += label.length;
    const { name } = label;
    // Any object can be read by its own names.
    const value = (source as Readonly<Record<string, unknown>>)[name];
    // Most are strings.
    if (typeof value === 'string') at = writeString(value, at, style);
    else {
      const isNested = style.below !== null && typeof value === 'object' && value !== null;
      at = writeValue(value, at, isNested ? style.below(name, value) : style, depth);
    }
    if (at > LIMIT) at = style.makeRoom(at);
    if (at === NOWHERE) return NOWHERE;
  }
  target[at] = 0x7d;
  return at + 1;
}

/** 1 for characters that stand for themselves in JSON and are printable ASCII. */
const PLAIN = Uint8Array.from({ length: 128 }, (_, unit) =>
  unit < 0x20 || unit === 0x22 || unit === 0x5c || unit === 0x7f ? 0 : 1,
);

function writeString(text: string, start: number, style: Style): number {
  const { length } = text;
  if (length > SHORT) return style.writeText(text, start);
  const first = start + 1;
  for (let index = 0; index < length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f || PLAIN[unit] === 0) return style.writeText(text, start);
    target[first + index] = unit;
  }
  target[start] = 0x22;
  target[first + length] = 0x22;
  return first + length + 1;
}

/**
 * A finite number as ECMAScript writes it. Those with up to two decimals by their digits: a text of
 * each would be made and thrown away.
 */
function writeNumber(value: number, start: number): number {
  const hundredths = Math.round(value * 100);
  // Of all decimals with up to fifteen digits no two are the same number, so this one is its
  // shortest text.
  if (hundredths < 0 || hundredths > 1e11 || hundredths / 100 !== value)
    return Number.isFinite(value) ? writeAscii(`${value}`, start) : NOWHERE;
  let left = (hundredths / 100) | 0;
  const rest = hundredths - 100 * left;
  let end = start + 1;
  for (let bound = 10; left >= bound; bound *= 10) end += 1;
  for (let at = end - 1; at >= start; at -= 1) {
    const above = (left / 10) | 0;
    target[at] = 0x30 + left - 10 * above;
    left = above;
  }
  if (rest === 0) return end;
  const tenths = (rest / 10) | 0;
  target[end] = 0x2e;
  target[end + 1] = 0x30 + tenths;
  target[end + 2] = 0x30 + rest - 10 * tenths;
  return rest === 10 * tenths ? end + 2 : end + 3;
}

/** A text of ASCII as it is. The caller sees to the room. */
function writeAscii(text: string, start: number): number {
  for (let index = 0; index < text.length; index += 1)
    target[start + index] = text.charCodeAt(index);
  return start + text.length;
}

/** Lays a label out. */
export function wordsOf(label: string): readonly number[] | null {
  if (label.length > MAX_LABEL) return null;
  const words: number[] = [];
  for (let index = 0; index < label.length; index += 1) {
    const unit = label.charCodeAt(index);
    if (unit > 0x7f) return null;
    words[index >> 2] = (words[index >> 2] ?? 0) | (unit << (8 * (index & 3)));
  }
  return words;
}

interface Shape<T> {
  readonly names: readonly string[];
  readonly made: T;
}

const NONE: readonly never[] = [];
const MAX_FIRST_NAMES = 64;
const MAX_SHAPES_EACH = 8;
const MAX_NAMES = 32;
const MAX_NAME_LENGTH = 64;

/**
 * `make`, once for each list of member names. Bounded in every direction: names come from outside.
 * `undefined` is not kept. `for…in` instead of `Object.keys`: a list of the names would be garbage
 * at once. It also meets inherited names, which no shape has, so such an object is made anew.
 */
export function shapeCache<T>(
  make: (names: readonly string[]) => T | undefined,
): (source: object) => T | undefined {
  // By first name, so that most look-ups meet one candidate.
  const shapes = new Map<string, Shape<T>[]>();
  return (source) => {
    let first = '';
    for (const name in source) {
      first = name;
      break;
    }
    search: for (const shape of shapes.get(first) ?? NONE) {
      let count = 0;
      for (const name in source) {
        if (name !== shape.names[count]) continue search;
        count += 1;
      }
      if (count === shape.names.length) return shape.made;
    }
    const names = Object.keys(source);
    const made = make(names);
    if (made !== undefined) remember(shapes, { names, made });
    return made;
  };
}

function remember<T>(shapes: Map<string, Shape<T>[]>, shape: Shape<T>): void {
  const [first] = shape.names;
  if (
    first === undefined ||
    shape.names.length > MAX_NAMES ||
    shape.names.some(({ length }) => length > MAX_NAME_LENGTH)
  )
    return;
  const candidates = shapes.get(first);
  if (candidates !== undefined && candidates.length < MAX_SHAPES_EACH) {
    candidates.push(shape);
    return;
  }
  if (shapes.size >= MAX_FIRST_NAMES) shapes.clear();
  shapes.set(first, [shape]);
}

/**
 * JSON on one line in plain ASCII. `JSON.stringify` leaves U+0085, U+2028 and U+2029 as they are,
 * and those end a line for some readers.
 */
export function asciiJson(value: object | string): string {
  const text = JSON.stringify(value);
  return isPrintable(text) ? text : text.replace(/[^\x20-\x7e]/g, escaped);
}

/** JSON has no control characters but DEL, and only ASCII has as many bytes as characters. */
const isPrintable = (json: string): boolean =>
  Buffer.byteLength(json) === json.length && !json.includes('\x7f');

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
