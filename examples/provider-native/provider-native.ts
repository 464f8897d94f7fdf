/** Calls that a provider made itself, written down like any others. */

import assert from 'node:assert/strict';
import { defineTool, governTools, nativeCallsOf } from 'allium';
import { auditLog, callLimit, redaction, scopedExecutor } from 'allium/middleware';
import type { Receipt } from 'allium/receipts';

const receipts: Receipt[] = [];
const turn = { sessionId: 'research-7', model: 'a-model', provider: 'anthropic' };

/** What the provider's SDK answered, shortened. */
const message: unknown = {
  type: 'message',
  content: [
    { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'onions' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srv_1',
      content: [{ type: 'web_search_result', url: 'https://example.org' }],
    },
    {
      type: 'mcp_tool_use',
      id: 'mcp_1',
      server_name: 'gh',
      name: 'delete_repo',
      input: { repo: 'onions' },
    },
    {
      type: 'mcp_tool_result',
      tool_use_id: 'mcp_1',
      is_error: true,
      content: [{ type: 'text', text: 'no rights' }],
    },
    { type: 'server_tool_use', id: 'srv_2', name: 'code_execution', input: { code: '1 + 1' } },
  ],
};

// #region declare
const webSearch = defineTool({
  name: 'web_search',
  description: 'Searches the web, at the provider.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
  annotations: { kind: 'search', readOnly: true },
  executor: 'provider_native',
});

const governed = governTools({
  tools: [webSearch],
  layers: [
    auditLog((receipt) => receipts.push(receipt)),
    scopedExecutor({ stage: 'research', allowedTools: ['web_search', 'code_execution'] }),
    callLimit({ maxCalls: 2 }),
    redaction(),
  ],
});

assert.deepEqual(governed.tools, []); // The provider shows it to the model.
// #endregion declare

// #region observe
for (const { request, output } of nativeCallsOf(message)) {
  const { status, executed, audit } = await governed.observe(request, output, { turn });
  const late = audit?.layers.filter((line) => line.status === 'too_late') ?? [];
  const words = late.map(({ name, wouldHaveBeen }) =>
    typeof wouldHaveBeen === 'string' ? `${name} (${wouldHaveBeen})` : name,
  );
  console.log(`${request.name}: ${status}, executed: ${executed}; too late: ${words.join(', ')}`);
}
// #endregion observe

assert.deepEqual(
  receipts.map(({ tool_name, executor, executed }) => [tool_name, executor, executed]),
  [
    ['web_search', 'provider_native', 'yes'],
    ['gh_delete_repo', 'provider_native', 'yes'],
    ['code_execution', 'provider_native', 'unknown'],
  ],
);

// #region refused
const called = await governed.call(
  { name: 'web_search', arguments: { query: 'onions' } },
  { turn: { sessionId: 'another' } },
);

assert.equal(called.status, 'executor_error');
assert.equal(called.executed, 'no');
// #endregion refused
await governed.close();
