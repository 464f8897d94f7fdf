/** The options of `requiredReason`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';

export interface RequiredReasonOptions {
  /** The parameter that holds the reason. @default 'reason' */
  readonly field?: string;
  /** What the model is told about it. @default 'Brief one-line reason for invoking this tool' */
  readonly description?: string;
  /** Takes the field off again before the layers inside and the tool. @default true */
  readonly strip?: boolean;
  /** Where the reason stands in the audit record, besides `reason`. @default 'summary' */
  readonly auditKey?: string;
  /** Shortest reason that counts, without the space around it. @default 1 */
  readonly minLength?: number;
  /** Whether a call without a reason is refused, or runs. @default 'reject' */
  readonly onMissing?: 'reject' | 'fill_blank';
  /** Whether the schema requires the field. @default true; false with 'fill_blank' */
  readonly schemaRequired?: boolean;
}

const { boolean, integer, oneOf, string } = expected;

/** A text over these would forge what other layers say about the call. */
const TAKEN_KEYS: ReadonlySet<unknown> = new Set([
  ...[
    '__proto__',
    'layers',
    'kind',
    'hints',
    'consent',
    'scope',
    'handoff',
    'rewrites',
    'receiptUri',
    'metadata',
    'reasonMissing',
  ],
]);
const INHERITED: ReadonlySet<unknown> = new Set(['__proto__', 'constructor', 'prototype']);

const nameBut = (names: ReadonlySet<unknown>) => ({
  ...string,
  text: `a name, and none of ${[...names].join(', ')}`,
  test: (value: unknown) => string.test(value) && !names.has(value),
});

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<RequiredReasonOptions> = {
  field: option(nameBut(INHERITED), 'the parameter that holds the reason', '`reason`'),
  description: option(string, 'what the model is told about it', '`Brief one-line reason for invoking this tool`'),
  strip: option(boolean, 'takes the field off before the layers inside and the tool', '`true`'),
  auditKey: option(nameBut(TAKEN_KEYS), 'where the reason stands in the audit record, besides `reason`', '`summary`'),
  minLength: option(integer(1), 'shortest reason that counts, without the space around it', '1'),
  onMissing: option(oneOf('reject', 'fill_blank'), "`'reject'` refuses a call without a reason, `'fill_blank'` runs it", "`'reject'`"),
  schemaRequired: option(boolean, 'whether the schema shown to the model requires the field', "`true`; `false` with `'fill_blank'`"),
};
