/** How a call ends that waits for a person: with one sentence, whoever asked. */

import { clockOf, type ToolCall } from '../../core/call.ts';
import { isoTime } from '../../core/clock.ts';
import { oneLine } from '../../core/errors.ts';
import { type Interruption, refuse, type ToolResult } from '../../core/result.ts';

/** How long a question that nobody gave another time to stays open: one day. */
export const DEFAULT_OPEN_MS = 86_400_000;

/**
 * What a model reads about a call that waits. It says what to do meanwhile, and nothing that could be used to approve the call: no
 * command, no folder, no code. Whoever reads it may have a shell.
 */
export function waitingText(
  toolName: string,
  kind: Interruption['kind'] = 'approval_required',
): string {
  const needed = kind === 'auth_required' ? 'needs somebody to sign in' : 'needs an approval';
  return [
    `${oneLine(toolName)} ${needed}, and a person was asked; it has not run.`,
    'Meanwhile go on with other work, or stop and say what you wait for: do not repeat the call, and do not try to get the same done in another way.',
    'When you are told that it was decided, make the same call again, unchanged.',
  ].join(' ');
}

/** Ends a call with the question that `askApproval` left open. */
export const interrupt = (call: ToolCall, interruption: Interruption): ToolResult =>
  refuse(call, interruption.kind, waitingText(call.toolName, interruption.kind), { interruption });

/** Until when a question stays open: what the gate said, `null` for ever, and one day where it said nothing. */
export function openUntil(
  call: ToolCall,
  expiresAt?: string | null,
): Pick<Interruption, 'expiresAt'> {
  if (expiresAt === null) return {};
  return { expiresAt: expiresAt ?? isoTime(clockOf(call).now() + DEFAULT_OPEN_MS) };
}
