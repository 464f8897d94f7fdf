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
  toolFailure,
} from '../../tools/tool.ts';
import { serverAnswer } from './call-result.ts';
import { clientIsThere, type Exchange, type Exchanges } from './exchange.ts';
import { GoneError, type Outgoing } from './outgoing.ts';
import { objectAt, type WireMessage } from '../wire.ts';

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
  /** Sends a call, with a span around it where spans are made. */
  readonly around: (
    exchange: Exchange,
    toolName: string,
    send: (meta: JsonObject) => Promise<WireMessage>,
  ) => Promise<WireMessage>;
}

/** A server that asks more often than this does not want to answer. */
const MAX_ROUNDS = 32;

/** The reporters of the calls that have reached the server, by call. */
export interface ServerExecutor extends ToolExecutor {
  /** Progress that the server tells of. Goes through the layers like a tool's own. */
  progress(exchange: Exchange, params: JsonObject): void;
}

export function serverExecutor(parts: ServerCallParts): ServerExecutor {
  const reporters = new Map<string, (params: JsonObject) => void>();
  return {
    kind: 'mcp_server',
    progress: ({ callId }, params) => reporters.get(callId)?.(params),
    async execute({ tool, args, context }) {
      const exchange = parts.exchanges.byCall(context.callId);
      const abort = abortOfRunning(context);
      if (exchange === undefined)
        throw toolFailure('Nobody waits for this call any more.', { executed: 'no' });
      // It may have been allowed while its client was away: it runs for a client that is there.
      if (exchange.request === null) await clientIsThere(exchange, abort);
      // The stack changes only the numbers and the text; it is told only what it can read.
      reporters.set(exchange.callId, ({ progress, total, message }) =>
        context.report({
          ...(typeof progress === 'number' ? { progress } : {}),
          ...(typeof total === 'number' ? { total } : {}),
          ...(typeof message === 'string' ? { message } : {}),
        }),
      );
      try {
        const call = { exchange, name: tool.name, args: args as JsonObject, context, abort };
        return await inRounds(call, parts);
      } finally {
        reporters.delete(exchange.callId);
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

async function inRounds(call: RunningCall, parts: ServerCallParts): Promise<unknown> {
  const { exchange, name, args, context, abort } = call;
  let round: JsonObject | null = null;
  for (let count = 0; count < MAX_ROUNDS; count += 1) {
    const message = await parts
      .around(exchange, name, async (meta) => {
        await newestList(call, parts, count > 0);
        // From here to the sending nothing is waited for.
        demandSame(context, count > 0);
        const params = paramsFor(exchange.params, name, args, round, meta);
        return parts.server.request('tools/call', params, { abort });
      })
      .catch(lost);
    const raw = resultIn(message, exchange);
    if (raw.resultType === 'task' || isObject(raw.task))
      throw toolFailure(NO_TASKS, { executed: 'unknown' });
    if (raw.resultType !== 'input_required') {
      exchange.answer = serverAnswer(raw, count > 0);
      return exchange.answer.output;
    }
    const inputResponses = await parts.ask(exchange, objectAt(raw, 'inputRequests'), abort.read());
    const { requestState } = raw;
    round = { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
  }
  throw toolFailure(
    `The server of ${oneLine(name)} asked for more and more input, and was given up.`,
    { executed: 'unknown' },
  );
}

/** Waits until the newest list is known: by the time it was read, it may be out of date again. */
async function newestList(
  { exchange, name, abort }: RunningCall,
  { upToDate }: ServerCallParts,
  isUnderWay: boolean,
): Promise<void> {
  for (let tries = 0; tries < MAX_ROUNDS; tries += 1) {
    const reading = upToDate(exchange, name, abort);
    if (reading === null) return;
    await reading.catch((thrown: unknown) => unlisted(thrown, name, abort, isUnderWay));
  }
  unlisted(null, name, abort, isUnderWay);
}

/**
 * In the same step as the sending: whoever was asked about this call was asked about the tool as it
 * was then.
 */
function demandSame(context: ToolContext, isUnderWay: boolean): void {
  const change = changeWhileRunning(context);
  if (change === null) return;
  // The server has seen an earlier round, and may have acted on it.
  throw isUnderWay
    ? toolFailure(change.message, { executed: 'unknown', category: 'definition_changed' })
    : definitionChanged(change.message);
}

/** What the tool is now cannot be told, so nothing is sent. */
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
  if (own.arguments !== undefined || Object.keys(args).length > 0) params.arguments = args;
  if (Object.keys(meta).length > 0) params._meta = meta;
  return round === null ? params : { ...params, ...round };
}

function lost(thrown: unknown): never {
  if (!(thrown instanceof GoneError)) throw thrown;
  throw toolFailure(
    `The server is gone (${thrown.message}). The call may have done its work; check before you try again.`,
    { executed: 'unknown', category: 'network', errorClass: 'fatal' },
  );
}

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
