/** How a call ends at this layer. */

import { plainLine, type Settled } from '../../src/consent/index.ts';
import { fail, refuse, type ToolCall, type ToolResult } from '../../src/layer.ts';

/** The call was taken back. */
export const gone = (call: ToolCall): ToolResult =>
  refuse(call, 'cancelled', 'The call was cancelled before it was decided about.');

/** There was no decision in time, which is not a denial. */
export const expired = (call: ToolCall, expiresMs: number): ToolResult =>
  refuse(
    call,
    'consent_expired',
    `Nobody decided about ${nameOf(call)} within ${expiresMs} ms, so it did not run.`,
  );

/** The cause stays with the host: a decider's error may speak of the arguments. */
export const failed = (call: ToolCall, cause: unknown): ToolResult =>
  fail(
    call,
    'consent_denied',
    cause,
    `${nameOf(call)} was not approved: deciding about it failed. Do not repeat the call unchanged.`,
  );

/** A rule, a decider or a person said no, or an answer came too late. */
export function denied(call: ToolCall, { decision, reason }: Settled): ToolResult {
  if (decision === 'expired')
    return refuse(
      call,
      'consent_expired',
      `Nobody decided about ${nameOf(call)} in time, so it did not run.`,
    );
  const why = reason === undefined ? '' : `: ${reason}`;
  const text = `${nameOf(call)} was not approved${why}. Do not repeat the call unchanged.`;
  return refuse(call, 'consent_denied', text);
}

const nameOf = ({ toolName }: ToolCall): string => plainLine(toolName, 128);
