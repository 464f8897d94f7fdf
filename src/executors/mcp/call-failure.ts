/** What is known about a call that came to no answer. In doubt it may have run: a call is sent once. */

import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { describeThrown } from '../../core/errors.ts';
import { toolFailure } from '../../tools/tool.ts';
import { isOwnAnswer } from './own-answer.ts';
import { unreadable } from './read-answer.ts';
import { isUnsent } from './watch-transport.ts';

/** Codes that no tool has run behind: parse error, unknown method, header mismatch, unknown protocol. Not among them: invalid params. */
const NOT_RUN = new Set<number>([-32_700, -32_601, -32_020, -32_022]);

/** The failure to throw in the place of what was thrown. */
export function callFailure(server: string, thrown: unknown): Error {
  if (isUnsent(thrown)) return notSent(server);
  if (isOwnAnswer(thrown, 'streamEnded')) return lost(server);
  if (isOwnAnswer(thrown, 'unreadable')) return unreadable(server);
  if (thrown instanceof ProtocolError) return refused(server, thrown);
  if (thrown instanceof SdkError) return broken(server, thrown);
  return lost(server);
}

/** Whether the connection cannot be trusted with another call. */
export const isConnectionFailure = (thrown: unknown): boolean =>
  isUnsent(thrown) ||
  isOwnAnswer(thrown, 'streamEnded') ||
  !(thrown instanceof ProtocolError || (thrown instanceof SdkError && ANSWERED.has(thrown.code)));

/** The server has answered, or nobody wanted to wait any longer. */
const ANSWERED = new Set<string>([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.CapabilityNotSupported,
  SdkErrorCode.InputRequiredRoundsExceeded,
  SdkErrorCode.RequestTimeout,
]);

const notSent = (server: string): Error =>
  toolFailure(
    `The server "${server}" could not be reached or did not take the call. Nothing was done; the call can be tried again later.`,
    {
      executed: 'no',
      category: 'network',
      errorClass: 'retryable',
    },
  );

const lost = (server: string): Error =>
  toolFailure(
    `The connection to "${server}" broke before the answer. The tool may have done its work; check before you try again.`,
    {
      executed: 'unknown',
      category: 'network',
      errorClass: 'retryable',
    },
  );

/** An answer of the server, in its own words. */
function refused(server: string, error: ProtocolError): Error {
  return toolFailure(`The server "${server}" refused or failed: ${describeThrown(error)}`, {
    executed: NOT_RUN.has(error.code) ? 'no' : 'unknown',
    category: 'protocol_error',
    errorClass: 'repairable',
  });
}

function broken(server: string, { code }: SdkError): Error {
  if (code === SdkErrorCode.InvalidResult) return unreadable(server);
  if (!ANSWERED.has(code) || code === SdkErrorCode.RequestTimeout) return lost(server);
  return toolFailure(
    `The server "${server}" wants something from a person that nobody here can give. It may have begun its work.`,
    {
      executed: 'unknown',
      category: 'input_required',
      errorClass: 'fatal',
    },
  );
}
