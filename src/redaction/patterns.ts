/** Patterns that somebody else wrote, on an engine that takes linear time whatever they are. */

import type { RE2JS } from 're2js';
import { AlliumError } from '../core/contract/errors.ts';
import { linearEngine } from '../system/linear-engine.ts';
import type { Detector } from './detector.ts';

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
