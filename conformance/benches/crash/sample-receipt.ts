/** What the crash runs write. */

import type { Receipt } from '../../../src/receipts/index.ts';

/** A complete receipt. Its length differs from call to call, so that lines end everywhere. */
export const receiptOf = (callId: string, sessionId: string): Receipt => ({
  schema_version: 1,
  record: 'receipt',
  session_id: sessionId,
  run_id: null,
  tool_call_id: callId,
  tool_name: 'write_file',
  iteration: 1,
  turn_index: null,
  emit_order: 0,
  reason: 'x'.repeat(callId.length * 7),
  kind: 'edit',
  executor: 'local',
  status: 'ok',
  error_category: null,
  executed: 'yes',
  blocked_by: null,
  duration_ms: 1,
  requested_hash: `sha256:${'a'.repeat(64)}`,
  approved_hash: null,
  executed_hash: null,
  args_hash: `sha256:${'a'.repeat(64)}`,
  result_hash: null,
  model: null,
  provider: null,
  audit: null,
  emitted_at: '2026-01-01T00:00:00.000Z',
});
