/**
 * The connection that calls go over: lost ones are made again before the next call, and no call is
 * ever repeated.
 */

import type { Clock } from '../../core/time/clock.ts';
import { AlliumError, describeThrown, isAlliumError } from '../../core/contract/errors.ts';
import { followAbort, waitWithin } from '../../core/time/abort.ts';
import { toolFailure } from '../../tools/tool.ts';
import type { Connection } from './connection.ts';
import type { ReportProblem } from './problem.ts';

/** How a connection is made, and who is told of its loss. */
export interface KeptConnectionParts {
  readonly name: string;
  readonly clock: Clock;
  /** Attempts for one call. */
  readonly maxConnects: number;
  /**
   * Connects and does what has to be done before calls may use the connection. Heeds the signal.
   */
  readonly open: (signal: AbortSignal) => Promise<Connection>;
  readonly report: ReportProblem;
}

/** One connection after the other to one server. */
export interface KeptConnection {
  /** The connection where there is one that takes calls. */
  current(): Connection | null;
  /** The connection, made if there is none. Throws a failure that says that nothing was sent. */
  use(signal: AbortSignal): Promise<Connection>;
  /** The first connection, in one attempt. Throws `ERR_MCP_UNAVAILABLE`. */
  start(): Promise<Connection>;
  /** A call was answered: whatever was wrong is over. */
  noteAnswer(): void;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** Connects when it is first used, and again after a loss. */
export function keepConnection(parts: KeptConnectionParts): KeptConnection {
  const { name, clock, maxConnects, open, report } = parts;
  const closing = new AbortController();
  let connection: Connection | null = null;
  /** Also those that take no more calls while some are under way. */
  let kept: readonly Connection[] = [];
  let connecting: Promise<Connection> | null = null;
  /** Connections and attempts in a row that no answer came over. */
  let strikes = 0;

  const attempt = async (): Promise<Connection> => {
    if (closing.signal.aborted) throw closedError(name);
    const made = await open(closing.signal);
    kept = [...kept.filter((each) => !each.isClosed()), made];
    if (!closing.signal.aborted) return (connection = made);
    throw closedError(name);
  };
  const connect = async (): Promise<Connection> => {
    for (let left = maxConnects; ; left -= 1) {
      await pauseWithin(clock, pauseAfter(strikes), closing.signal);
      try {
        return await attempt();
      } catch (thrown) {
        strikes += 1;
        report('connection_lost', `no connection: ${describeThrown(thrown)}`);
        if (left <= 1 || closing.signal.aborted) throw thrown;
      }
    }
  };
  const once = (work: () => Promise<Connection>): Promise<Connection> =>
    (connecting ??= work().finally(() => {
      connecting = null;
    }));
  return {
    current: () => (connection?.isOpen() === true && !closing.signal.aborted ? connection : null),
    async use(signal) {
      if (closing.signal.aborted) throw closedFailure(name);
      if (connection?.isOpen() === true) return connection;
      if (connection !== null) strikes += 1;
      connection = null;
      return waitWithin(signal, () => once(connect)).catch(() => {
        // What went wrong is for the host, and was reported.
        throw unreachable(name);
      });
    },
    async start() {
      return once(attempt).catch((thrown: unknown) => {
        throw isAlliumError(thrown) ? thrown : unavailable(name, thrown);
      });
    },
    noteAnswer: () => void (strikes = 0),
    async close() {
      closing.abort();
      await connecting?.catch(() => {});
      await Promise.all(kept.map((each) => each.close()));
    },
  };
}

/** Nothing after the first loss: a server that died once is usually just started again. */
const pauseAfter = (strikes: number): number =>
  strikes <= 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (strikes - 2), LONGEST_PAUSE_MS);

/** Leaves no timer behind when the signal aborts. */
async function pauseWithin(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return;
  let stop = () => {};
  await new Promise<void>((resolve) => {
    const takeBack = clock.after(ms, resolve);
    stop = followAbort(signal, () => {
      takeBack();
      resolve();
    });
  });
  stop();
}

const closedError = (name: string): AlliumError =>
  new AlliumError('ERR_CLOSED', `the MCP server "${name}" was closed`);

const closedFailure = (name: string): Error =>
  toolFailure(closedError(name).message, {
    executed: 'no',
    category: 'closed',
    errorClass: 'fatal',
  });

function unavailable(name: string, thrown: unknown): AlliumError {
  const message = `the MCP server "${name}" could not be reached: ${describeThrown(thrown)}`;
  return new AlliumError('ERR_MCP_UNAVAILABLE', message, {}, { cause: thrown });
}

const unreachable = (name: string): Error =>
  toolFailure(
    `The server "${name}" cannot be reached. Nothing was sent; the call can be tried again later.`,
    {
      executed: 'no',
      category: 'network',
      errorClass: 'retryable',
    },
  );
