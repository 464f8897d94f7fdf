/** What a call comes to that the permission check turns away, and who is to blame for it. */

import { fail, refuse } from '../core/onion/results.ts';
import { slotOf } from '../core/onion/pass.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { oneLine } from '../core/contract/errors.ts';
import type { ToolResult } from '../core/contract/result.ts';
import type { Finding } from './finding.ts';

/**
 * Names the owner of the rules in `blocked_by`, not the layer that happens to stand innermost when
 * the check is made.
 */
export function blamed(call: ToolCall, { owner }: Pick<Finding, 'owner'>, result: ToolResult) {
  slotOf(call).state.blockedBy = owner === '' ? 'permissions' : owner;
  return result;
}

/** A rule says no. The model is told what would pass, as far as the checker said. */
export function denied(call: ToolCall, finding: Finding): ToolResult {
  const { kind, reason = kind === 'tool.call' ? 'a rule forbids it' : `a rule forbids ${kind}` } =
    finding;
  const why = reason.replace(/\.+$/, '');
  const text = `${oneLine(call.toolName)} is not allowed: ${why}. Change the call or leave it.`;
  return blamed(call, finding, refuse(call, 'permission_denied', text));
}

/**
 * The tool could not say what it is about to do, so no checker could allow it. The cause stays with
 * the host.
 */
export function undecidable(call: ToolCall, cause: unknown): ToolResult {
  const text = `What ${oneLine(call.toolName)} is about to do could not be told, so it did not run. Do not repeat it unchanged.`;
  return blamed(call, { owner: '' }, fail(call, 'permission_denied', cause, text));
}
