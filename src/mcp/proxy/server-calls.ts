/** The bottom of the stack: a call goes to the server, in as many rounds as the server wants. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { oneLine } from '../../core/contract/errors.ts';
import type { AbortSource } from '../../core/time/abort.ts';
import { abortOfRunning, changeWhileRunning } from '../../dispatch/run/under-way.ts';
import {
  definitionChanged,
  type ToolContext,
  type ToolExecutor,
  type ToolOutput,
  toolFailure,
} from '../../tools/tool.ts';
import { serverAnswer } from './call-result.ts';
import { clientIsThere, type Exchange, type Exchanges } from './exchange.ts';
import { GoneError, type Outgoing, progressIn } from '../outgoing.ts';
import { hasMembers, METHODS, objectAt, type WireMessage } from '../wire.ts';

export interface ServerCallParts {
  readonly exchanges: Exchanges;
  readonly server: Outgoing;
  /** Puts the server's questions to the client, and gives its answers. */
  readonly ask: (
    exchange: Exchange,
    questions: JsonObject,
    signal: AbortSignal,
  ) => Promise<JsonObject>;
  /**
   * Sees to it that the newest list of the server is known; `null` where it is. Rejects where that
   * cannot be.
   */
  readonly upToDate: (
    exchange: Exchange,
    toolName: string,
    abort: AbortSource,
  ) => Promise<void> | null;
  /** `null` where spans are not made. */
  readonly around: () => Around | null;
}

/** Puts a span around the sending of a call. */
export type Around = (
  exchange: Exchange,
  toolName: string,
  send: (meta: JsonObject) => Promise<WireMessage>,
) => Promise<WireMessage>;

/** The most rounds of questions for one call. */
const MAX_ROUNDS = 32;

/** The executor of every tool of the server behind the proxy. */
export interface ServerExecutor extends ToolExecutor {
  /** Progress that the server tells of. Goes through the layers like a tool's own. */
  progress(exchange: Exchange, params: JsonObject): void;
}

export function serverExecutor(parts: ServerCallParts): ServerExecutor {
  return {
    kind: 'mcp_server',
    progress: ({ report }, params) => report?.(progressIn(params)),
    async execute({ tool, args, context }) {
      const exchange = parts.exchanges.byCall(context.callId);
      const abort = abortOfRunning(context);
      if (exchange === undefined)
        throw toolFailure('Nobody waits for this call any more.', { executed: 'no' });
      // It may have been allowed while its client was away: it runs for a client that is there.
      if (exchange.request === null) await clientIsThere(exchange, abort);
      exchange.report = context.report;
      const call = { exchange, name: tool.name, args: args as JsonObject, context, abort };
      try {
        return await outputOf(call, parts, null, 0);
      } catch (thrown) {
        throw thrown instanceof GoneError ? lost(thrown) : thrown;
      } finally {
        exchange.report = null;
      }
    },
  };
}

interface RunningCall {
  readonly exchange: Exchange;
  readonly name: string;
  readonly args: JsonObject;
  readonly context: ToolContext;
  readonly abort: AbortSource;
}

/** What the server answers to a round, or to the last of the rounds that it asks for. */
const outputOf = (
  call: RunningCall,
  parts: ServerCallParts,
  round: JsonObject | null,
  count: number,
): Promise<ToolOutput> =>
  sent(call, parts, round).then((message) => {
    const { exchange, name, abort } = call;
    const raw = resultIn(message, exchange);
    if (raw.resultType === 'task' || isObject(raw.task))
      throw toolFailure(NO_TASKS, { executed: 'unknown' });
    if (raw.resultType !== 'input_required') {
      exchange.answer = serverAnswer(raw, count > 0);
      return exchange.answer.output;
    }
    const { requestState } = raw;
    const asked = parts.ask(exchange, objectAt(raw, 'inputRequests'), abort.read());
    return asked.then((inputResponses) => {
      if (count + 1 === MAX_ROUNDS) throw endless(name);
      const next = { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
      return outputOf(call, parts, next, count + 1);
    });
  });

const endless = (name: string): Error =>
  toolFailure(`The server of ${oneLine(name)} asked for more and more input, and was given up.`, {
    executed: 'unknown',
  });

/** Sends one round of a call, once the newest list is known. What is known is not waited for. */
function sent(
  call: RunningCall,
  parts: ServerCallParts,
  round: JsonObject | null,
): Promise<WireMessage> {
  const { exchange } = call;
  const around = parts.around();
  return around === null
    ? sentWith(call, parts, round, exchange.meta)
    : around(exchange, call.name, (meta) => sentWith(call, parts, round, meta));
}

function sentWith(
  call: RunningCall,
  parts: ServerCallParts,
  round: JsonObject | null,
  meta: JsonObject,
): Promise<WireMessage> {
  const reading = parts.upToDate(call.exchange, call.name, call.abort);
  if (reading === null) return sendNow(call, parts, round, meta);
  // From the newest list to the sending nothing is waited for.
  return newestList(reading, call, parts, round !== null).then(() =>
    sendNow(call, parts, round, meta),
  );
}

function sendNow(
  { exchange, name, args, context, abort }: RunningCall,
  { server }: ServerCallParts,
  round: JsonObject | null,
  meta: JsonObject,
): Promise<WireMessage> {
  demandSame(context, round !== null);
  const params = paramsFor(exchange.params, name, args, round, meta);
  return server.request(METHODS.callTool, params, { abort });
}

/** Waits until the newest list is known: by the time it was read, it may be out of date again. */
async function newestList(
  first: Promise<void>,
  { exchange, name, abort }: RunningCall,
  { upToDate }: ServerCallParts,
  isUnderWay: boolean,
): Promise<void> {
  let reading: Promise<void> | null = first;
  for (let tries = 0; tries < MAX_ROUNDS; tries += 1) {
    await reading.catch((thrown: unknown) => unlisted(thrown, name, abort, isUnderWay));
    reading = upToDate(exchange, name, abort);
    if (reading === null) return;
  }
  unlisted(null, name, abort, isUnderWay);
}

/**
 * Throws where the tool changed since the call was decided about. Runs in the same step as the
 * sending.
 */
function demandSame(context: ToolContext, isUnderWay: boolean): void {
  const change = changeWhileRunning(context);
  if (change === null) return;
  // The server has seen an earlier round, and may have acted on it.
  throw isUnderWay
    ? toolFailure(change.message, { executed: 'unknown', category: 'definition_changed' })
    : definitionChanged(change.message);
}

/** The newest list could not be read, so nothing is sent. */
function unlisted(thrown: unknown, name: string, abort: AbortSource, isUnderWay: boolean): never {
  if (abort.isAborted()) throw thrown;
  throw toolFailure(
    `Whether ${oneLine(name)} is still what it was could not be found out, so nothing was sent. Try again later.`,
    {
      executed: isUnderWay ? 'unknown' : 'no',
      category: 'network',
      errorClass: 'retryable',
    },
  );
}

const NO_TASKS =
  'The server answered with a task. What a task comes to cannot be governed, so tasks are not taken.';

/**
 * A client that sent no arguments need not send any now; without anything in it, `_meta` is left
 * out.
 */
function paramsFor(
  own: JsonObject,
  name: string,
  args: JsonObject,
  round: JsonObject | null,
  meta: JsonObject,
): JsonObject {
  const params: Record<string, JsonValue> = { ...own, name };
  if (own.arguments !== undefined || hasMembers(args)) params.arguments = args;
  if (hasMembers(meta)) params._meta = meta;
  return round === null ? params : { ...params, ...round };
}

const lost = ({ message }: GoneError): Error =>
  toolFailure(
    `The server is gone (${message}). The call may have done its work; check before you try again.`,
    { executed: 'unknown', category: 'network', errorClass: 'fatal' },
  );

/**
 * An error of the protocol goes through the stack as a failure, and is kept to be handed on as what
 * it is.
 */
function resultIn(message: WireMessage, exchange: Exchange): JsonObject {
  const { result, error } = message;
  if (isObject(result)) return result;
  const known: JsonObject = isObject(error) ? error : {};
  const text =
    typeof known.message === 'string' && known.message !== ''
      ? known.message
      : 'The server answered with something that is no result.';
  const thrown = toolFailure(text, { executed: 'unknown', category: 'jsonrpc_error' });
  if (typeof known.code === 'number') exchange.refusal = { error: known, thrown };
  throw thrown;
}
