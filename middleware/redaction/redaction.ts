/**
 * Hides secrets and personal data in what goes into a tool and in everything that comes out of it.
 */

import {
  checkOptions,
  defineLayer,
  expected,
  type Expectation,
  type OrderRule,
  type ToolLayer,
  withCall,
} from '../../src/layer.ts';
import {
  ABORTED,
  cleanCall,
  cleanResult,
  compileRules,
  DETECTORS,
  finish,
  type Incoming,
  isPattern,
  parsePath,
  type RedactionDetector,
  type RedactionPattern,
  type RedactionStrategy,
  type Redactor,
  STRATEGIES,
  textCleaner,
  type Work,
} from '../../src/redaction/index.ts';
import {
  blockedCall,
  blockedResult,
  cancelled,
  recorded,
  shownCall,
  uncheckedCall,
  uncheckedResult,
} from './refusals.ts';

export type {
  RedactionAnswer,
  RedactionDetector,
  RedactionInput,
  RedactionPattern,
  RedactionStrategy,
  Redactor,
} from '../../src/redaction/index.ts';

export interface RedactionOptions {
  /** What to look for. @default ['secrets'], or none beside a redactor given alone */
  readonly detectors?: readonly RedactionDetector[];
  /**
   * What becomes of findings, by detector, or of those of `paths` and `patterns`. @default 'mask'
   * for all
   */
  readonly strategies?: Readonly<
    Partial<Record<RedactionDetector | 'paths' | 'patterns', RedactionStrategy>>
  >;
  /**
   * Members of arguments and results that are always hidden: `headers.authorization`,
   * `items[*].secret`, `**.token`. @default none
   */
  readonly paths?: readonly string[];
  /** Expressions in RE2 syntax; what they match is hidden. @default none */
  readonly patterns?: readonly RedactionPattern[];
  /** Asked after everything else, once for the arguments and once for the result. @default none */
  readonly redactor?: Redactor;
  /**
   * What becomes of findings in arguments: `report` records them and gives the tool what the model
   * sent. @default 'mask'
   */
  readonly in?: Incoming;
  /**
   * Key of the `hash` strategy, where digests must be the same in another process. @default a
   * random one per layer
   */
  readonly key?: string;
}

const strategy = expected.oneOf(...STRATEGIES);
const STRATEGY_NAMES: readonly string[] = [...DETECTORS, 'paths', 'patterns'];

const EXPECTED: Readonly<Record<keyof RedactionOptions, Expectation>> = {
  detectors: expected.listOf(expected.oneOf(...DETECTORS)),
  strategies: {
    text: `an object of ${STRATEGY_NAMES.join(', ')}, each value ${strategy.text}`,
    test: (value) =>
      expected.mapOf(strategy).test(value) &&
      Object.keys(value as object).every((name) => STRATEGY_NAMES.includes(name)),
  },
  paths: expected.listOf({
    text: 'a path such as "headers.token"',
    test: (value) => typeof value === 'string' && parsePath(value) !== null,
  }),
  patterns: expected.listOf({ text: 'an expression, or { name, pattern }', test: isPattern }),
  redactor: expected.function,
  in: expected.oneOf('mask', 'report'),
  key: {
    text: 'a string of at least 16 characters',
    test: (value) => typeof value === 'string' && value.length >= 16,
  },
};

/**
 * Where arguments reach the layers inside as the model sent them, a layer that keeps or sends them
 * on must not stand there.
 */
const KEEPERS: readonly OrderRule[] = ['record', 'telemetry'].map((insideOf) => ({
  insideOf,
  level: 'must',
  because: `in: 'report' hands the arguments on as they are, and ${insideOf} inside it would keep what was found`,
}));

/**
 * Cleans the arguments before anything inside sees them, and every surface of the result, progress
 * and the audit record after. Fails closed: where it cannot be said what must be hidden, the call
 * does not run or its result is withheld, with status `redacted`. It finds what it has families
 * for, in the encodings it knows, and does not understand text: a secret told in words stays.
 */
export function redaction(options: RedactionOptions | Redactor = {}): ToolLayer {
  const given = typeof options === 'function' ? { detectors: [], redactor: options } : options;
  checkOptions('redaction', given, EXPECTED);
  const {
    detectors = ['secrets'],
    strategies = {},
    paths = [],
    patterns = [],
    redactor,
    in: incoming = 'mask',
    key,
  } = given;
  const rules = compileRules({
    detectors,
    strategies,
    paths,
    patterns,
    ...(key === undefined ? {} : { key }),
  });
  return defineLayer({
    name: 'redaction',
    rewrites: true,
    scrub: textCleaner(rules),
    ...(incoming === 'report' ? { order: KEEPERS } : {}),
    async caller(call, next) {
      // Most work is done at once: to wait for it would cost a turn.
      const checking = orNull(cleanCall(call, rules, redactor, incoming));
      const sent = checking instanceof Promise ? await checking : checking;
      if (sent === ABORTED) return cancelled(withCall(call, { toolArgs: {} }));
      if (sent === null) return uncheckedCall(call);
      if (sent.blocked) return blockedCall(sent);
      const answered = await next(sent.call);
      const cleaning = orNull(cleanResult(answered, sent, rules, redactor));
      const cleaned = cleaning instanceof Promise ? await cleaning : cleaning;
      if (cleaned === ABORTED) return cancelled(shownCall(sent));
      if (cleaned === null) return uncheckedResult(sent);
      if (cleaned.blocked) return blockedResult(sent, cleaned);
      return recorded(cleaned.result, redactor !== undefined, sent, cleaned);
    },
  });
}

/** What a redactor or a rule throws may hold what it was to hide: nothing of it is kept. */
function orNull<T>(work: Work<T>): T | null | Promise<T | null> {
  try {
    const done = finish(work);
    return done instanceof Promise ? done.catch(() => null) : done;
  } catch {
    return null;
  }
}
