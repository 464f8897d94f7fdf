/**
 * What every built-in has around it: its arguments are read, its use is recorded, and nothing of
 * the inside gets out.
 */

import type { JsonValue } from '../../core/json/json-value.ts';
import { systemClock } from '../../core/time/clock.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { followAbort, linkAbort } from '../../core/time/abort.ts';
import type { ProposedRequest } from '../../permissions/permission.ts';
import { HostError, type HostFunction, StopScript } from '../sandbox/host-function.ts';
import type { BuiltinRecord, BuiltinUse } from './builtin-use.ts';
import { type GivenArguments, givenArguments } from './given-arguments.ts';

/** One use of a built-in while it goes on. */
export interface BuiltinCall {
  readonly builtin: string;
  /** Aborts with the call and with the script. */
  readonly signal: AbortSignal;
  readonly ask: (request: ProposedRequest) => Promise<void>;
  /** An error of this built-in. */
  readonly error: (text: string) => HostError;
}

export type DefineBuiltin = (
  builtin: string,
  names: readonly string[],
  work: (given: GivenArguments, call: BuiltinCall) => Promise<JsonValue> | JsonValue,
) => HostFunction;

/** Makes the built-ins of one call. */
export const definer =
  (use: BuiltinUse): DefineBuiltin =>
  (builtin, names, work) =>
  async (args, kwargs, info) => {
    const clock = use.clock ?? systemClock;
    const startedAt = clock.monotonic();
    const record = (outcome: BuiltinRecord['outcome']) =>
      use.record({ builtin, outcome, durationMs: clock.monotonic() - startedAt });
    const linked = linkAbort(info.signal);
    const { signal } = linked;
    const unfollow = followAbort(use.signal, () => linked.abort(use.signal.reason));
    let isRefused = false;
    const ask = async (request: ProposedRequest): Promise<void> => {
      isRefused = true;
      await use.ask(request);
      isRefused = false;
    };
    try {
      if (signal.aborted) throw new HostError(`${builtin}: cancelled`);
      const value = await work(givenArguments(builtin, names, args, kwargs), {
        builtin,
        signal,
        ask,
        error: errorOf(builtin),
      });
      record('ok');
      return value;
    } catch (thrown) {
      const how = isRefused ? 'refused' : 'failed';
      record(signal.aborted ? 'cancelled' : how);
      throw shownError(builtin, thrown);
    } finally {
      unfollow();
      linked.unlink();
    }
  };

const errorOf =
  (builtin: string) =>
  (text: string): HostError =>
    new HostError(`${builtin}: ${text}`);

/** Our own errors hold no value of anybody's; of all others a script learns nothing. */
function shownError(builtin: string, thrown: unknown): Error {
  if (thrown instanceof HostError || thrown instanceof StopScript) return thrown;
  return new HostError(
    isAlliumError(thrown) ? `${builtin}: ${thrown.message}` : `${builtin}: failed`,
    { cause: thrown },
  );
}
