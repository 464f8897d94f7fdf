/** Why a record did not arrive, in words that are safe to repeat. */

import type { TelemetryProblem } from './problem.ts';

export interface SendFailure {
  readonly kind: TelemetryProblem['kind'];
  readonly message: string;
}

/** What a sink of the host throws may look the same, and must not be repeated. */
const own = new WeakSet<object>();

/** Makes a failure. The message must not quote a span, an address or a credential. */
export function sendFailure(kind: SendFailure['kind'], message: string): SendFailure {
  const failure = Object.freeze({ kind, message });
  own.add(failure);
  return failure;
}

/** Whether it was made here. */
export const isSendFailure = (thrown: unknown): thrown is SendFailure =>
  typeof thrown === 'object' && thrown !== null && own.has(thrown);
