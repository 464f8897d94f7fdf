/** How a call ends at the permission check. */

import { SLOT, type ToolCall } from '../../core/call.ts';
import { cancelled } from '../../core/frame.ts';
import { oneLine } from '../../core/errors.ts';
import { fail, type Interruption, refuse, type ToolResult } from '../../core/result.ts';
import { interrupt } from '../approvals/interrupt.ts';
import type { Finding } from './finding.ts';

const nameOf = ({ toolName }: ToolCall): string => oneLine(toolName);

/** Who laid down the rules is to blame, not the layer that happens to stand innermost. */
function blamed(call: ToolCall, owner: string, result: ToolResult): ToolResult {
  call[SLOT].state.blockedBy = owner === '' ? 'permissions' : owner;
  return result;
}

/** The model is told what would pass, as far as the checker said. */
export function denied(call: ToolCall, { reason, owner, kind }: Finding): ToolResult {
  const why = reason ?? (kind === 'tool.call' ? 'a rule forbids it' : `a rule forbids ${kind}`);
  return blamed(
    call,
    owner,
    refuse(
      call,
      'permission_denied',
      `${nameOf(call)} is not allowed: ${withoutDot(why)}. Change the call or leave it.`,
    ),
  );
}

const withoutDot = (text: string): string => text.replace(/\.+$/, '');

/** The tool could not say what it is about to do, so nobody could allow it. The cause stays with the host. */
export const undecidable = (call: ToolCall, cause: unknown): ToolResult =>
  blamed(
    call,
    'permissions',
    fail(
      call,
      'permission_denied',
      cause,
      `What ${nameOf(call)} is about to do could not be told, so it did not run. Do not repeat it unchanged.`,
    ),
  );

export const cancelledBefore = (call: ToolCall): ToolResult => cancelled(call);

export function waiting(
  call: ToolCall,
  interruption: Interruption,
  { owner }: Finding,
): ToolResult {
  return blamed(call, owner, interrupt(call, interruption));
}

export function rejected(
  call: ToolCall,
  reason: string | undefined,
  { owner }: Finding,
): ToolResult {
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`;
  return blamed(
    call,
    owner,
    refuse(
      call,
      'consent_denied',
      `${nameOf(call)} was not approved${why}. Do not repeat the call unchanged.`,
    ),
  );
}

export const tooLate = (call: ToolCall, { owner }: Finding): ToolResult =>
  blamed(
    call,
    owner,
    refuse(
      call,
      'consent_expired',
      `Nobody decided about ${nameOf(call)} in time, so it did not run.`,
    ),
  );

export const askingFailed = (call: ToolCall, cause: unknown, { owner }: Finding): ToolResult =>
  blamed(
    call,
    owner,
    fail(
      call,
      'consent_denied',
      cause,
      `${nameOf(call)} was not approved: deciding about it failed. Do not repeat the call unchanged.`,
    ),
  );
