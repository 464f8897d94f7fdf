/** One client and one server, with the stack between them. */

import type { Clock } from '../core/clock.ts';
import type { CreateId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { AbortSource } from '../core/signal.ts';
import type { ApprovalPrompt, GovernedTools, GovernOptions, Turn } from '../index.ts';
import type { ApprovalStore } from '../policy/approvals/approval-store.ts';
import { type CallParts, serveCall } from './calls.ts';
import { type Catalog, type CatalogOptions, createCatalog } from './catalog.ts';
import { clientFacts } from './client-facts.ts';
import { createExchanges, type Exchanges } from './exchange.ts';
import { keptApprovals } from './kept-approvals.ts';
import type { Frame, Link, ServersBehind } from './link.ts';
import { createLists, type Lists } from './lists.ts';
import { createOutgoing, type Outgoing } from './outgoing.ts';
import { ownCatalog } from './own-catalog.ts';
import { peoplePrompt } from './people.ts';
import { type Relay, relay, type RelayHooks } from './relay.ts';
import { createRounds } from './rounds.ts';
import { serverExecutor, type ServerExecutor } from './server-calls.ts';
import { withMarkedQuestions } from './server-questions.ts';
import { endOfAnswer, type ProxySpans } from './spans.ts';
import {
  isRequestId,
  kindOf,
  paramsOf,
  type RequestId,
  resultMessage,
  type WireMessage,
} from './wire.ts';

export interface ConnectionParts extends CatalogOptions {
  /** Makes the dispatcher of this connection. */
  readonly govern: (overrides: Partial<GovernOptions>) => GovernedTools;
  /** The dispatcher has tools of its own, and the server has none. @default false */
  readonly hasOwnTools?: boolean;
  readonly turn: Partial<Turn> & Pick<Turn, 'sessionId'>;
  readonly approvals: ApprovalStore;
  /** Channels beside the client's own. */
  readonly prompts: readonly ApprovalPrompt[];
  /** Cleans text that no layer has seen. */
  readonly scrub: (text: string) => string;
  readonly spans: ProxySpans;
  /** How long a client may take to come back with an answer. */
  readonly returnMs: number;
  /** How long a client that waits is kept waiting for a person. */
  readonly patienceMs: number;
  /** How long the queue is watched where nobody can be asked. */
  readonly waitMs: number;
  readonly clock: Clock;
  readonly createId: CreateId;
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
  const { turn, approvals, clock, report, spans } = connection;
  const executor = serverExecutor({
    exchanges,
    server: requests,
    ask: (exchange, questions, signal) => rounds.ask(exchange, questions, signal),
    upToDate(exchange, toolName, abort) {
      if (exchange.wasAsked) catalog.expire();
      exchange.wasAsked = false;
      return newestList(server.behind, lists, { meta: exchange.meta, toolName, abort });
    },
    around: ({ meta }, toolName, send) => {
      const { protocol } = facts;
      const known = {
        toolName,
        meta,
        protocol,
        request: null,
        transport: server.transport,
        sessionId: turn.sessionId,
      };
      return spans.client(known, send, endOfAnswer);
    },
  });
  const serverOf = (toolName: string): string | null =>
    server.serverOf?.(toolName) ?? server.name ?? null;
  const people = peoplePrompt({ exchanges, rounds, client: asks, facts, connection, toClient });
  const governed = connection.govern({ tools: [], executor, prompts: [people] });
  const catalog =
    connection.hasOwnTools === true
      ? ownCatalog(governed)
      : createCatalog(governed, { ...connection, serverOf }, report);
  const lists = createLists(catalog, requests);
  server.behind?.onToolsChanged(() => catalog.expire());
  const kept = keptApprovals(approvals, turn.sessionId, clock);
  const calls: CallParts = {
    governed,
    catalog,
    lists,
    rounds,
    exchanges,
    connection,
    kept,
    facts,
    toClient,
    transport: client.transport,
  };
  const hooks = hooksOf({ calls, asks, requests, lists, catalog, exchanges, executor, clock });
  return relay(client, withMarkedQuestions(server), hooks, report);
}

/**
 * The newest list before a call is sent. A server that is not there is opened first: sending the call would open it again, and forward to
 * whatever it lists then what somebody approved of the tool before.
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
  readonly lists: Lists;
  readonly catalog: Catalog;
  readonly exchanges: Exchanges;
  readonly executor: ServerExecutor;
  readonly clock: Clock;
}

function hooksOf({
  calls,
  asks,
  requests,
  lists,
  catalog,
  exchanges,
  executor,
  clock,
}: HookParts): RelayHooks {
  let underWay = 0;
  let wake = (): void => {};
  const done = (): void => {
    underWay -= 1;
    if (underWay === 0) wake();
  };
  const working = (work: Promise<void>): true => {
    underWay += 1;
    work.then(done, done);
    return true;
  };
  const allDone = (): Promise<void> =>
    new Promise((resolve) => (underWay === 0 ? resolve() : void (wake = resolve)));
  const dropAll = (why: string): void => {
    for (const exchange of exchanges.all) exchange.abort.abort(new Error(why));
  };
  return {
    fromClient(frame) {
      const { message } = frame;
      if (kindOf(message) === 'response') return asks.settle(message);
      if (message.method === 'tools/call')
        return isRequestId(message.id) ? working(serveCall(frame, calls)) : true;
      if (message.method === 'notifications/cancelled')
        return isCancelled(message, exchanges, lists);
      calls.facts.note(message);
      if (message.method === 'tools/list' && isRequestId(message.id))
        return working(lists.serve(message, calls.toClient));
      return false;
    },
    fromServer({ message }: Frame) {
      if (kindOf(message) === 'response') return requests.settle(message);
      if (message.method === 'notifications/tools/list_changed') catalog.expire();
      const exchange =
        message.method === 'notifications/progress'
          ? exchanges.byToken(paramsOf(message).progressToken)
          : undefined;
      if (exchange !== undefined) executor.progress(exchange, paramsOf(message));
      return exchange !== undefined;
    },
    async onServerGone(why) {
      requests.fail(why);
      // Calls that the server had end by themselves, and say so; nobody cancelled them. The others have nowhere to go.
      await new Promise(setImmediate);
      dropAll('the server is gone');
      let cancel = (): void => {};
      const tooLong = new Promise<void>(
        (resolve) => void (cancel = clock.after(LAST_WORDS_MS, resolve)),
      );
      await Promise.race([allDone(), tooLong]);
      // A timer that is left behind keeps the process for as long.
      cancel();
    },
    onClientGone() {
      for (const exchange of exchanges.all) exchange.isDropped = true;
      asks.fail('the client is gone');
      dropAll('the client is gone');
    },
  };
}

/** Nothing runs for a call that was taken back, whatever anybody decides about it later. */
function isCancelled(message: WireMessage, exchanges: Exchanges, lists: Lists): boolean {
  const { requestId } = paramsOf(message);
  const exchange = isRequestId(requestId) ? exchanges.byRequest(requestId) : undefined;
  if (exchange === undefined) return isRequestId(requestId) && lists.cancel(requestId);
  exchange.isDropped = true;
  exchange.abort.abort(new Error('the client cancelled the call'));
  return true;
}
