/** A call of the client's, from its request to the answer. */

import { isObject, type JsonObject } from '../core/json.ts';
import { causeOf, type GovernedTools, isAlliumError, type ToolProgress, type ToolResult } from '../index.ts';
import { callErrorOf, callResultOf } from './call-result.ts';
import type { Catalog } from './catalog.ts';
import type { ClientFacts } from './client-facts.ts';
import type { ConnectionParts } from './connection.ts';
import { clientIsThere, type Exchange, type Exchanges } from './exchange.ts';
import type { KeptApprovals } from './kept-approvals.ts';
import type { Lists } from './lists.ts';
import type { Rounds } from './rounds.ts';
import { endOfAnswer } from './spans.ts';
import {
  CODES,
  errorMessage,
  metaOf,
  modernVersionOf,
  notificationMessage,
  objectAt,
  paramsOf,
  type RequestId,
  resultMessage,
  type WireMessage,
} from './wire.ts';

export interface CallParts {
  readonly governed: GovernedTools;
  readonly catalog: Catalog;
  readonly lists: Lists;
  readonly rounds: Rounds;
  readonly exchanges: Exchanges;
  readonly kept: KeptApprovals;
  readonly connection: ConnectionParts;
  readonly facts: ClientFacts;
  readonly transport: 'pipe' | 'tcp';
  readonly toClient: (message: WireMessage, about?: RequestId) => void;
}

const NO_TASKS = 'allium does not govern tasks: call the tool without "task"';

/** Takes a request for a call. Whatever happens, it is answered once, unless the client took it back. */
export async function serveCall(message: WireMessage, parts: CallParts): Promise<void> {
  const { rounds, toClient, exchanges } = parts;
  const id = message.id as RequestId; // It is a request.
  const params = paramsOf(message);
  if (typeof params.name !== 'string') return toClient(errorMessage(id, CODES.invalidParams, 'a call needs the name of a tool'));
  if (params.task !== undefined) return toClient(errorMessage(id, CODES.invalidParams, NO_TASKS));
  const resumed = rounds.resumed(message);
  if (resumed !== null && 'problem' in resumed)
    return toClient(errorMessage(id, CODES.invalidParams, `the call was not taken up: ${resumed.problem}`));
  if (resumed !== null) return;
  const exchange = exchangeFrom(message, params, parts);
  exchanges.open(exchange);
  try {
    await answerCall(exchange, params.name, parts);
  } catch {
    // Nothing of what was thrown is for the client: it may speak of what it was doing.
    if (exchange.request !== null && !exchange.isDropped)
      toClient(errorMessage(exchange.request, CODES.internal, 'allium could not handle the call'));
  } finally {
    exchanges.close(exchange);
  }
}

function exchangeFrom(message: WireMessage, params: JsonObject, { facts, connection }: CallParts): Exchange {
  const meta = metaOf(message);
  const isModern = modernVersionOf(message) !== null;
  const { _meta, inputResponses: _responses, requestState: _state, ...own } = params;
  return {
    callId: `call_${connection.createId()}`,
    params: own,
    isModern,
    capabilities: isModern ? objectAt(meta, 'io.modelcontextprotocol/clientCapabilities') : facts.capabilities,
    abort: new AbortController(),
    meta,
    request: message.id as RequestId, // It is a request.
    isDropped: false,
    answer: null,
    refusal: null,
    onReturn: null,
  };
}

async function answerCall(exchange: Exchange, name: string, parts: CallParts): Promise<void> {
  const { lists, connection, toClient, transport } = parts;
  const { abort, meta, request, isModern } = exchange;
  const facts = { toolName: name, request, meta, transport, protocol: parts.facts.protocol, sessionId: connection.turn.sessionId };
  const answer = await connection.spans.server(
    facts,
    async () => {
      await lists.ensure(meta, abort.signal);
      return govern(exchange, name, parts);
    },
    endOfAnswer,
  );
  if (exchange.isDropped) return;
  if (isModern) await clientIsThere(exchange, abort.signal);
  // The client may have come back under another id.
  toClient({ ...answer, id: exchange.request });
}

/** The answer, under any id. */
async function govern(exchange: Exchange, name: string, parts: CallParts): Promise<WireMessage> {
  const { governed, kept, connection, catalog } = parts;
  const { params, isModern, abort } = exchange;
  const args = params.arguments === undefined ? {} : params.arguments;
  const before = isObject(args) ? await kept.find(name, args) : null;
  if (before !== null && 'wait' in before) return resultMessage(0, stillWaiting(before.wait, parts, isModern));
  const result = await (before === null
    ? governed.call({ name, arguments: args as object, id: exchange.callId }, optionsFor(exchange, parts))
    : takeUp(exchange, before, name, parts)
  ).catch(refusedWith);
  const { interruption } = result;
  if (interruption !== undefined && isObject(args)) kept.note(interruption.id, name, args);
  if (exchange.refusal !== null && causeOf(result) === exchange.refusal.thrown)
    return { jsonrpc: '2.0', id: 0, error: callErrorOf(exchange.refusal.error, result, connection.scrub) };
  return resultMessage(
    0,
    callResultOf(result, {
      ...{ answer: exchange.answer, spec: catalog.get(name), isModern, scrub: connection.scrub },
      ...(interruption === undefined || abort.signal.aborted ? {} : { hint: connection.howToApprove(interruption.id) }),
    }),
  );
}

/** Takes up the call that was decided about. Where somebody else was faster, it is a call like any other. */
async function takeUp(
  exchange: Exchange,
  { take, callId }: { take: string; callId: string },
  name: string,
  parts: CallParts,
): Promise<ToolResult> {
  const { exchanges, governed, connection } = parts;
  const known = (id: string): void => {
    exchanges.close(exchange);
    exchange.callId = id;
    exchanges.open(exchange);
  };
  const { turn, ...options } = optionsFor(exchange, parts);
  known(callId);
  return governed.resume(take, undefined, options).catch((thrown: unknown) => {
    if (!isAlliumError(thrown) || thrown.code !== 'ERR_APPROVAL_RESOLVED') throw thrown;
    known(`call_${connection.createId()}`);
    return governed.call({ name, arguments: objectAt(exchange.params, 'arguments'), id: exchange.callId }, { ...options, turn });
  });
}

const optionsFor = (exchange: Exchange, { connection, toClient }: CallParts) => ({
  signal: exchange.abort.signal,
  turn: connection.turn,
  onProgress: (progress: ToolProgress): void => {
    const { progressToken } = exchange.meta;
    if (progressToken === undefined || exchange.request === null || exchange.isDropped) return;
    toClient(notificationMessage('notifications/progress', { progressToken, progress: 0, ...progress }), exchange.request);
  },
});

/** A layer that raises has refused the call like any other. */
function refusedWith(thrown: unknown): ToolResult {
  if (isAlliumError(thrown) && thrown.result !== undefined) return thrown.result;
  throw thrown;
}

/** The same question is not put twice: the first one still waits. */
function stillWaiting(id: string, { connection }: CallParts, isModern: boolean): JsonObject {
  return {
    content: [{ type: 'text', text: `This call still waits for a decision. ${connection.howToApprove(id)}` }],
    isError: true,
    _meta: { 'allium/status': 'approval_required', 'allium/executed': 'no', 'allium/approval': id },
    ...(isModern ? { resultType: 'complete' } : {}),
  };
}
