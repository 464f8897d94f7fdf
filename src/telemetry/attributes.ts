/**
 * The attributes of a span, under the names of the GenAI conventions and, where those have none,
 * under `allium.`. The conventions are not stable yet, so the names are written out here instead of
 * being taken from a package.
 */

import type { ToolCall } from '../core/contract/call.ts';
import { accountOf } from '../core/onion/account.ts';
import { hashOf } from '../core/onion/conditions.ts';
import {
  clip,
  type EndedCall,
  errorTypeOf,
  MAX_CHILDREN,
  MAX_NAME,
  MAX_TEXT,
} from './ended-call.ts';

/** What a span says about a call; flat, as exporters want it. */
export type SpanAttributes = Record<string, string | number | boolean>;

export const OPERATION = 'gen_ai.operation.name';
export const TOOL_NAME = 'gen_ai.tool.name';
export const ERROR_TYPE = 'error.type';
export const STATUS = 'allium.status';
export const EXECUTE_TOOL = 'execute_tool';

/**
 * What is known before the call goes on: samplers decide by these. Ours win over what a host
 * attached.
 */
export function openingAttributes(
  call: ToolCall,
  attached: Readonly<SpanAttributes> | null,
): SpanAttributes {
  const { declaredExecutor: executor, description, turn } = call;
  const own: SpanAttributes = {
    [OPERATION]: EXECUTE_TOOL,
    [TOOL_NAME]: clip(call.toolName, MAX_NAME),
    'gen_ai.tool.call.id': clip(call.callId, MAX_NAME),
    'gen_ai.conversation.id': clip(turn.sessionId, MAX_NAME),
    'allium.iteration': turn.iteration,
  };
  // One by one: spreading absent members in costs more than the rest of the span.
  if (description !== '') own['gen_ai.tool.description'] = clip(description, MAX_TEXT);
  if (executor !== null) own['gen_ai.tool.type'] = executor === 'local' ? 'function' : 'extension';
  if (executor !== null) own['allium.executor'] = executor;
  if (executor === 'mcp_server') own['mcp.method.name'] = 'tools/call';
  if (turn.resumes !== undefined) own['allium.resumes'] = turn.resumes;
  return attached === null ? own : { ...attached, ...own };
}

/**
 * What is known once the call has ended. Codes, counts and hashes: no text that a model, a tool or
 * a person wrote.
 */
export function closingAttributes({ call, result }: EndedCall): SpanAttributes {
  const own: SpanAttributes = {
    [STATUS]: clip(result.status, MAX_NAME),
    'allium.ok': result.ok,
    'allium.executed': result.executed,
    'allium.args_hash': hashOf(call, call.toolArgs),
  };
  const errorType = errorTypeOf(result);
  if (errorType !== null) own[ERROR_TYPE] = errorType;
  const { blockedBy } = accountOf(result);
  if (blockedBy !== null) own['allium.blocked_by'] = clip(blockedBy, MAX_NAME);
  const { audit } = result;
  if (audit === undefined) return own;
  if (typeof audit.consent?.decision === 'string')
    own['allium.consent.decision'] = clip(audit.consent.decision, MAX_NAME);
  if (typeof audit.receiptUri === 'string')
    own['allium.receipt.uri'] = clip(audit.receiptUri, MAX_TEXT);
  if (audit.layers.length > MAX_CHILDREN)
    own['allium.layers.omitted'] = audit.layers.length - MAX_CHILDREN;
  return own;
}
