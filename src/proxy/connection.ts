/** One client and one server, with the stack between them. */

import type { Clock } from '../core/clock.ts';
import type { CreateId } from '../core/ids.ts';
import { oneLine } from '../core/errors.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import type { ApprovalPrompt, GovernedTools, GovernOptions, Turn } from '../index.ts';
import type { ApprovalStore } from '../policy/approvals/approval-store.ts';
import { askEverywhere } from './ask-everywhere.ts';
import { type CallParts, serveCall } from './calls.ts';
import { type CatalogOptions, createCatalog } from './catalog.ts';
import { answerFrom, canElicit, CONSENT_KEY, consentForm } from './elicitation.ts';
import { createExchanges, type Exchange } from './exchange.ts';
import { keptApprovals } from './kept-approvals.ts';
import type { Frame, Link } from './link.ts';
import { createLists } from './lists.ts';
import { createOutgoing } from './outgoing.ts';
import { queuePrompt } from './queue-prompt.ts';
import { type Relay, relay } from './relay.ts';
import { createRounds } from './rounds.ts';
import { serverExecutor } from './server-calls.ts';
import type { ProxySpans } from './spans.ts';
import {
  isRequestId,
  kindOf,
  metaOf,
  modernVersionOf,
  notificationMessage,
  objectAt,
  paramsOf,
  resultMessage,
  type WireMessage,
} from './wire.ts';

export interface ConnectionParts extends CatalogOptions {
  /** Makes the dispatcher of this connection. */
  readonly govern: (overrides: Partial<GovernOptions>) => GovernedTools;
  readonly turn: Partial<Turn> & Pick<Turn, 'sessionId'>;
  readonly approvals: ApprovalStore;
  /** Channels beside the client's own. */
  readonly prompts: readonly ApprovalPrompt[];
  /** How a person can decide about a call that waits. */
  readonly howToApprove: (id: string) => string;
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

/** What a client said of itself. */
interface Client {
  capabilities: JsonObject;
  protocol: string | null;
  name: string;
}

/** How long calls may take to be answered once their server is gone. */
const LAST_WORDS_MS = 5000;

/** How often the queue is looked at while somebody is asked. */
const POLL_MS = 250;

/** Connects the two. Resolves when both links are started. */
export async function governedRelay(client: Link, server: Link, parts: ConnectionParts): Promise<Relay> {
  const known: Client = { capabilities: {}, protocol: null, name: 'the client' };
  const exchanges = createExchanges();
  const underWay = new Set<Promise<void>>();
  const toClient = createOutgoing((message, about) => void client.send({ message }, about));
  const toServer = createOutgoing((message) => void server.send({ message }));
  const rounds = createRounds(parts, (id, result) => void client.send({ message: resultMessage(id, result) }));
  const factsOf = (exchange: Exchange, toolName: string) => ({
    ...{ toolName, request: null, meta: exchange.meta, transport: server.transport, sessionId: parts.turn.sessionId },
    protocol: known.protocol,
  });
  const executor = serverExecutor({
    exchanges,
    server: toServer,
    ask: (exchange, questions, signal) => rounds.ask(exchange, questions, signal),
    around: (exchange, name, send) => parts.spans.client(factsOf(exchange, name), send, endOfAnswer),
  });

  const elicitation: ApprovalPrompt = async (question) => {
    const exchange = exchanges.byCall(question.callId);
    if (exchange === undefined || exchange.request === null || !canElicit(exchange.capabilities)) return null;
    const form = consentForm(question);
    const { signal } = question;
    if (exchange.isModern) {
      const asked = { [CONSENT_KEY]: { method: 'elicitation/create', params: { mode: 'form', ...form } } };
      return answerFrom((await rounds.ask(exchange, asked, signal))[CONSENT_KEY], question, known.name);
    }
    const { result } = await toClient.request('elicitation/create', form, { signal, about: exchange.request });
    return answerFrom(result, question, known.name);
  };
  const people = askEverywhere({
    channels: [elicitation, ...parts.prompts],
    queue: queuePrompt({ store: parts.approvals, clock: parts.clock, pollMs: POLL_MS, maxMs: parts.returnMs }, (callId) => {
      const args = exchanges.byCall(callId)?.params.arguments ?? {};
      return isObject(args) ? args : null;
    }),
    ...{ clock: parts.clock, waitMs: parts.waitMs },
    patienceMs: ({ callId }) => (exchanges.byCall(callId)?.isModern === true ? null : parts.patienceMs),
    onWaiting: ({ callId }, beat) => heartbeat(exchanges.byCall(callId), beat),
  });
  const governed = parts.govern({ tools: [], executor, prompts: [people] });
  const catalog = createCatalog(governed, parts, parts.report);
  const lists = createLists(catalog, toServer);
  const calls: CallParts = {
    ...{ governed, catalog, lists, rounds, exchanges, connection: parts },
    kept: keptApprovals(parts.approvals, parts.turn.sessionId, parts.clock),
    capabilities: () => known.capabilities,
    protocol: () => known.protocol,
    transport: client.transport,
    toClient: (message, about) => void client.send({ message }, about),
  };
  const serve = (message: WireMessage): void => {
    const served = serveCall(message, calls).finally(() => underWay.delete(served));
    underWay.add(served);
  };
  const dropAll = (why: string): void => {
    for (const exchange of exchanges.all) exchange.abort.abort(new Error(why));
  };

  return relay(
    client,
    server,
    {
      fromClient(frame) {
        const { message } = frame;
        if (kindOf(message) === 'response') return toClient.settle(message);
        if (message.method === 'tools/call' && isRequestId(message.id)) serve(message);
        else if (message.method === 'notifications/cancelled') return cancel(message);
        else return notes(frame);
        return true;
      },
      fromServer(frame) {
        const { message } = frame;
        if (message.method === 'notifications/tools/list_changed') catalog.expire();
        if (message.method === 'notifications/progress') return progressed(message);
        if (kindOf(message) !== 'response') return false;
        return toServer.settle(message);
      },
      rewritten: (message) => lists.answered(message),
      async onServerGone(why) {
        toServer.fail(why);
        dropAll('the server is gone');
        await Promise.race([
          Promise.allSettled(underWay),
          new Promise((resolve) => parts.clock.after(LAST_WORDS_MS, () => resolve(undefined))),
        ]);
      },
      onClientGone() {
        for (const exchange of exchanges.all) exchange.isDropped = true;
        toClient.fail('the client is gone');
        dropAll('the client is gone');
      },
    },
    parts.report,
  );

  /** So small that whatever the server reports is more. */
  function heartbeat(exchange: Exchange | undefined, beat: number): void {
    const { meta, request = null } = exchange ?? {};
    if (meta?.progressToken === undefined || request === null) return;
    const progress = { progressToken: meta.progressToken, progress: beat / 1e9, message: 'waiting for somebody to decide' };
    client.send({ message: notificationMessage('notifications/progress', progress) }, request);
  }

  /** What only passes by is looked at where it says something about the client. */
  function notes(frame: Frame): boolean {
    const { message } = frame;
    if (message.method === 'initialize') {
      const { capabilities, protocolVersion } = paramsOf(message);
      known.capabilities = isObject(capabilities) ? capabilities : {};
      known.protocol = typeof protocolVersion === 'string' ? protocolVersion : null;
      known.name = nameOf(objectAt(paramsOf(message), 'clientInfo'));
    } else if (modernVersionOf(message) !== null) {
      known.protocol = modernVersionOf(message);
      known.name = nameOf(objectAt(metaOf(message), 'io.modelcontextprotocol/clientInfo'));
    }
    if (message.method === 'tools/list' && isRequestId(message.id)) lists.asked(message);
    return false;
  }

  function cancel(message: WireMessage): boolean {
    const { requestId } = paramsOf(message);
    const exchange = isRequestId(requestId) ? exchanges.byRequest(requestId) : undefined;
    if (exchange === undefined) return false;
    exchange.isDropped = true;
    exchange.abort.abort(new Error('the client cancelled the call'));
    return true;
  }

  function progressed(message: WireMessage): boolean {
    const params = paramsOf(message);
    const exchange = exchanges.byToken(params.progressToken);
    if (exchange !== undefined) executor.progress(exchange, params);
    return exchange !== undefined;
  }
}

const nameOf = ({ name }: JsonObject): string => (typeof name === 'string' && name !== '' ? oneLine(name).slice(0, 100) : 'the client');

function endOfAnswer(message: WireMessage): { isError?: boolean; code?: number } {
  const { code } = objectAt(message, 'error');
  return typeof code === 'number' ? { code } : { isError: objectAt(message, 'result').isError === true };
}
