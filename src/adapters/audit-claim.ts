/** Audit records that travel inside the messages of other protocols. */

import type { JsonObject } from '../core/json/json-value.ts';
import type { AuditRecord } from '../core/contract/audit-record.ts';
import type { JsonSchema } from '../core/contract/call.ts';
import { isAlliumError } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';
import { fromWire, toWire } from '../core/wire/wire.ts';
import { AUDIT_SCHEMA } from '../core/wire/wire-schema.ts';
import { readClaim } from './read-claim.ts';

/** What a message says about a call. Both are `null` where it says nothing. */
export interface AuditReading {
  /** A claim of whoever sent it, and no proof. Only a receipt can be verified. */
  readonly audit: AuditRecord | null;
  readonly problem: string | null;
}

const RECORD: JsonSchema = Object.freeze({ ...AUDIT_SCHEMA, required: ['layers'] });

/** The record under its key, in its wire form. */
export const auditUnder = (key: string, audit: AuditRecord): { [key: string]: unknown } => ({
  [key]: toWire(audit),
});

/** Never throws. */
export function readAuditUnder(key: string, holder: unknown): AuditReading {
  const found = memberOf(holder, key);
  if (found === undefined) return { audit: null, problem: null };
  const { value, problem } = readClaim(RECORD, found);
  if (problem !== null) return { audit: null, problem: `"${key}": ${problem}` };
  try {
    // The schema has held it to the kinds of the conventional keys; all others are free.
    return { audit: fromWire(value as JsonObject) as unknown as AuditRecord, problem: null };
  } catch (error) {
    return {
      audit: null,
      problem: `"${key}": ${isAlliumError(error) ? error.message : 'cannot be read'}`,
    };
  }
}

function memberOf(holder: unknown, key: string): unknown {
  try {
    return isObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;
  } catch {
    // A proxy that fails is no JSON: symbols never are.
    return Symbol('unreadable');
  }
}
