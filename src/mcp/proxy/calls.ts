/** A call of the client's, from its request to the answer. */

import { causeOf } from '../../core/onion/results.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { createAbort } from '../../core/time/abort.ts';
import { OWN_ABORT } from '../../dispatch/intake/open-call.ts';
import type { ToolProgress, Turn, CreateId } from '../../core/contract/call.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import type { GovernedTools } from '../../dispatch/govern-tools.ts';
import type { ToolRequest } from '../../tools/tool.ts';
import { waitingText } from '../../approvals/refusals.ts';
import { callErrorOf, callResultOf } from './call-result.ts';
import type { Catalog } from './catalog.ts';
import type { ClientFacts } from './client-facts.ts';
import { doubtBySchema } from './doubtful-message.ts';
import { clientIsThere, type Exchange, type Exchanges } from './exchange.ts';
import { HEADER_MISMATCH } from '../http/classify.ts';
import { misfitOfParams } from '../http/param-headers.ts';
import type { Kept, KeptApprovals, KeptWaiting } from './kept-approvals.ts';
import type { IncomingRequest } from './link.ts';
import type { Lists } from './lists.ts';
import type { Rounds } from './rounds.ts';
import { endOfAnswer, type ProxySpans } from './spans.ts';
import {
  type Answer,
  answerMessage,
  CODES,
  errorAnswer,
  errorMessage,
  METHODS,
  notificationMessage,
  objectAt,
  type RequestId,
  type WireMessage,
} from '../wire.ts';

/** What the calls of a connection are made with. */
export interface CallSettings {
  readonly turn: Partial<Turn> & Pick<Turn, 'sessionId'>;
  /** Cleans text that no layer has seen. */
  readonly scrub: (text: string) => string;
  readonly spans: ProxySpans;
  readonly createId: CreateId;
}

export interface CallParts {
  readonly governed: GovernedTools;
  readonly catalog: Catalog;
  readonly lists: Lists;
  readonly rounds: Rounds;
  readonly exchanges: Exchanges;
  readonly kept: KeptApprovals;
  readonly connection: CallSettings;
  readonly facts: ClientFacts;
  readonly transport: 'pipe' | 'tcp';
  readonly toClient: (message: WireMessage, about?: RequestId) => void;
}

const NO_TASKS = 'allium does not govern tasks: call the tool without "task"';

/**
 * Serves one `tools/call` request. The request is answered once, unless the client cancelled it.
 */
export async function serveCall(request: IncomingRequest, parts: CallParts): Promise<void> {
  const { rounds, toClient, exchanges } = parts;
  const { id, params } = request;
  const refuse = (why: string): void => toClient(errorMessage(id, CODES.invalidParams, why));
  if (typeof params.name !== 'string') return refuse('a call needs the name of a tool');
  if (params.task !== undefined) return refuse(NO_TASKS);
  const misfit = misfitFor(request, params.name, parts);
  if (misfit !== null) return toClient(answerMessage(id, misfit));
  const resumed = rounds.resumed(request);
  if (resumed !== null && 'problem' in resumed)
    return refuse(`the call was not taken up: ${resumed.problem}`);
  if (resumed !== null) return;
  const exchange = exchangeFrom(request, params.name, parts);
  exchanges.open(exchange);
  try {
    const answer = await spanned(exchange, request, parts);
    if (exchange.isDropped) return;
    if (exchange.request === null) await clientIsThere(exchange, exchange.abort);
    // The client may have come back under another id.
    toClient(answerMessage(exchange.request, answer));
  } catch {
    // The thrown error stays here: its message may quote the arguments or the server.
    if (exchange.request !== null && !exchange.isDropped)
      toClient(errorMessage(exchange.request, CODES.internal, 'allium could not handle the call'));
  } finally {
    exchanges.close(exchange);
  }
}

function exchangeFrom(
  { id, params, meta, modernVersion }: IncomingRequest,
  name: string,
  { facts, connection }: CallParts,
): Exchange {
  const isModern = modernVersion !== null;
  return {
    callId: `call_${connection.createId()}`,
    name,
    params: ownParams(params),
    isModern,
    capabilities: isModern
      ? objectAt(meta, 'io.modelcontextprotocol/clientCapabilities')
      : facts.capabilities,
    abort: createAbort(),
    meta,
    request: id,
    isDropped: false,
    wasAsked: false,
    answer: null,
    refusal: null,
    report: null,
    onReturn: null,
  };
}

function ownParams(params: JsonObject): JsonObject {
  if (
    params._meta === undefined &&
    params.inputResponses === undefined &&
    params.requestState === undefined
  )
    return params;
  const { _meta, inputResponses: _responses, requestState: _state, ...own } = params;
  return own;
}

function spanned(exchange: Exchange, request: IncomingRequest, parts: CallParts): Promise<Answer> {
  const { connection, transport } = parts;
  const { spans } = connection;
  if (!spans.areMade()) return listed(exchange, request, parts);
  const facts = {
    toolName: exchange.name,
    request: request.id,
    meta: request.meta,
    transport,
    protocol: parts.facts.protocol,
    sessionId: connection.turn.sessionId,
  };
  return spans.server(facts, () => listed(exchange, request, parts), endOfAnswer);
}

/** Reads the list first where the tool is not known. */
function listed(exchange: Exchange, request: IncomingRequest, parts: CallParts): Promise<Answer> {
  const listing = parts.lists.ensure(exchange.meta, exchange.abort);
  // A list that is current is not awaited: an await costs as much as a layer.
  if (listing === null) return govern(exchange, parts);
  return listing.then(() => misfitFor(request, exchange.name, parts) ?? govern(exchange, parts));
}

/** What a client of HTTP is told whose headers and body do not say the same of a call. */
function misfitFor(
  { params, frame: { paramHeaders } }: IncomingRequest,
  name: string,
  { catalog }: CallParts,
): Answer | null {
  if (paramHeaders === undefined) return null;
  const misfit = misfitOfParams(params, paramHeaders, catalog.get(name)?.inputSchema ?? {});
  return misfit === null ? null : errorAnswer(HEADER_MISMATCH, `header mismatch: ${misfit}`);
}

function govern(exchange: Exchange, parts: CallParts): Promise<Answer> {
  const { name, params } = exchange;
  const { arguments: args = {} } = params;
  if (!isObject(args)) return answered(newCall(exchange, parts), exchange, parts, null);
  const doubt = doubtBySchema(args, parts.catalog.get(name)?.inputSchema);
  if (doubt !== null)
    return Promise.resolve(
      errorAnswer(CODES.invalidParams, `the call was refused: its arguments hold ${doubt}`),
    );
  const found = parts.kept.find(name, args);
  return found instanceof Promise
    ? found.then((kept) => goOn(exchange, kept, parts))
    : goOn(exchange, found, parts);
}

/** As a new call, or with the approval of the same call. */
function goOn(exchange: Exchange, kept: Kept, parts: CallParts): Promise<Answer> {
  if (kept === null) return answered(newCall(exchange, parts), exchange, parts, null);
  if ('wait' in kept)
    return Promise.resolve({ result: stillWaiting(kept, exchange.name, exchange.isModern) });
  return answered(takeUp(exchange, kept, parts), exchange, parts, kept.take);
}

const newCall = (exchange: Exchange, parts: CallParts): Promise<ToolResult> =>
  parts.governed.call(requestFor(exchange, exchange.params.arguments), optionsFor(exchange, parts));

const requestFor = ({ name, callId }: Exchange, args: JsonValue = {}): ToolRequest => ({
  name,
  // Arguments that are no object are refused by the dispatcher, which reads what it is given.
  arguments: args as object,
  id: callId,
});

/** `taken` is the approval that the call was resumed with. */
const answered = (
  calling: Promise<ToolResult>,
  exchange: Exchange,
  parts: CallParts,
  taken: string | null,
): Promise<Answer> =>
  calling.then(
    (result) => answerOf(result, exchange, parts, taken),
    (thrown: unknown) => answerOf(refusedWith(thrown), exchange, parts, taken),
  );

function answerOf(
  result: ToolResult,
  { name, params, refusal, answer, isModern }: Exchange,
  { kept, catalog, connection: { scrub } }: CallParts,
  taken: string | null,
): Answer {
  const { interruption } = result;
  const { arguments: args = {} } = params;
  if (interruption !== undefined && isObject(args)) kept.note(interruption.id, name, args);
  // Nothing was used up: the call is taken up when the tool is there again.
  if (taken !== null && result.status === 'tool_not_found' && isObject(args))
    kept.note(taken, name, args);
  if (refusal !== null && causeOf(result) === refusal.thrown)
    return { error: callErrorOf(refusal.error, result, scrub) };
  return { result: callResultOf(result, { answer, isModern, spec: catalog.get(name), scrub }) };
}

/**
 * Resumes the call that an approval was given for. If the approval was used elsewhere meanwhile,
 * the request is run as a new call.
 */
async function takeUp(
  exchange: Exchange,
  { take, callId }: { take: string; callId: string },
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
  exchange.wasAsked = true;
  return governed.resume(take, undefined, options).catch((thrown: unknown) => {
    if (!isAlliumError(thrown, 'ERR_APPROVAL_RESOLVED')) throw thrown;
    known(`call_${connection.createId()}`);
    return governed.call(requestFor(exchange, objectAt(exchange.params, 'arguments')), {
      ...options,
      turn,
    });
  });
}

const optionsFor = (exchange: Exchange, { connection, toClient }: CallParts) => ({
  [OWN_ABORT]: exchange.abort,
  turn: connection.turn,
  onProgress: (progress: ToolProgress): void => {
    const { progressToken } = exchange.meta;
    if (progressToken === undefined || exchange.request === null || exchange.isDropped) return;
    toClient(
      notificationMessage(METHODS.progress, { progressToken, progress: 0, ...progress }),
      exchange.request,
    );
  },
});

/** A layer that raises has refused the call like any other. */
function refusedWith(thrown: unknown): ToolResult {
  if (isAlliumError(thrown) && thrown.result !== undefined) return thrown.result;
  throw thrown;
}

/** The answer to a call whose approval is still pending: the same question is not asked twice. */
function stillWaiting(
  { wait: id, kind }: KeptWaiting,
  name: string,
  isModern: boolean,
): JsonObject {
  return {
    content: [{ type: 'text', text: waitingText(name, kind) }],
    isError: true,
    _meta: { 'allium/status': kind, 'allium/executed': 'no', 'allium/approval': id },
    ...(isModern ? { resultType: 'complete' } : {}),
  };
}
