/**
 * Hides secrets and personal data in what goes into a tool and in everything that comes out of it.
 */

import {
  checkOptions,
  defineLayer,
  must,
  type Next,
  type OrderRule,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withCall,
} from '../../src/layer.ts';
import {
  ABORTED,
  cleanCall,
  type CleanedCall,
  type CleanedResult,
  cleanResult,
  compileRules,
  finish,
  type RedactionRules,
  type Redactor,
  textCleaner,
  type Work,
} from '../../src/redaction/index.ts';
import { OPTIONS, type RedactionOptions } from './options.ts';
import {
  blockedCall,
  blockedResult,
  cancelled,
  type Found,
  recorded,
  shownCall,
  uncheckedCall,
  uncheckedResult,
} from './refusals.ts';

export type { RedactionOptions };
export type {
  RedactionAnswer,
  RedactionDetector,
  RedactionInput,
  RedactionPattern,
  RedactionStrategy,
  Redactor,
} from '../../src/redaction/index.ts';

/**
 * Where arguments reach the layers inside as the model sent them, a layer that keeps or sends them
 * on must not stand there.
 */
const KEEPERS: readonly OrderRule[] = ['record', 'telemetry'].map((keeper) =>
  must.insideOf(
    keeper,
    `in: 'report' hands the arguments on as they are, and ${keeper} inside it would keep what was found`,
  ),
);

/**
 * Cleans the arguments before anything inside sees them, and every surface of the result, progress
 * and the audit record after. Fails closed: where it cannot be said what must be hidden, the call
 * does not run or its result is withheld, with status `redacted`. It finds what it has families
 * for, in the encodings it knows, and does not understand text: a secret told in words stays.
 */
export function redaction(options: RedactionOptions | Redactor = {}): ToolLayer {
  const given = typeof options === 'function' ? { detectors: [], redactor: options } : options;
  checkOptions('redaction', given, OPTIONS);
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
    caller(call, next) {
      // Most work is done at once: to wait for it would cost a turn.
      const checked = orNull(cleanCall(call, rules, redactor, incoming));
      return checked instanceof Promise
        ? checked.then((sent) => passOn(call, sent, next, rules, redactor))
        : passOn(call, checked, next, rules, redactor);
    },
  });
}

/** What came of looking; `null` where it cannot be said what must be hidden. */
type Checked<T> = T | typeof ABORTED | null;

function passOn(
  call: ToolCall,
  sent: Checked<CleanedCall>,
  next: Next,
  rules: RedactionRules,
  redactor: Redactor | undefined,
): ToolResult | Promise<ToolResult> {
  if (sent === ABORTED) return cancelled(withCall(call, { toolArgs: {} }));
  if (sent === null) return uncheckedCall(call);
  if (sent.blocked) return blockedCall(sent);
  return next(sent.call).then((answered) => {
    const checked = orNull(cleanResult(answered, sent, rules, redactor));
    return checked instanceof Promise
      ? checked.then((cleaned) => handOut(sent, cleaned, redactor))
      : handOut(sent, checked, redactor);
  });
}

function handOut(
  sent: CleanedCall,
  cleaned: Checked<CleanedResult>,
  redactor: Redactor | undefined,
): ToolResult {
  if (cleaned === ABORTED) return cancelled(shownCall(sent));
  if (cleaned === null) return uncheckedResult(sent);
  if (cleaned.blocked) return blockedResult(sent, cleaned);
  const isQuiet = isNothing(sent) && isNothing(cleaned);
  return isQuiet && redactor === undefined
    ? cleaned.result
    : recorded(cleaned.result, isQuiet, sent, cleaned);
}

const isNothing = ({ fields, counts }: Found): boolean =>
  fields.length === 0 && Object.keys(counts).length === 0;

/** What a redactor or a rule throws may hold what it was to hide: nothing of it is kept. */
function orNull<T>(work: Work<T>): T | null | Promise<T | null> {
  try {
    const done = finish(work);
    return done instanceof Promise ? done.catch(() => null) : done;
  } catch {
    return null;
  }
}
