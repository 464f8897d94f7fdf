/** What can go wrong with telemetry, told to the host alone. */

/** Exact at all times: `generated` is `delivered` + `dropped` + `pending`. */
export interface SinkCounts {
  readonly generated: number;
  readonly delivered: number;
  /** Not taken because too many were outstanding, or refused, failed or late. */
  readonly dropped: number;
  readonly pending: number;
}

/** One failure of one sink. It quotes neither a span nor an address nor a credential. */
export interface TelemetryProblem {
  /** `otel`, `langfuse`, `stderr`, or `sink <n>` for the n-th of a list that is a function. */
  readonly sink: string;
  /**
   * `failed`: it threw, rejected or was refused · `timeout`: it did not answer in time · `full`:
   * too many records were outstanding, told once until there is room again · `unconfigured`:
   * something is missing, told once · `closed`: the final count of a sink that lost records.
   */
  readonly kind: 'failed' | 'timeout' | 'full' | 'unconfigured' | 'closed';
  readonly message: string;
  readonly counts: SinkCounts;
  /** What the host's own sink threw. Not enumerable: a log of the problem must not print it. */
  readonly cause?: unknown;
}

export type TellProblem = (problem: TelemetryProblem) => void;

/** Builds a problem; a cause is kept out of sight. */
export function problemOf(
  problem: Omit<TelemetryProblem, 'cause'>,
  ...cause: readonly unknown[]
): TelemetryProblem {
  const built = { ...problem };
  if (cause.length > 0) Object.defineProperty(built, 'cause', { value: cause[0] });
  return Object.freeze(built);
}

/**
 * Tells a host that may itself fail. Without one, the first problem of each kind and sink is a
 * warning of the process.
 */
export function problemTeller(onError: TellProblem | undefined): TellProblem {
  const warned = new Set<string>();
  return (problem) => {
    try {
      if (onError !== undefined) return settleQuietly(onError(problem));
      const key = `${problem.sink} ${problem.kind}`;
      if (warned.has(key)) return;
      warned.add(key);
      process.emitWarning(
        `telemetry, ${problem.sink}: ${problem.message}`,
        'AlliumTelemetryWarning',
      );
    } catch {
      // The handler of the host failed, and there is no second one.
    }
  };
}

/** A handler may be async after all, and its rejection must not end the process. */
function settleQuietly(answer: unknown): void {
  if (typeof answer === 'object' && answer !== null) Promise.resolve(answer).catch(() => {});
}

/** Why a record did not arrive, in words that are safe to repeat. */
export interface SendFailure {
  readonly kind: TelemetryProblem['kind'];
  readonly message: string;
}

/**
 * Failures made by `sendFailure`. A sink of the host may throw a look-alike, which must not be
 * repeated.
 */
const own = new WeakSet<object>();

/** Makes a failure. The message must not quote a span, an address or a credential. */
export function sendFailure(kind: SendFailure['kind'], message: string): SendFailure {
  const failure = Object.freeze({ kind, message });
  own.add(failure);
  return failure;
}

/** Whether `sendFailure` made it. */
export const isSendFailure = (thrown: unknown): thrown is SendFailure =>
  typeof thrown === 'object' && thrown !== null && own.has(thrown);
