// String methods that look for a text (count, find, index, partition, replace, startswith and their
// like), and those about the case and the kind of characters.

import { decodeCodepoint, isAscii } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import type { Thread } from '../thread.ts';
import { Tuple, type Value } from '../values.ts';
import { typeName } from '../kinds.ts';
import { accountItems, accountText } from './accounting.ts';
import { positional } from './arguments.ts';
import type { MethodCalls } from './method-table.ts';
import { clamped, indices, within } from './numbers.ts';
import { chargeWork, countOf, finder, firstIndex, lastIndex } from './search.ts';
import {
  codepointsOf,
  countCodepoints,
  encodeCodepoints,
  isCased,
  isDigit,
  isLetter,
  isLower,
  isSpace,
  isTitle,
  isUpper,
  toLower,
  toTitle,
  toUpper,
} from './unicode.ts';

type StringCall = MethodCalls<string>[string];

const countArguments = positional('count', ['string'], ['any', 'any']);
const replaceArguments = positional('replace', ['string', 'string'], ['int']);

/** The methods of this file by name. */
export const searchMethods: MethodCalls<string> = {
  count: (thread, receiver, args, kwargs) => {
    const [sub, start, end] = countArguments(args, kwargs);
    const part = partOf('count', receiver, start, end);
    return sub === '' ? countCodepoints(part) + 1 : countOf(thread, part, sub);
  },
  find: findMethod('find', firstIndex, 'answer'),
  rfind: findMethod('rfind', lastIndex, 'answer'),
  index: findMethod('index', firstIndex, 'throw'),
  rindex: findMethod('rindex', lastIndex, 'throw'),
  partition: partitionMethod('partition', firstIndex),
  rpartition: partitionMethod('rpartition', lastIndex),
  startswith: affixMethod('startswith', (text, affix) => text.startsWith(affix)),
  endswith: affixMethod('endswith', (text, affix) => text.endsWith(affix)),
  replace: (thread, receiver, args, kwargs) => {
    const [old, replacement, count = -1] = replaceArguments(args, kwargs);
    const most = count < 0 ? Number.POSITIVE_INFINITY : clamped(count);
    const places =
      old === ''
        ? boundaries(thread, receiver, most)
        : occurrences(thread, receiver, { old, most });
    return replaceAt(thread, receiver, { places, oldLength: old.length, replacement });
  },
};

function partOf(
  name: string,
  text: string,
  startValue: Value | undefined,
  endValue: Value | undefined,
): string {
  if (startValue === undefined) return text;
  const [start, end] = within(name, () => indices(text.length, startValue, endValue));
  return start < end ? text.slice(start, end) : '';
}

type Search = (thread: Thread, text: string, sub: string) => number;

function findMethod(name: string, search: Search, missing: 'answer' | 'throw'): StringCall {
  const readArguments = positional(name, ['string'], ['any', 'any']);
  return (thread, receiver, args, kwargs) => {
    const [sub, startValue, endValue] = readArguments(args, kwargs);
    const [start, end] =
      startValue === undefined
        ? [0, receiver.length]
        : within(name, () => indices(receiver.length, startValue, endValue));
    const part = start < end ? receiver.slice(start, end) : '';
    const index = search(thread, part, sub);
    if (index >= 0) return index + start;
    if (missing === 'throw') throw new StarlarkError(`${name}: substring not found`);
    return -1;
  };
}

function partitionMethod(name: 'partition' | 'rpartition', search: Search): StringCall {
  const readArguments = positional(name, ['string']);
  return (thread, receiver, args, kwargs) => {
    const [separator] = readArguments(args, kwargs);
    if (separator === '') throw new StarlarkError(`${name}: empty separator`);
    const index = search(thread, receiver, separator);
    accountItems(thread, 3);
    accountText(thread, receiver.length);
    if (index >= 0)
      return new Tuple([
        receiver.slice(0, index),
        separator,
        receiver.slice(index + separator.length),
      ]);
    return new Tuple(name === 'partition' ? [receiver, '', ''] : ['', '', receiver]);
  };
}

function affixMethod(
  name: 'startswith' | 'endswith',
  matches: (text: string, affix: string) => boolean,
): StringCall {
  const readArguments = positional(name, ['any'], ['any', 'any']);
  return (thread, receiver, args, kwargs) => {
    const [affix, start, end] = readArguments(args, kwargs);
    const part = partOf(name, receiver, start, end);
    if (typeof affix === 'string') return matches(part, affix);
    if (!(affix instanceof Tuple))
      throw new StarlarkError(`${name}: got ${typeName(affix)}, want string or tuple of string`);
    return affix.items.some((item, index) => {
      thread.step();
      if (typeof item === 'string') return matches(part, item);
      throw new StarlarkError(`${name}: want string, got ${typeName(item)}, for element ${index}`);
    });
  };
}

function occurrences(
  thread: Thread,
  text: string,
  { old, most }: { readonly old: string; readonly most: number },
): number[] {
  const places: number[] = [];
  const find = finder(thread, text, old);
  for (let index = find(0); index >= 0 && places.length < most; index = find(index + old.length))
    addPlace(thread, places, index);
  return places;
}

/** Before each code point and at the end: where the empty text is found. */
function boundaries(thread: Thread, text: string, most: number): number[] {
  chargeWork(thread, text.length);
  const places: number[] = [];
  for (let index = 0; places.length < most; index += decodeCodepoint(text, index)[1]) {
    addPlace(thread, places, index);
    if (index >= text.length) break;
  }
  return places;
}

function addPlace(thread: Thread, places: number[], index: number): void {
  // The place itself, and the part of the text that ends there.
  thread.account(32);
  places.push(index);
}

interface Replacing {
  readonly places: readonly number[];
  readonly oldLength: number;
  readonly replacement: string;
}

function replaceAt(
  thread: Thread,
  text: string,
  { places, oldLength, replacement }: Replacing,
): string {
  if (places.length === 0) return text;
  accountText(thread, text.length + places.length * (replacement.length - oldLength));
  chargeWork(thread, places.length * 8);
  const parts: string[] = [];
  let from = 0;
  for (const place of places) {
    parts.push(text.slice(from, place));
    from = place + oldLength;
  }
  parts.push(text.slice(from));
  return parts.join(replacement);
}

/** The methods of this file by name. */
export const caseMethods: MethodCalls<string> = {
  capitalize: changing('capitalize', (thread, text) =>
    mapped(thread, text, (codepoint, index) =>
      index === 0 ? toTitle(codepoint) : toLower(codepoint),
    ),
  ),
  lower: changing('lower', lowered),
  title: changing('title', titled),
  upper: changing('upper', uppered),
  isalnum: asking('isalnum', (codepoints) =>
    codepoints.every((codepoint) => isLetter(codepoint) || isDigit(codepoint)),
  ),
  isalpha: asking('isalpha', (codepoints) => codepoints.every(isLetter)),
  isdigit: asking('isdigit', (codepoints) => codepoints.every(isDigit)),
  isspace: asking('isspace', (codepoints) => codepoints.every(isSpace)),
  islower: asking(
    'islower',
    (codepoints, thread, text) => codepoints.some(isCased) && lowered(thread, text) === text,
  ),
  isupper: asking(
    'isupper',
    (codepoints, thread, text) => codepoints.some(isCased) && uppered(thread, text) === text,
  ),
  istitle: asking('istitle', isTitled),
};

function changing(name: string, change: (thread: Thread, text: string) => string): StringCall {
  const readArguments = positional(name, []);
  return (thread, receiver, args, kwargs) => {
    readArguments(args, kwargs);
    chargeWork(thread, receiver.length);
    return change(thread, receiver);
  };
}

/** The empty string is never what is asked for. */
function asking(
  name: string,
  test: (codepoints: readonly number[], thread: Thread, text: string) => boolean,
): StringCall {
  const readArguments = positional(name, []);
  return (thread, receiver, args, kwargs) => {
    readArguments(args, kwargs);
    return receiver !== '' && test(readCodepoints(thread, receiver), thread, receiver);
  };
}

function readCodepoints(thread: Thread, text: string): readonly number[] {
  thread.account(text.length * 8);
  chargeWork(thread, text.length * 8);
  return codepointsOf(text);
}

function lowered(thread: Thread, text: string): string {
  if (!isAscii(text)) return mapped(thread, text, toLower);
  accountText(thread, text.length);
  return text.toLowerCase();
}

function uppered(thread: Thread, text: string): string {
  if (!isAscii(text)) return mapped(thread, text, toUpper);
  accountText(thread, text.length);
  return text.toUpperCase();
}

/** Bytes that are not UTF-8 become U+FFFD, so the result can be three times as long. */
function mapped(
  thread: Thread,
  text: string,
  change: (codepoint: number, index: number) => number,
): string {
  accountText(thread, text.length * 3);
  return encodeCodepoints(readCodepoints(thread, text).map(change));
}

function titled(thread: Thread, text: string): string {
  let afterCased = false;
  return mapped(thread, text, (codepoint) => {
    const changed = afterCased ? toLower(codepoint) : toTitle(codepoint);
    afterCased = isCased(changed);
    return changed;
  });
}

/**
 * Capitals begin words, small letters continue them, and there is one of either. A capital outside
 * ASCII never begins one.
 */
function isTitled(codepoints: readonly number[]): boolean {
  let seen = false;
  let afterCased = false;
  for (const codepoint of codepoints) {
    const isSmall = isLower(codepoint);
    const isBeginning = isAsciiCapital(codepoint) || isTitle(codepoint);
    if (isBeginning && afterCased) return false;
    if (!isBeginning && (isSmall ? !afterCased : isUpper(codepoint))) return false;
    afterCased = isBeginning || isSmall;
    seen ||= afterCased;
  }
  return seen;
}

function isAsciiCapital(codepoint: number): boolean {
  return codepoint >= 0x41 && codepoint <= 0x5a;
}
