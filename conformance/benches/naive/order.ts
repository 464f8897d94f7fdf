/**
 * A stack that takes layers in any order. What is naive about it: it trusts whoever wrote the list
 * to know which order does harm.
 */

import { type GovernedTools, type GovernOptions, governTools } from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

function govern(options: GovernOptions): GovernedTools {
  const layers = options.layers.map((layer) => {
    if (typeof layer === 'function') return layer;
    const { order: _, ...rest } = layer;
    return rest;
  });
  return governTools({ ...options, layers });
}

export default createSubject({ name: 'naive order', govern });

export const fails: readonly string[] = [
  'order.a-gated-layer-keeps-its-rules',
  'order.a-preview-outside-redaction-is-refused',
  'order.a-rule-speaks-of-every-layer-of-a-name',
  'order.an-effect-key-inside-redaction-is-refused',
  'order.an-output-limit-inside-redaction-is-refused',
  'order.audit-inside-a-refusing-layer-is-refused',
  'order.audit-inside-consent-is-refused',
  'order.audit-inside-dry-run-is-refused',
  'order.audit-inside-idempotency-is-refused',
  'order.audit-inside-redaction-is-refused',
  'order.audit-inside-required-reason-is-refused',
  'order.audit-inside-retry-is-refused',
  'order.audit-inside-timeout-is-refused',
  'order.captured-payloads-outside-redaction-are-refused',
  'order.timeout-outside-consent-is-refused',
];
