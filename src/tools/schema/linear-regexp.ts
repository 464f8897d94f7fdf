/**
 * Patterns of foreign schemas, run in linear time. V8's own engine backtracks: `^(a+)+$` holds a
 * process for seconds over thirty characters.
 */

import { LRUCache } from 'lru-cache';
import type * as re2js from 're2js';
import { describeThrown } from '../../core/contract/errors.ts';
import { linearEngine } from '../../system/linear-engine.ts';
import { spend } from './steps.ts';
import { refusedPattern, translatePattern } from './translate-pattern.ts';

const MAX_ENGINES = 256;
/**
 * What one pattern may keep of its states, in bytes. The engine's own default is eight times that.
 */
const STATE_BYTES = 1_048_576;
/** Instructions times characters that make one step of the meter. */
const WORK_PER_STEP = 32;

interface Engine {
  readonly expression: re2js.RE2JS;
  readonly size: number;
}

/** What ajv needs of a regular expression. */
interface LinearPattern {
  readonly test: (text: string) => boolean;
  readonly toString: () => string;
}

/**
 * Engines hold megabytes once they have seen hostile text, so they live here and not in the
 * compiled schemas.
 */
const engines = new LRUCache<string, Engine>({ max: MAX_ENGINES });

function engineFor(pattern: string): Engine {
  const known = engines.get(pattern);
  if (known !== undefined) return known;
  const engine = compile(translatePattern(pattern).source);
  engines.set(pattern, engine);
  return engine;
}

function compile(source: string): Engine {
  try {
    const expression = linearEngine().compile(source);
    const { dfa } = expression.re2();
    dfa.stateBudget = STATE_BYTES;
    dfa.memBudget = STATE_BYTES;
    return { expression, size: expression.programSize() };
  } catch (thrown) {
    // The engine quotes the pattern after a colon; the reason in front of it is enough.
    const reason = describeThrown(thrown).replace(/: `.*$/, '');
    throw refusedPattern(`cannot be compiled (${reason})`);
  }
}

/**
 * A pattern that matches anywhere in a text, as JSON Schema asks. Throws `ERR_SCHEMA_UNSUPPORTED`
 * for what the engine cannot do. `toString` is unique per pattern, because ajv takes two patterns
 * with the same text for one.
 */
export function linearPattern(pattern: string): LinearPattern {
  engineFor(pattern);
  return {
    test: (text) => {
      const { expression, size } = engineFor(pattern);
      spend((text.length * size) / WORK_PER_STEP);
      return expression.test(text);
    },
    toString: () => `linear:${pattern}`,
  };
}

/** The engine in the form of ajv's option `code.regExp`. */
export const linearRegExp = Object.assign(
  (pattern: string): LinearPattern => linearPattern(pattern),
  { code: 'linearRegExp' },
);
