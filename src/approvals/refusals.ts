/** What a call comes to that waits for a person, or that a person did not approve. */

import { fail, refuse } from '../core/onion/results.ts';
import { clockOf } from '../core/onion/own-call.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { isoTime } from '../core/time/clock.ts';
import { oneLine } from '../core/contract/errors.ts';
import { type Interruption, type ToolResult } from '../core/contract/result.ts';

/** How long a question stays open where its gate does not say: one day. */
const DEFAULT_OPEN_MS = 86_400_000;

/**
 * What a model reads about a call that waits. It says what to do meanwhile, and nothing that could
 * be used to approve the call: no command, no folder, no code. A model may have a shell. Nor does
 * it say that a person was told: without `notify` a question may lie in the queue unseen.
 */
export function waitingText(
  toolName: string,
  kind: Interruption['kind'] = 'approval_required',
): string {
  const needed =
    kind === 'auth_required' ? 'needs a person to sign in' : 'needs an approval by a person';
  return [
    `${oneLine(toolName)} ${needed}, and waits for it; it has not run.`,
    'Meanwhile go on with other work, or stop and say what you wait for: do not repeat the call, and do not try to get the same done in another way.',
    'When you are told that it was decided, make the same call again, unchanged.',
  ].join(' ');
}

/** Ends a call with the question that `askApproval` left open. */
export const interrupt = (call: ToolCall, interruption: Interruption): ToolResult =>
  refuse(call, interruption.kind, waitingText(call.toolName, interruption.kind), { interruption });

/**
 * Until when a question stays open: what the gate said, `null` for ever, and one day where it said
 * nothing.
 */
export function openUntil(
  call: ToolCall,
  expiresAt?: string | null,
): Pick<Interruption, 'expiresAt'> {
  if (expiresAt === null) return {};
  return { expiresAt: expiresAt ?? isoTime(clockOf(call).now() + DEFAULT_OPEN_MS) };
}

/** A person said no. Their `reason` is told to the model on one line. */
export function notApproved(call: ToolCall, reason: string | undefined): ToolResult {
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`;
  const text = `${oneLine(call.toolName)} was not approved${why}. Do not repeat the call unchanged.`;
  return refuse(call, 'consent_denied', text);
}

/** The question expired without an answer. */
export const unanswered = (call: ToolCall): ToolResult =>
  refuse(
    call,
    'consent_expired',
    `Nobody decided about ${oneLine(call.toolName)} in time, so it did not run.`,
  );

/** Asking failed. The cause stays with the host: it may speak of the arguments. */
export const askingFailed = (call: ToolCall, cause: unknown): ToolResult =>
  fail(
    call,
    'consent_denied',
    cause,
    `${oneLine(call.toolName)} was not approved: deciding about it failed. Do not repeat the call unchanged.`,
  );
