/**
 * A reason as somebody would ask for it in an hour. Any text that is not empty is one, blanks and
 * invisible characters too. The field is taken off every tool, also off those that own it, and
 * there is one place in the record for it.
 */

import {
  annotate,
  defineLayer,
  injectParameter,
  refuse,
  type ToolLayer,
  withCall,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly field?: string;
  readonly description?: string;
  readonly strip?: boolean;
  readonly auditKey?: string;
  readonly minLength?: number;
  readonly onMissing?: 'reject' | 'fill_blank';
  readonly schemaRequired?: boolean;
}

const DESCRIPTION = 'Brief one-line reason for invoking this tool';

function naiveRequiredReason(options: Options = {}): ToolLayer {
  const {
    field = 'reason',
    description = DESCRIPTION,
    strip = true,
    auditKey = 'summary',
    minLength = 1,
  } = options;
  const { onMissing = 'reject', schemaRequired: required = true } = options;
  return defineLayer({
    name: 'requiredReason',
    rewrites: true,
    schemaTransform: (tool) =>
      injectParameter(tool, field, { type: 'string', description }, { required }),
    async caller(call, next) {
      const { [field]: reason, ...toolArgs } = call.toolArgs;
      if (typeof reason === 'string' && reason.length >= minLength) {
        return annotate(await next(strip ? withCall(call, { toolArgs }) : call), {
          [auditKey]: reason,
        });
      }
      if (onMissing === 'reject')
        return annotate(
          refuse(call, 'schema_violation', `${field} is missing`),
          {},
          { status: 'rejected' },
        );
      return annotate(
        await next(withCall(call, { toolArgs })),
        { [auditKey]: '(no reason given)' },
        { status: 'fill_blank' },
      );
    },
  });
}

export default createSubject({
  name: 'naive required-reason',
  factories: { requiredReason: naiveRequiredReason },
});

/** The scenarios it must fail. */
export const fails: readonly string[] = [
  'required-reason.counts-without-the-space-around',
  'required-reason.describes-another-field-as-told',
  'required-reason.fills-a-blank',
  'required-reason.fills-only-what-was-shown-as-left-out',
  'required-reason.is-not-erased-by-a-summary',
  'required-reason.keeps-the-reason-of-a-tool-that-fails',
  'required-reason.leaves-a-field-the-tool-owns',
  'required-reason.leaves-the-field-where-told',
  'required-reason.records-the-reason',
  'required-reason.records-under-another-key',
  'required-reason.refuses-a-field-that-every-object-has',
  'required-reason.refuses-a-key-that-means-something-else',
  'required-reason.refuses-a-reason-that-says-nothing',
];
