/** One connection to a server, from its handshake to its end. */

import type { Writable } from 'node:stream';
import {
  Client,
  type ClientOptions,
  type ElicitResult,
  type FetchLike,
  type JSONRPCMessage,
  SdkError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { describeThrown } from '../../core/contract/errors.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import type { Clock } from '../../core/time/clock.ts';
import { followAbort } from '../../core/time/abort.ts';
import { ownVersion } from '../../system/own-package.ts';
import { childTransport } from './child-transport.ts';
import { createOutgoing, type Outgoing } from '../outgoing.ts';
import { MAX_MESSAGE_BYTES, METHODS, paramsOf, type WireMessage } from '../wire.ts';
import type { AskPerson } from './question.ts';
import type { ReportProblem } from './problem.ts';
import type { McpEra, McpTarget } from './target.ts';
import { watchTransport } from './watch-transport.ts';
import { MAX_WIRE_VALUES } from '../../core/json/wide-json.ts';

export interface ConnectionOptions {
  readonly target: McpTarget;
  readonly era: McpEra;
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  readonly stderr: Writable | null;
  readonly ask: AskPerson | null;
  readonly report: ReportProblem;
  /** The server says that its list is another one. */
  readonly onListChanged: () => void;
  /** Nobody wants the connection any more. */
  readonly signal: AbortSignal;
}

export interface Connection {
  readonly client: Client;
  readonly era: 'legacy' | 'modern';
  /**
   * Calls of the older protocol, past the SDK, which makes a timer, a signal and a check for each.
   * The newer one wants what only the SDK knows: headers, and answers that are questions.
   */
  readonly calls: Outgoing;
  /** Whether another call may be sent. */
  isOpen(): boolean;
  /** Whether nothing is left of it. */
  isClosed(): boolean;
  /** Counts a call as under way until `end`, for `retire`. */
  begin(): void;
  end(): void;
  /** Takes no more calls, and closes when those under way have ended. */
  retire(): void;
  close(): Promise<void>;
}

const MODERN = '2026-07-28';
/**
 * A program that does not know the question may be silent. What it is asked next is heard even so.
 */
const PROBE_MS = 5000;
/** A server may take its time to forget a session; nobody has to wait for that. */
const GOODBYE_MS = 1000;

/**
 * Connects. `auto` asks in place which protocol the server speaks, at the cost of one message; a
 * server that a question before the handshake kills, or silences, is started once more and spoken
 * to as an older one.
 */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { era, target, signal } = options;
  try {
    return await connect(options, era);
  } catch (thrown) {
    // An address was judged by its answer; a program that cannot be started cannot be started
    // twice.
    if (era !== 'auto' || 'url' in target || !(thrown instanceof SdkError) || signal.aborted)
      throw thrown;
    return connect(options, 'legacy');
  }
}

async function connect(options: ConnectionOptions, era: McpEra): Promise<Connection> {
  const { connectTimeoutMs, target, ask, report } = options;
  const transport = transportFor(options);
  // A message of the SDK's and one of ours are the same JSON.
  const calls = createOutgoing(
    (message) => watched.send(message as unknown as JSONRPCMessage),
    CANCELLED,
  );
  const watched = watchTransport(transport, (message) => isOfCalls(calls, message as WireMessage));
  const client = new Client({ name: 'allium', version: ownVersion() }, clientOptions(options, era));
  // What comes here quotes what the server has sent.
  client.onerror = () => {};
  if (ask !== null) answerQuestions(client, target.name, ask, report);
  const stop = followAbort(options.signal, () => void transport.close().catch(() => {}));
  try {
    await client.connect(watched, { timeout: connectTimeoutMs });
  } catch (thrown) {
    await transport.close().catch(() => {});
    throw thrown;
  } finally {
    stop();
  }
  return connectionOf(client, transport, calls, options);
}

/** In the place of the reason that the caller gave, which stays here. */
export const CANCELLED = 'the caller does not wait any more';

const isOfCalls = (calls: Outgoing, message: WireMessage): boolean =>
  message.method === undefined
    ? calls.settle(message)
    : message.method === METHODS.progress && calls.progressed(paramsOf(message));

function clientOptions(
  { target, connectTimeoutMs, ask, onListChanged }: ConnectionOptions,
  era: McpEra,
): ClientOptions {
  const mode = era === 'modern' ? { pin: MODERN } : era;
  // An address that is silent is not there.
  const timeoutMs = 'url' in target ? connectTimeoutMs : Math.min(PROBE_MS, connectTimeoutMs);
  return {
    capabilities: ask === null ? {} : { elicitation: { form: {} } },
    versionNegotiation: { mode, probe: { timeoutMs } },
    // Without somebody to ask, an answer that wants to be asked again is an end.
    inputRequired: { autoFulfill: ask !== null },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged } },
  };
}

function transportFor({ target, clock, stderr }: ConnectionOptions): Transport {
  if ('command' in target) return childTransport(target, { clock, stderr });
  if ('transport' in target) return target.transport();
  const { url, headers } = target;
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch,
    ...(headers === undefined ? {} : { requestInit: { headers: { ...headers } } }),
  });
}

function connectionOf(
  client: Client,
  transport: Transport,
  calls: Outgoing,
  { clock, report }: ConnectionOptions,
): Connection {
  let state: 'open' | 'retired' | 'closed' = 'open';
  let underWay = 0;
  let closing: Promise<void> | undefined;
  client.onclose = () => {
    if (state === 'open') report('connection_lost', 'the connection was lost');
    state = 'closed';
    calls.fail('the connection was lost');
  };
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      if (state === 'open') state = 'retired';
      if (transport instanceof StreamableHTTPClientTransport) await goodbye(transport, clock);
      await client.close();
    })());
  return {
    client,
    era: client.getProtocolEra() ?? 'legacy',
    calls,
    isOpen: () => state === 'open',
    isClosed: () => state === 'closed',
    begin: () => void (underWay += 1),
    end() {
      underWay -= 1;
      if (state === 'retired' && underWay === 0) void close().catch(() => {});
    },
    retire() {
      if (state === 'open') state = 'retired';
      if (underWay === 0) void close().catch(() => {});
    },
    close,
  };
}

async function goodbye(transport: StreamableHTTPClientTransport, clock: Clock): Promise<void> {
  let takeBack = () => {};
  const late = new Promise<void>((resolve) => {
    takeBack = clock.after(GOODBYE_MS, resolve);
  });
  await Promise.race([transport.terminateSession().catch(() => {}), late]);
  takeBack();
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A comma, an opening bracket, an opening brace: what stands before every value but the first. */
const BEFORE_VALUE: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b]);

/**
 * Fails an answer with a message that is larger, or holds more values. Of a stream of events each
 * counts alone: it may be open for days.
 */
const boundedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounding(isEvents)), {
    status,
    statusText,
    headers,
  });
};

function bounding(isEvents: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let values = 0;
  let isLineEmpty = true;
  let isText = false;
  let isEscaped = false;
  const take = (byte: number): void => {
    // An empty line ends an event.
    if (isEvents && byte === LINE_FEED && isLineEmpty) {
      bytes = 0;
      values = 0;
      isText = false;
    }
    if (byte !== CARRIAGE_RETURN) isLineEmpty = byte === LINE_FEED;
    bytes += 1;
    if (byte === QUOTE && !isEscaped) isText = !isText;
    else if (!isText && BEFORE_VALUE.has(byte)) values += 1;
    isEscaped = isText && byte === BACKSLASH && !isEscaped;
  };
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) take(byte);
      if (bytes > MAX_MESSAGE_BYTES)
        controller.error(new Error(`an answer has more than ${MAX_MESSAGE_BYTES} bytes`));
      else if (values > MAX_WIRE_VALUES)
        controller.error(new Error(`an answer holds more than ${MAX_WIRE_VALUES} values`));
      else controller.enqueue(chunk);
    },
  });
}

/** Answers questions of the server through `ask`. What is no answer is a cancelled question. */
function answerQuestions(
  client: Client,
  server: string,
  ask: AskPerson,
  report: ReportProblem,
): void {
  client.setRequestHandler(
    METHODS.elicit,
    async ({ params }, { mcpReq: { signal } }): Promise<ElicitResult> => {
      try {
        if (!('requestedSchema' in params)) return { action: 'decline' };
        const schema = snapshotObject(params.requestedSchema);
        const answer: unknown = await ask({ server, message: params.message, schema, signal });
        if (isAnswer(answer)) return answer;
        report('question_failed', 'onElicit answered with no answer');
      } catch (thrown) {
        report('question_failed', `onElicit failed: ${describeThrown(thrown)}`);
      }
      return { action: 'cancel' };
    },
  );
}

const isAnswer = (value: unknown): value is ElicitResult =>
  isObject(value) &&
  (value.action === 'accept'
    ? isObject(value.content)
    : value.action === 'decline' || value.action === 'cancel');
