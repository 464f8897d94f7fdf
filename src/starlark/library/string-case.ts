// String methods about the case and the kind of characters.

import { isAscii } from '../bytes.ts';
import type { Thread } from '../thread.ts';
import { accountText } from './accounting.ts';
import { positional } from './arguments.ts';
import type { MethodCalls } from './method-table.ts';
import { chargeWork } from './search.ts';
import {
  codepointsOf,
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
