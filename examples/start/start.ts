/** The README's first program: a rule refuses a call, and the receipt says so. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const state = mkdtempSync(join(tmpdir(), 'allium-example-'));
process.env.ALLIUM_STATE_DIR = state;

// #region start
import { defineTool, governTools } from 'allium';
import { auditLog, consent } from 'allium/middleware';

const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  inputSchema: { type: 'object' },
  execute: () => 'paid',
});
const denyRefunds = consent({ rules: [{ tool: 'refund', decision: 'deny' }], default: 'allow' });
const governed = governTools({ tools: [refund], layers: [auditLog('local'), denyRefunds] });

const result = await governed.call({ name: 'refund', arguments: { order: 'A-1' } });
console.log(`${result.status}, executed: ${result.executed}`);
await governed.close();
// #endregion start

assert.equal(result.executed, 'no');
rmSync(state, { recursive: true });
