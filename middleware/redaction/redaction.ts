/** Hides secrets and personal data in what goes into a tool and in everything that comes out of it. */

import {
  checkOptions,
  defineLayer,
  expected,
  type Expectation,
  inSteps,
  type Stepped,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withCall,
} from '../../src/index.ts';
import { ABORTED, type Redactor } from './ask-redactor.ts';
import { cleanCall, cleanCallNow, type CleanedCall } from './clean-call.ts';
import { type CleanedResult, cleanResult, cleanResultNow } from './clean-result.ts';
import { STRATEGIES, type Strategy } from './markers.ts';
import { blockedCall, blockedResult, cancelled, recorded, uncheckedCall, uncheckedResult } from './outcomes.ts';
import { parsePath } from './paths.ts';
import { isPattern, type RedactionPattern } from './patterns.ts';
import { compileRules, DETECTORS, type DetectorName, textCleaner } from './rules.ts';

export type { RedactionAnswer, RedactionInput, Redactor } from './ask-redactor.ts';
export type { Strategy as RedactionStrategy } from './markers.ts';
export type { RedactionPattern } from './patterns.ts';
export type { DetectorName as RedactionDetector } from './rules.ts';

export interface RedactionOptions {
  /** What to look for. @default ['secrets'], or none beside a redactor given alone */
  readonly detectors?: readonly DetectorName[];
  /** What becomes of findings, by detector, or of those of `paths` and `patterns`. @default 'mask' for all */
  readonly strategies?: Readonly<Partial<Record<DetectorName | 'paths' | 'patterns', Strategy>>>;
  /** Members of arguments and results that are always hidden: `headers.authorization`, `items[*].secret`, `**.token`. @default none */
  readonly paths?: readonly string[];
  /** Expressions in RE2 syntax; what they match is hidden. @default none */
  readonly patterns?: readonly RedactionPattern[];
  /** Asked after everything else, once for the arguments and once for the result. @default none */
  readonly redactor?: Redactor;
  /** Key of the `hash` strategy, where digests must be the same in another process. @default a random one per layer */
  readonly key?: string;
}

const strategy = expected.oneOf(...STRATEGIES);
const STRATEGY_NAMES: readonly string[] = [...DETECTORS, 'paths', 'patterns'];

const EXPECTED: Readonly<Record<keyof RedactionOptions, Expectation>> = {
  detectors: expected.listOf(expected.oneOf(...DETECTORS)),
  strategies: {
    text: `an object of ${STRATEGY_NAMES.join(', ')}, each value ${strategy.text}`,
    test: (value) => expected.mapOf(strategy).test(value) && Object.keys(value as object).every((name) => STRATEGY_NAMES.includes(name)),
  },
  paths: expected.listOf({
    text: 'a path such as "headers.token"',
    test: (value) => typeof value === 'string' && parsePath(value) !== null,
  }),
  patterns: expected.listOf({ text: 'an expression, or { name, pattern }', test: isPattern }),
  redactor: expected.function,
  key: { text: 'a string of at least 16 characters', test: (value) => typeof value === 'string' && value.length >= 16 },
};

/**
 * Cleans the arguments before anything inside sees them, and every surface of the result, progress and the audit record
 * after. Fails closed: where it cannot be said what must be hidden, the call does not run or its result is withheld, with
 * status `redacted`. It finds what it has rules for, in the encodings it knows, and does not understand text: a secret
 * told in words stays.
 */
export function redaction(options: RedactionOptions | Redactor = {}): ToolLayer {
  const given = typeof options === 'function' ? { detectors: [], redactor: options } : options;
  checkOptions('redaction', given, EXPECTED);
  const { detectors = ['secrets'], strategies = {}, paths = [], patterns = [], redactor, key } = given;
  const rules = compileRules({ detectors, strategies, paths, patterns, ...(key === undefined ? {} : { key }) });
  return defineLayer({
    name: 'redaction',
    rewrites: true,
    scrub: textCleaner(rules),
    caller: inSteps((call) => {
      const sent = orNullNow(() => cleanCallNow(call, rules, redactor));
      return sent === null ? orNull(() => cleanCall(call, rules, redactor)).then((later) => goOn(call, later)) : goOn(call, sent);
    }),
  });

  function goOn(call: ToolCall, sent: CleanedCall | typeof ABORTED | null): Stepped {
    if (sent === ABORTED) return cancelled(withCall(call, { toolArgs: {} }));
    if (sent === null) return uncheckedCall(call);
    return sent.blocked ? blockedCall(sent) : { call: sent.call, leave: (answered) => comeBack(sent, answered) };
  }

  function comeBack(sent: CleanedCall, answered: ToolResult): ToolResult | Promise<ToolResult> {
    const cleaned = orNullNow(() => cleanResultNow(answered, sent, rules, redactor));
    if (cleaned !== null) return handOut(sent, cleaned);
    return orNull(() => cleanResult(answered, sent, rules, redactor)).then((later) => handOut(sent, later));
  }

  function handOut(sent: CleanedCall, cleaned: CleanedResult | typeof ABORTED | null): ToolResult {
    if (cleaned === ABORTED) return cancelled(sent.call);
    if (cleaned === null) return uncheckedResult(sent);
    return cleaned.blocked ? blockedResult(sent, cleaned) : recorded(cleaned.result, redactor !== undefined, sent, cleaned);
  }
}

/** What throws here throws again where nothing is skipped. */
function orNullNow<T>(work: () => T | null): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** What a redactor or a rule throws may hold what it was to hide: nothing of it is kept. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch {
    return null;
  }
}
