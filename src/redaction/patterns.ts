/**
 * What is found by patterns: e-mail addresses, phone numbers and payment cards by our own, and what
 * the options name, on an engine that takes linear time whatever the pattern is.
 */

import type { RE2JS } from 're2js';
import { AlliumError } from '../core/contract/errors.ts';
import { linearEngine } from '../system/linear-engine.ts';
import type { Detector, Emit } from './detector.ts';

/** An expression in RE2's syntax, alone or with the name its marker gets. */
export type RedactionPattern =
  | string
  | RegExp
  | { readonly name: string; readonly pattern: string | RegExp };

export const PATTERN_LABEL = 'pattern';
const NAME = /^[a-z][a-z0-9-]{0,31}$/;

const isExpression = (value: unknown): value is string | RegExp =>
  (typeof value === 'string' && value !== '') || value instanceof RegExp;

/** Whether a value has the form of a pattern; whether it compiles is found out by compiling it. */
export function isPattern(value: unknown): value is RedactionPattern {
  if (isExpression(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const { name, pattern, ...rest } = value as Record<string, unknown>;
  return (
    typeof name === 'string' &&
    NAME.test(name) &&
    isExpression(pattern) &&
    Object.keys(rest).length === 0
  );
}

export const labelOf = (pattern: RedactionPattern): string =>
  typeof pattern === 'object' && !(pattern instanceof RegExp) ? pattern.name : PATTERN_LABEL;

/**
 * One detector for all patterns. Throws for the first that RE2 does not take, or that would match
 * nothing at all.
 */
export function patternDetector(patterns: readonly RedactionPattern[]): Detector {
  const compiled = patterns.map((pattern, index) => ({
    label: labelOf(pattern),
    expression: compile(pattern, index),
  }));
  return Object.freeze<Detector>({
    group: 'patterns',
    find(text, emit) {
      for (const { label, expression } of compiled) {
        const matcher = expression.matcher(text);
        while (matcher.find())
          if (matcher.end() > matcher.start()) emit(matcher.start(), matcher.end(), label);
      }
      return undefined;
    },
  });
}

function compile(pattern: RedactionPattern, index: number): RE2JS {
  const given =
    typeof pattern === 'object' && !(pattern instanceof RegExp) ? pattern.pattern : pattern;
  const [source, flags] =
    typeof given === 'string' ? [given, ''] : [given.source, given.flags.replace(/[^ims]/g, '')];
  const unusable = (why: string) => {
    const message = `redaction: "patterns" must be expressions that RE2 can run; number ${index + 1} ${why}`;
    return new AlliumError('ERR_INVALID_OPTION', message, {
      layer: 'redaction',
      option: 'patterns',
      expected: 'expressions in RE2 syntax',
    });
  };
  let expression: RE2JS;
  try {
    expression = linearEngine().compile(flags === '' ? source : `(?${flags})(?:${source})`);
  } catch {
    throw unusable('does not compile');
  }
  if (expression.matcher('').find()) throw unusable('matches an empty text');
  return expression;
}

/**
 * What people have in their addresses; the standard allows more, which is more often a separator.
 */
const LOCAL = /[\w.+'-]/;
const DOMAIN =
  /(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])/y;

/**
 * Goes from each `@` outwards. The usual expression starts at every letter and takes half a second
 * for 20 KB of `a.a.a.`.
 */
export const emailDetector: Detector = Object.freeze({
  group: 'email',
  find(text: string, emit: Emit) {
    for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
      let start = at;
      while (start > 0 && at - start < 64 && LOCAL.test(text.charAt(start - 1))) start -= 1;
      while (start < at && /[.'-]/.test(text.charAt(start))) start += 1;
      DOMAIN.lastIndex = at + 1;
      if (start < at && !isUserInfo(text, start) && DOMAIN.test(text))
        emit(start, DOMAIN.lastIndex, 'email');
    }
    return undefined;
  },
});

/**
 * `https://user:password@host` is no address, though it ends like one. Stops at the `@` before, so
 * that nothing is read twice.
 */
function isUserInfo(text: string, start: number): boolean {
  if (text.charAt(start - 1) !== ':' && text.charAt(start - 1) !== '/') return false;
  let from = start;
  while (from > 0 && start - from < 140 && !/[/\s@]/.test(text.charAt(from - 1))) from -= 1;
  return text.startsWith('://', from - 3);
}

const PHONE =
  /(?<![\w+])\+[1-9](?:[ .()/-]{0,2}\d){7,14}(?!\d)|(?<![\w.+-])(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])|(?<![\w.+-])0\d{1,4}[ /]\d{3,5}[ ]?\d{3,5}(?![\w-])/g;

/**
 * International form, the ten digits of North America, and a leading zero with a gap. Plain runs of
 * digits are no phone numbers.
 */
export const phoneDetector: Detector = Object.freeze({
  group: 'phone',
  find(text: string, emit: Emit) {
    if (/\d{3}|\+\d/.test(text)) each(PHONE, text, (start, end) => emit(start, end, 'phone'));
    return undefined;
  },
});

const CARD =
  /(?<![\w.-])(?:\d{13,19}|\d{4}([ .\u00a0-])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?|\d{4}([ .\u00a0-])\d{6}\2\d{4,5})(?![\w-])/g;
const ISSUER = /^(?:4|5[1-5]|2[2-7]|3[045689]|37|6[0-9])/;

/** Runs of 13 to 19 digits, in groups or not, that begin like a card and carry its check digit. */
export const cardDetector: Detector = Object.freeze({
  group: 'card',
  find(text: string, emit: Emit) {
    if (!/\d{4}/.test(text)) return undefined;
    each(CARD, text, (start, end, match) => {
      const digits = match.replace(/\D/g, '');
      if (digits.length >= 13 && ISSUER.test(digits) && hasCheckDigit(digits))
        emit(start, end, 'card');
    });
    return undefined;
  },
});

function each(
  pattern: RegExp,
  text: string,
  found: (start: number, end: number, match: string) => void,
): void {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
    found(match.index, pattern.lastIndex, match[0]);
}

/** Luhn: every second digit from the right counts double, and the sum ends in zero. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const counted = index % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}
