/**
 * Redaction as somebody would write it in an hour: a few expressions over the JSON text of the
 * arguments and of `result`. The other surfaces, encodings and the audit record are left as they
 * are, and a redactor that throws or answers later is passed over.
 */

import {
  annotate,
  defineLayer,
  type JsonObject,
  type JsonValue,
  type ToolLayer,
  withCall,
  withResult,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Answer {
  readonly args?: JsonObject;
  readonly result?: JsonValue;
  readonly redactedFields?: readonly string[];
}
type Redactor = (input: object) => Answer | null;
interface Options {
  readonly detectors?: readonly string[];
  readonly patterns?: readonly (string | { readonly name: string; readonly pattern: string })[];
  readonly redactor?: Redactor;
}

const DETECTORS: Readonly<Record<string, readonly [RegExp, string]>> = {
  secrets: [/(?<=password=)[^\s"\\]+|(?<="password":")[^"]+/g, '[redacted:password]'],
  email: [/[\w.]+@[\w.]+\.\w+/g, '[redacted:email]'],
  phone: [/\+\d[\d ]{7,}\d/g, '[redacted:phone]'],
  card: [/\d{4} \d{4} \d{4} \d{4}/g, '[redacted:card]'],
};

function naiveRedaction(given: Options | Redactor = {}): ToolLayer {
  const {
    detectors = ['secrets'],
    patterns = [],
    redactor,
  } = typeof given === 'function' ? { detectors: [], redactor: given } : given;
  const own = patterns.map((one): readonly [RegExp, string] => {
    const { name, pattern } = typeof one === 'string' ? { name: 'pattern', pattern: one } : one;
    return [new RegExp(pattern.replace('(?i)', ''), 'gi'), `[redacted:${name}]`];
  });
  const rules = [
    ...detectors.flatMap((name) => (DETECTORS[name] ? [DETECTORS[name]] : [])),
    ...own,
  ];
  const clean = (text: string): string =>
    rules.reduce((cleaned, [pattern, mask]) => cleaned.replace(pattern, mask), text);
  const cleanValue = (value: JsonValue): JsonValue =>
    JSON.parse(clean(JSON.stringify(value))) as JsonValue; // It was JSON before.
  const ask = (input: object): Answer => {
    try {
      return redactor?.(input) ?? {};
    } catch {
      return {};
    }
  };
  return defineLayer({
    name: 'redaction',
    rewrites: true,
    async caller(call, next) {
      const before = cleanValue(call.toolArgs) as JsonObject; // An object stays one.
      const { args = before, redactedFields: redactedIn = [] } = ask({
        phase: 'in',
        args: before,
        result: null,
      });
      const answered = await next(withCall(call, { toolArgs: args }));
      const after = cleanValue(answered.result);
      const { result = after, redactedFields: redactedOut = [] } = ask({
        phase: 'out',
        args,
        result: after,
      });
      const cleaned = answered.ok ? withResult(answered, { result }) : answered;
      return redactor === undefined
        ? cleaned
        : annotate(cleaned, { metadata: { redactedIn, redactedOut } });
    },
  });
}

export default createSubject({ name: 'naive redaction', factories: { redaction: naiveRedaction } });

/** The scenarios it must fail. */
export const fails: readonly string[] = [
  ...[
    'redaction.asks-a-redactor-after-the-detectors',
    'redaction.blocks-a-call',
    'redaction.blocks-a-result',
  ],
  ...['redaction.blocks-by-path', 'redaction.does-not-run-what-it-could-not-check'],
  ...[
    'redaction.does-not-run-with-a-path-of-the-tool-it-cannot-read',
    'redaction.finds-mail-phone-and-card',
  ],
  ...['redaction.finds-more-secrets-where-told', 'redaction.finds-secrets-by-their-form'],
  ...['redaction.finds-secrets-by-their-name', 'redaction.hashes-with-its-key', 'redaction.hashes'],
  ...[
    'redaction.hides-again-what-a-redactor-took-out-of-the-arguments',
    'redaction.hides-arguments-from-the-tool',
  ],
  ...[
    'redaction.hides-by-path',
    'redaction.hides-elsewhere-what-a-path-hid',
    'redaction.hides-in-errors',
  ],
  ...['redaction.hides-in-progress', 'redaction.hides-in-what-other-layers-write'],
  ...[
    'redaction.hides-on-all-surfaces-what-a-redactor-took-out',
    'redaction.hides-on-every-surface-of-a-result',
  ],
  ...[
    'redaction.hides-the-paths-of-the-tool',
    'redaction.keeps-a-schema-that-wants-a-number',
    'redaction.keeps-calls-apart',
  ],
  ...[
    'redaction.leaves-its-own-tokens-alone',
    'redaction.lets-go-of-a-caller-that-leaves-after-the-tool',
  ],
  ...[
    'redaction.lets-go-of-a-caller-that-leaves-before-the-tool',
    'redaction.may-change-what-was-approved',
  ],
  ...[
    'redaction.records-names-and-counts',
    'redaction.refuses-a-path-that-is-none',
    'redaction.refuses-a-short-key',
  ],
  ...['redaction.refuses-a-strategy-nobody-knows', 'redaction.sees-through-encodings'],
  ...[
    'redaction.reports-what-a-tool-is-to-write',
    'redaction.sees-through-the-colours-of-a-terminal',
  ],
  ...['redaction.sees-through-invisible-characters', 'redaction.takes-no-pattern-that-is-none'],
  ...[
    'redaction.takes-no-pattern-that-matches-everywhere',
    'redaction.tokenises',
    'redaction.waits-for-a-redactor',
  ],
  ...['redaction.withholds-on-an-odd-answer', 'redaction.withholds-what-it-could-not-check'],
];
