/** What a script may call on the main side. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';

/**
 * A function of the host. It runs on the main side while the script waits, and looks synchronous to
 * it. The signal aborts when the run is over before the answer is there. Throws `HostError` to fail
 * inside the script, `StopScript` to end it with a value.
 */
export type HostFunction = (
  args: readonly JsonValue[],
  kwargs: JsonObject,
  info: HostCallInfo,
) => Promise<JsonValue>;

interface HostCallInfo {
  readonly signal: AbortSignal;
}

/** A function, or a namespace of them. */
export type HostTree = HostFunction | { readonly [name: string]: HostTree };

/**
 * Fails the built-in that a script called: the script ends there, with this text and the line it
 * stands on.
 */
export class HostError extends Error {
  override readonly name = 'HostError';
}

/** Ends the script that called, as if it had returned this value. */
export class StopScript extends Error {
  override readonly name = 'StopScript';
  readonly value: JsonValue;

  constructor(value: JsonValue) {
    super('the script was ended with a value');
    this.value = value;
  }
}
