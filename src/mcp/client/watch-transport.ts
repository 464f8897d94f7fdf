/**
 * A transport that tells two things the SDK does not: that a call never left, and that its answer
 * will never come.
 */

import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';
import { isObject } from '../../core/json/json.ts';

/** Errors of calls that certainly did not reach the server. */
const unsent = new WeakSet<object>();
export const isUnsent = (thrown: unknown): boolean =>
  typeof thrown === 'object' && thrown !== null && unsent.has(thrown);

/** Passes everything on but what `take` says is its own. */
export function watchTransport(
  inner: Transport,
  take: (message: JSONRPCMessage) => boolean,
): Transport {
  const waiting = new Set<RequestId>();
  const outer: Transport = {
    start: () => {
      inner.onclose = () => outer.onclose?.();
      inner.onerror = (error) => outer.onerror?.(error);
      inner.onmessage = (message, extra) => {
        if (!('method' in message) && message.id !== undefined) waiting.delete(message.id);
        if (!take(message)) outer.onmessage?.(message, extra);
      };
      return inner.start();
    },
    async send(message, options) {
      if (!isRequest(message)) return inner.send(message, options);
      const { id } = message;
      waiting.add(id);
      const onRequestStreamEnd = (): void => {
        options?.onRequestStreamEnd?.();
        // The SDK would wait for the answer as long as it waits for any.
        if (!waiting.delete(id)) return;
        const answer = ownAnswer(id, 'streamEnded');
        if (!take(answer)) outer.onmessage?.(answer);
      };
      try {
        await inner.send(message, { ...options, onRequestStreamEnd });
      } catch (thrown) {
        waiting.delete(id);
        if (
          typeof thrown === 'object' &&
          thrown !== null &&
          isFirstLeg(message) &&
          provesUnsent(thrown)
        )
          unsent.add(thrown);
        throw thrown;
      }
    },
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
    get sessionId() {
      return inner.sessionId;
    },
    ...(inner.hasPerRequestStream === undefined
      ? {}
      : { hasPerRequestStream: inner.hasPerRequestStream }),
    // By these the SDK tells a child process from an address.
    ...('pid' in inner && 'stderr' in inner ? { pid: null, stderr: null } : {}),
  };
  return outer;
}

/** The SDK made it, so what it looks like is what it is. */
const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message;

/** A call that goes on with what somebody answered has reached the server before. */
const isFirstLeg = ({
  params,
}: {
  readonly params?: Record<string, unknown> | undefined;
}): boolean => params?.inputResponses === undefined && params?.requestState === undefined;

/**
 * Refused, or not for the one who asks: the server has not looked at the call. Not among them: what
 * a gateway may say after it did.
 */
const NOT_TAKEN = new Set([400, 401, 403, 404, 405, 406, 413, 415, 429]);
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function provesUnsent(thrown: object): boolean {
  if (thrown instanceof SdkHttpError) return NOT_TAKEN.has(thrown.status);
  if (thrown instanceof SdkError) return thrown.code === SdkErrorCode.NotConnected;
  const { cause } = thrown as { readonly cause?: unknown };
  return isObject(cause) && typeof cause.code === 'string' && NOT_CONNECTED.has(cause.code);
}

/**
 * Why an answer of ours stands in the place of one that cannot come. Known by identity: nothing
 * that came over a wire can be one of them.
 */
const MARKS = { streamEnded: Object.freeze({}), unreadable: Object.freeze({}) } as const;

export type OwnAnswer = keyof typeof MARKS;

export const ownAnswer = (id: RequestId, why: OwnAnswer): JSONRPCErrorResponse => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_000, message: why, data: MARKS[why] },
});

/** Whether an error is what the SDK makes of such an answer. */
export const isOwnAnswer = (thrown: unknown, why: OwnAnswer): boolean =>
  isObject(thrown) && thrown.data === MARKS[why];
