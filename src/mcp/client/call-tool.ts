/** One call to one tool of a server: sent once, and answered or accounted for. */

import {
  type CallToolRequestParams,
  type ProgressCallback,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Tool as SentTool,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../../core/json/json-value.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import { type AbortSource, waitWithin } from '../../core/time/abort.ts';
import { abortOfRunning } from '../../dispatch/run/under-way.ts';
import {
  definitionChanged,
  type ToolContext,
  toolFailure,
  type ToolOutput,
} from '../../tools/tool.ts';
import { CANCELLED, type Connection } from './connection.ts';
import { progressIn } from '../outgoing.ts';
import type { KeptConnection } from './kept-connection.ts';
import { AS_SENT } from './list-tools.ts';
import { readAnswer } from '../read-answer.ts';
import type { McpTarget } from './target.ts';
import { describeThrown } from '../../core/contract/errors.ts';
import { isOwnAnswer, isUnsent } from './watch-transport.ts';
import { context, isSpanContextValid, trace, TraceFlags } from '@opentelemetry/api';
import { METHODS } from '../wire.ts';

/**
 * How long a call may take is for the layers around it to say. What a timer can hold: a longer one
 * would ring at once.
 */
const NO_TIMEOUT = 2 ** 31 - 1;

export interface CallParts {
  readonly target: McpTarget;
  readonly link: KeptConnection;
  /** As the server calls it. */
  readonly tool: string;
  /** The input schema that the server gave last, if it has the tool. */
  readonly schema: () => unknown;
  /** Reads a list that is said to have changed; `null` where none is. */
  readonly caughtUp: () => Promise<void> | null;
  /** Why the tool must not be called. Asked when there is a connection. */
  readonly objection: () => string | null;
}

export async function callTool(
  { target, link, tool, schema, objection, caughtUp }: CallParts,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<ToolOutput> {
  const abort = abortOfRunning(context);
  const params = paramsFor(tool, args);
  const connection = await readyConnection(link, caughtUp, abort);
  // From here to the sending nothing is waited for.
  const against = objection();
  if (against !== null) throw definitionChanged(against);
  if (abort.isAborted())
    throw toolFailure('The call was taken back before it was sent.', {
      executed: 'no',
      category: 'cancelled',
    });
  describeOnSpan(target, connection.client.getNegotiatedProtocolVersion());
  connection.begin();
  let answer: unknown;
  try {
    answer = await send(connection, params, context, schema());
  } catch (thrown) {
    if (isConnectionFailure(thrown) && !abort.isAborted()) connection.retire();
    throw callFailure(target.name, thrown);
  } finally {
    connection.end();
  }
  link.noteAnswer();
  try {
    return readAnswer(answer, { blocks: 'replace', ignoresNull: false });
  } catch {
    throw unreadable(target.name);
  }
}

/**
 * A connection, with the newest list that its server has told of. Both may take time, in which the
 * other one is lost; where neither does, there is nothing to wait for.
 */
function readyConnection(
  link: KeptConnection,
  caughtUp: CallParts['caughtUp'],
  abort: AbortSource,
): Connection | Promise<Connection> {
  const connection = link.current();
  const reading = connection === null ? null : caughtUp();
  return connection === null || reading !== null
    ? awaitConnection(link, caughtUp, abort.read(), reading)
    : connection;
}

async function awaitConnection(
  link: KeptConnection,
  caughtUp: CallParts['caughtUp'],
  signal: AbortSignal,
  first: Promise<void> | null,
): Promise<Connection> {
  if (first !== null) await waitWithin(signal, () => first).catch(unlisted);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const connection = await link.use(signal);
    const reading = caughtUp();
    if (reading === null) return connection;
    await waitWithin(signal, () => reading).catch(unlisted);
  }
  return unlisted();
}

const MAX_TRIES = 8;

/** The server said that its tools changed, and what they are now cannot be told. */
function unlisted(): never {
  throw toolFailure(
    'The server says that its tools have changed, and the new list could not be read. Nothing was sent.',
    {
      ...{ executed: 'no', category: 'network', errorClass: 'retryable' },
    },
  );
}

function paramsFor(name: string, args: Readonly<Record<string, unknown>>): CallToolRequestParams {
  try {
    return { name, arguments: { ...snapshotObject(args) }, _meta: { ...traceMeta() } };
  } catch {
    throw toolFailure('The arguments cannot be sent: they are not JSON.', {
      executed: 'no',
      category: 'not_json',
      errorClass: 'fatal',
    });
  }
}

/**
 * Without the SDK's check of the answer against the output schema: it throws for a tool that has
 * run, and the dispatcher checks the same and says so. The newer protocol may want arguments
 * repeated as headers, for which the SDK has to know the input schema.
 */
async function send(
  { client, era, calls }: Connection,
  params: CallToolRequestParams,
  context: ToolContext,
  schema: unknown,
): Promise<unknown> {
  const abort = abortOfRunning(context);
  if (era === 'legacy') {
    // Text, and what was copied as JSON.
    const request = params as unknown as JsonObject;
    const { result, error } = await calls.request(METHODS.callTool, request, {
      abort,
      onProgress: context.report,
    });
    if (isObject(error)) throw errorOf(error);
    return result;
  }
  const cancel = new AbortController();
  const stop = abort.follow(() => cancel.abort(CANCELLED));
  const onprogress: ProgressCallback = ({ progress, total, message }) =>
    context.report(progressIn({ progress, total, message } as JsonObject)); // Absent stays absent.
  const options = { signal: cancel.signal, timeout: NO_TIMEOUT, onprogress };
  try {
    if (!isObject(schema))
      return await client.request({ method: METHODS.callTool, params }, AS_SENT, options);
    // The SDK looks for marks in it and reads nothing else.
    const toolDefinition = { name: params.name, inputSchema: schema as SentTool['inputSchema'] };
    return await client.callTool(params, { ...options, toolDefinition });
  } finally {
    stop();
  }
}

const errorOf = ({ code, message, data }: JsonObject): ProtocolError =>
  new ProtocolError(Number(code), typeof message === 'string' ? message : '', data);

/**
 * Codes that no tool has run behind: parse error, unknown method, header mismatch, unknown
 * protocol. Not among them: invalid params.
 */
const NOT_RUN = new Set<number>([-32_700, -32_601, -32_020, -32_022]);

/** The failure to throw in the place of what was thrown. */
function callFailure(server: string, thrown: unknown): Error {
  if (isUnsent(thrown)) return notSent(server);
  if (isOwnAnswer(thrown, 'streamEnded')) return lost(server);
  if (isOwnAnswer(thrown, 'unreadable')) return unreadable(server);
  if (thrown instanceof ProtocolError) return refused(server, thrown);
  if (thrown instanceof SdkError) return broken(server, thrown);
  return lost(server);
}

/** Whether the connection cannot be trusted with another call. */
const isConnectionFailure = (thrown: unknown): boolean =>
  isUnsent(thrown) ||
  isOwnAnswer(thrown, 'streamEnded') ||
  !(thrown instanceof ProtocolError || (thrown instanceof SdkError && ANSWERED.has(thrown.code)));

/** The server has answered, or nobody wanted to wait any longer. */
const ANSWERED = new Set<string>([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.CapabilityNotSupported,
  SdkErrorCode.InputRequiredRoundsExceeded,
  SdkErrorCode.RequestTimeout,
]);

const notSent = (server: string): Error =>
  toolFailure(
    `The server "${server}" could not be reached or did not take the call. Nothing was done; the call can be tried again later.`,
    {
      executed: 'no',
      category: 'network',
      errorClass: 'retryable',
    },
  );

const lost = (server: string): Error =>
  toolFailure(
    `The connection to "${server}" broke before the answer. The tool may have done its work; check before you try again.`,
    {
      executed: 'unknown',
      category: 'network',
      errorClass: 'retryable',
    },
  );

/** The tool ran: its server has answered, whatever can be made of the answer. */
const unreadable = (server: string): Error =>
  toolFailure(
    `The server "${server}" answered with something that cannot be read. The tool has run; do not repeat the call.`,
    {
      executed: 'yes',
      category: 'invalid_answer',
      errorClass: 'fatal',
    },
  );

/** An answer of the server, in its own words. */
function refused(server: string, error: ProtocolError): Error {
  return toolFailure(`The server "${server}" refused or failed: ${describeThrown(error)}`, {
    executed: NOT_RUN.has(error.code) ? 'no' : 'unknown',
    category: 'protocol_error',
    errorClass: 'repairable',
  });
}

function broken(server: string, { code }: SdkError): Error {
  if (code === SdkErrorCode.InvalidResult) return unreadable(server);
  if (!ANSWERED.has(code) || code === SdkErrorCode.RequestTimeout) return lost(server);
  return toolFailure(
    `The server "${server}" wants something from a person that nobody here can give. It may have begun its work.`,
    {
      executed: 'unknown',
      category: 'input_required',
      errorClass: 'fatal',
    },
  );
}

/**
 * The active span as W3C trace context for `_meta`. Without baggage: it may hold anything, and a
 * server is somebody else.
 */
function traceMeta(): { readonly traceparent?: string; readonly tracestate?: string } {
  const span = trace.getSpanContext(context.active());
  if (span === undefined || !isSpanContextValid(span)) return {};
  const sampled = (span.traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01';
  const tracestate = span.traceState?.serialize();
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${sampled}`,
    ...(tracestate === undefined || tracestate === '' ? {} : { tracestate }),
  };
}

/**
 * What the conventions want to know of a server, on the span that the call has already. The session
 * is not among it: it opens doors.
 */
function describeOnSpan(target: McpTarget, protocolVersion: string | undefined): void {
  const span = trace.getActiveSpan();
  if (span?.isRecording() !== true) return;
  if (protocolVersion !== undefined) span.setAttribute('mcp.protocol.version', protocolVersion);
  if ('command' in target) span.setAttribute('network.transport', 'pipe');
  if (!('url' in target)) return;
  const { hostname, port, protocol } = new URL(target.url);
  span.setAttributes({
    'network.transport': 'tcp',
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  });
}
