/** The JSON Schemas of what this package reads and writes, by the names they are asked for. */

import { SCENARIO_SCHEMA } from '../../conformance/scenarios/scenario-schema.ts';
import { HANDOFF_SCHEMA } from '../../middleware/handoff-artifact/handoff-schema.ts';
import { SPAN_SCHEMA } from '../../middleware/telemetry/span-schema.ts';
import { CONFIG_SCHEMA } from '../config/index.ts';
import type { JsonSchema } from '../core/call.ts';
import { EVENT_SCHEMA } from '../dispatch/event-schema.ts';
import { APPROVAL_SCHEMA } from '../policy/approvals/approval-schema.ts';
import { RECEIPT_SCHEMA } from '../receipts/receipt-schema.ts';

/** What can be asked for. */
export type SchemaName =
  | 'receipt'
  | 'event'
  | 'span'
  | 'handoff'
  | 'approval'
  | 'scenario'
  | 'config';

export const SCHEMAS: ReadonlyMap<string, JsonSchema> = new Map<SchemaName, JsonSchema>([
  ['receipt', RECEIPT_SCHEMA],
  ['event', EVENT_SCHEMA],
  ['span', SPAN_SCHEMA],
  ['handoff', HANDOFF_SCHEMA],
  ['approval', APPROVAL_SCHEMA],
  ['scenario', SCENARIO_SCHEMA],
  ['config', CONFIG_SCHEMA],
]);
