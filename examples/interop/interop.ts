/**
 * Approvals through an ACP client, permissions that an ACP agent asks for, and audit records in ACP
 * and A2A messages.
 */

import assert from 'node:assert/strict';
import { defineTool, governTools } from 'allium';
import { A2A_AUDIT_URI, fromA2aMetadata, toA2aMetadata } from 'allium/a2a';
import {
  type AcpPermissionRequest,
  acpPrompt,
  fromAcpMeta,
  fromAcpPermission,
  permissionRequestsOf,
  toAcpMeta,
  toAcpResponse,
} from 'allium/acp';
import { consent } from 'allium/middleware';
import { evaluateCheckers, pathPolicy } from 'allium/policy';

const pay = defineTool({
  name: 'pay',
  description: 'Pays somebody.',
  inputSchema: {
    type: 'object',
    properties: { to: { type: 'string' }, amount: { type: 'integer' } },
    required: ['to', 'amount'],
  },
  annotations: { title: 'Pay', kind: 'execute' },
  execute: ({ to }) => `paid ${to}`,
});

/**
 * Stands for the editor at the other end of
 * `connection.client.request('session/request_permission', request)`.
 */
const requests: AcpPermissionRequest[] = [];
const editor = async (request: AcpPermissionRequest): Promise<unknown> => {
  requests.push(request);
  const { to } = request.toolCall.rawInput as { readonly to: string };
  return {
    outcome:
      to === 'bob' ? { outcome: 'selected', optionId: 'allow_once' } : { outcome: 'cancelled' },
  };
};

// #region ask
const governed = governTools({
  tools: [pay],
  layers: [consent({ default: 'ask' })],
  prompts: [acpPrompt((request) => editor(request), { decidedBy: 'ada' })],
});

const turn = { sessionId: 'session-1' };
const paid = await governed.call(
  { name: 'pay', arguments: { to: 'bob', amount: 5 }, id: 'call_1' },
  { turn },
);
const asked = await governed.call(
  { name: 'pay', arguments: { to: 'eve', amount: 5 }, id: 'call_2' },
  { turn },
);

assert.deepEqual([paid.status, paid.approval?.decidedBy], ['ok', 'ada']);
assert.deepEqual([asked.status, asked.executed], ['approval_required', 'no']); // The editor answered `cancelled`.
// #endregion ask
const [shown] = requests;
assert(shown !== undefined);
const { _meta: _approval, ...printed } = shown;
console.log(JSON.stringify(printed, null, 2));

// #region answer
const policy = pathPolicy({ roots: ['/work'] });

/** What an editor does with a `session/request_permission` that comes in. */
async function onRequestPermission(params: unknown) {
  const { asked } = fromAcpPermission(params);
  if (asked === null) return toAcpResponse(null, null);
  for (const request of permissionRequestsOf(asked)) {
    const { decision, reason = '' } = await evaluateCheckers([policy], request);
    if (decision === 'deny')
      return toAcpResponse(asked, { decision: 'reject_once', decidedBy: 'pathPolicy', reason });
  }
  return toAcpResponse(asked, await askPerson(asked.interruption.shown));
}
// #endregion answer

const askPerson = async (_shown: object) => ({ decision: 'allow_always' }) as const;
const paramsFor = (path: string) => ({
  sessionId: 'session-1',
  toolCall: {
    toolCallId: 'call_3',
    title: `Edit ${path}`,
    kind: 'edit',
    rawInput: { path },
    locations: [{ path }],
  },
  options: [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ],
});

// #region outcome
assert.deepEqual(await onRequestPermission(paramsFor('/etc/passwd')), {
  outcome: { outcome: 'selected', optionId: 'no' },
});
// The person said "always", the agent only offers "once".
assert.deepEqual(await onRequestPermission(paramsFor('/work/a.ts')), {
  outcome: { outcome: 'selected', optionId: 'yes' },
});
assert.deepEqual(await onRequestPermission({ options: [] }), { outcome: { outcome: 'cancelled' } });
// #endregion outcome

const { audit } = paid;
assert(audit !== undefined);

// #region audit
const update = {
  sessionUpdate: 'tool_call_update',
  toolCallId: 'call_1',
  status: 'completed',
  _meta: toAcpMeta(audit),
};
const message = {
  messageId: 'm-1',
  role: 'ROLE_AGENT',
  parts: [],
  extensions: [A2A_AUDIT_URI],
  metadata: toA2aMetadata(audit),
};

assert.deepEqual(fromAcpMeta(update._meta), { audit, problem: null });
assert.deepEqual(fromA2aMetadata(message.metadata).audit?.consent, audit.consent);
assert.deepEqual(fromA2aMetadata({}), { audit: null, problem: null });
assert.equal(
  fromAcpMeta({ 'allium/audit': { layers: 'none' } }).problem,
  '"allium/audit": /layers must be array, got string',
);
// #endregion audit

await governed.close();
