/** One client and one server, with the stack between them. */

import type { Clock } from '../../core/time/clock.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { AbortSource } from '../../core/time/abort.ts';
import type { GovernedTools, GovernOptions } from '../../dispatch/govern-tools.ts';
import { type CallParts, type CallSettings, serveCall } from './calls.ts';
import { type CatalogOptions, createCatalog, ownCatalog } from './catalog.ts';
import { type ClientFacts, clientFacts } from './client-facts.ts';
import { createExchanges, type Exchanges } from './exchange.ts';
import { keptApprovals } from './kept-approvals.ts';
import type { Link, ServersBehind } from './link.ts';
import { createLists, type Lists } from './lists.ts';
import { createOutgoing, type Outgoing } from '../outgoing.ts';
import { peoplePrompt, type PeopleSettings } from './people.ts';
import { type Relay, relay, type RelayHooks } from './relay.ts';
import { createRounds } from './rounds.ts';
import { type Around, serverExecutor, type ServerExecutor } from './server-calls.ts';
import { withMarkedQuestions } from './elicitation.ts';
import { endOfAnswer } from './spans.ts';
import { isRequestId, METHODS, type RequestId, resultMessage, type WireMessage } from '../wire.ts';

/**
 * Settings of one connection. `CallSettings` and `PeopleSettings` are the parts that calls and
 * prompts read.
 */
export interface ConnectionParts extends CatalogOptions, CallSettings, PeopleSettings {
  /** Makes the dispatcher of this connection. */
  readonly govern: (overrides: Partial<GovernOptions>) => GovernedTools;
  /** The dispatcher has tools of its own, and the server has none. @default false */
  readonly hasOwnTools?: boolean;
  readonly report: (problem: string) => void;
}

/** How long calls may take to be answered once their server is gone. */
const LAST_WORDS_MS = 5000;

/** Connects the two. Resolves when both links are started. */
export function governedRelay(
  client: Link,
  server: Link,
  connection: ConnectionParts,
): Promise<Relay> {
  const toClient = (message: WireMessage, about?: RequestId): void =>
    void client.send({ message }, about);
  const facts = clientFacts();
  const exchanges = createExchanges();
  const asks = createOutgoing(toClient);
  const requests = createOutgoing((message) => void server.send({ message }));
  const rounds = createRounds(connection, (id, result) => toClient(resultMessage(id, result)));
  const { turn, approvals, clock, report } = connection;
  const executor = serverExecutor({
    exchanges,
    server: requests,
    ask: (exchange, questions, signal) => rounds.ask(exchange, questions, signal),
    upToDate(exchange, toolName, abort) {
      if (exchange.wasAsked) catalog.expire();
      exchange.wasAsked = false;
      return newestList(server.behind, lists, { meta: exchange.meta, toolName, abort });
    },
    around: () => (connection.spans.areMade() ? spansAround(connection, server, facts) : null),
  });
  const people = peoplePrompt({ exchanges, rounds, client: asks, facts, connection, toClient });
  const governed = connection.govern({ tools: [], executor, prompts: [people] });
  const catalog =
    connection.hasOwnTools === true
      ? ownCatalog(governed)
      : createCatalog(governed, { ...connection, serverOf: serverOf(server) }, report);
  const lists = createLists(catalog, requests);
  server.behind?.onToolsChanged(() => catalog.expire());
  const calls: CallParts = {
    governed,
    catalog,
    lists,
    rounds,
    exchanges,
    connection,
    kept: keptApprovals(approvals, turn.sessionId, clock),
    facts,
    toClient,
    transport: client.transport,
  };
  const hooks = hooksOf({ calls, asks, requests, executor, clock });
  return relay(client, withMarkedQuestions(server), hooks, report);
}

/** Puts a span around the sending of a call. */
const spansAround =
  ({ spans, turn }: ConnectionParts, { transport }: Link, { protocol }: ClientFacts): Around =>
  ({ meta }, toolName, send) =>
    spans.client(
      { toolName, meta, request: null, transport, protocol, sessionId: turn.sessionId },
      send,
      endOfAnswer,
    );

const serverOf =
  (server: Link) =>
  (toolName: string): string | null =>
    server.serverOf?.(toolName) ?? server.name ?? null;

/**
 * Reads the newest list before a call is sent. A server that is not running is opened first: the
 * send would open it anyway, and an approval given for the old definition of the tool would reach
 * the new one.
 */
function newestList(
  behind: ServersBehind | undefined,
  lists: Lists,
  {
    meta,
    toolName,
    abort,
  }: { readonly meta: JsonObject; readonly toolName: string; readonly abort: AbortSource },
): Promise<void> | null {
  if (behind === undefined || behind.isThere(toolName)) return lists.ensure(meta, abort);
  return behind
    .open(toolName)
    .then(() => lists.ensure(meta, abort))
    .then(() => {
      if (!behind.isThere(toolName)) throw new Error('the server is not there');
    });
}

interface HookParts {
  readonly calls: CallParts;
  readonly asks: Outgoing;
  readonly requests: Outgoing;
  readonly executor: ServerExecutor;
  readonly clock: Clock;
}

function hooksOf({ calls, asks, requests, executor, clock }: HookParts): RelayHooks {
  const { exchanges, lists, catalog, facts, toClient } = calls;
  const work = workUnderWay();
  const dropAll = (why: string): void => {
    for (const exchange of exchanges.all) exchange.abort.abort(new Error(why));
  };
  return {
    fromClient(incoming) {
      const { kind, method, frame } = incoming;
      if (kind === 'response') return asks.settle(frame.message);
      if (method === METHODS.callTool)
        return kind === 'request' ? work.start(serveCall(incoming, calls)) : true;
      if (method === METHODS.cancelled)
        return isCancelled(incoming.params.requestId, exchanges, lists);
      facts.note(incoming);
      return kind === 'request' && method === METHODS.listTools
        ? work.start(lists.serve(incoming, toClient))
        : false;
    },
    fromServer({ kind, method, params, frame }) {
      if (kind === 'response') return requests.settle(frame.message);
      if (method === METHODS.toolsChanged) catalog.expire();
      if (method !== METHODS.progress) return false;
      const exchange = exchanges.byToken(params.progressToken);
      if (exchange !== undefined) executor.progress(exchange, params);
      return exchange !== undefined;
    },
    async onServerGone(why) {
      requests.fail(why);
      // Calls that had reached the server end with `requests.fail`. Give them a turn to answer
      // before the others are aborted.
      await new Promise(setImmediate);
      dropAll('the server is gone');
      await work.allDone(clock, LAST_WORDS_MS);
    },
    onClientGone() {
      for (const exchange of exchanges.all) exchange.isDropped = true;
      asks.fail('the client is gone');
      dropAll('the client is gone');
    },
  };
}

/** Counts the requests that are being answered. */
function workUnderWay() {
  let underWay = 0;
  let wake = (): void => {};
  const done = (): void => {
    underWay -= 1;
    if (underWay === 0) wake();
  };
  return {
    start(work: Promise<void>): true {
      underWay += 1;
      work.then(done, done);
      return true;
    },
    /** Resolves when nothing is under way, or after `ms`. Leaves no timer behind. */
    async allDone(clock: Clock, ms: number): Promise<void> {
      let cancel = (): void => {};
      const tooLong = new Promise<void>((resolve) => void (cancel = clock.after(ms, resolve)));
      const ended = new Promise<void>((resolve) =>
        underWay === 0 ? resolve() : void (wake = resolve),
      );
      await Promise.race([ended, tooLong]);
      cancel();
    },
  };
}

/**
 * Aborts the call or list request that the client cancelled. An approval given afterwards starts
 * nothing.
 */
function isCancelled(requestId: unknown, exchanges: Exchanges, lists: Lists): boolean {
  if (!isRequestId(requestId)) return false;
  const exchange = exchanges.byRequest(requestId);
  if (exchange === undefined) return lists.cancel(requestId);
  exchange.isDropped = true;
  exchange.abort.abort(new Error('the client cancelled the call'));
  return true;
}
