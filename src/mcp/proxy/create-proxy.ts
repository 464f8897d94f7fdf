/** `createProxy`: any MCP client, any MCP server, a stack between them. */

import { type Clock, systemClock } from '../../core/time/clock.ts';
import type { ApprovalPrompt } from '../../approvals/question.ts';
import { type CreateId, randomId, type Turn } from '../../core/contract/call.ts';
import type { ToolCaller, ToolLayer } from '../../core/contract/layer.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { composeToolCallers } from '../../core/onion/compose.ts';
import {
  type GovernedTools,
  type GovernOptions,
  governTools,
} from '../../dispatch/govern-tools.ts';
import type { DispatchLimits } from '../../dispatch/intake/limits.ts';
import { memoryApprovals } from '../../approvals/store/approval-stores.ts';
import { type ApprovalStore, withRoute } from '../../approvals/store/approval.ts';
import type { CatalogOptions } from './catalog.ts';
import { type ConnectionParts, governedRelay } from './connection.ts';
import type { Link } from './link.ts';
import { type Relay, relay, type RelayEnd } from './relay.ts';
import { readMessage } from '../../core/wire/json-rpc.ts';
import { splitLines } from '../../system/lines.ts';
import { pendingRequests } from '../../system/pending-requests.ts';
import {
  CODES,
  errorMessage,
  kindOf,
  MAX_LINE_BYTES,
  type RequestId,
  type WireMessage,
} from '../wire.ts';
import { proxySpans } from './spans.ts';

/** The stack of a proxy, as `loadConfig` gives it. */
export interface ProxyStack {
  readonly layers: readonly ToolLayer[];
  readonly session?: Partial<Turn>;
  readonly limits?: DispatchLimits;
  govern(overrides: Partial<GovernOptions>): GovernedTools;
  close(): Promise<void>;
}

export interface ProxyOptions extends CatalogOptions {
  /** Opens a connection to the server. Every client gets one of its own. */
  readonly upstream: () => Link;
  /**
   * Outermost first; or a file that `loadConfig` has read. Without any layer messages are only
   * forwarded.
   */
  readonly stack: ProxyStack | readonly (ToolLayer | ToolCaller)[];
  /** Keeps the calls that wait for a decision, where the stack does not. @default in memory */
  readonly approvals?: ApprovalStore;
  /** Channels to ask people on, beside the client's own. @default none */
  readonly prompts?: readonly ApprovalPrompt[];
  /** What calls belong to. @default a session of its own for every proxy */
  readonly session?: Partial<Turn>;
  /** How long a client may take to come back with an answer, in milliseconds. @default 600_000 */
  readonly returnMs?: number;
  /**
   * How long a client that waits for an answer is kept waiting for a person, in milliseconds; then
   * the call waits in the queue. @default 50_000
   */
  readonly patienceMs?: number;
  /**
   * How long a call waits for an answer from the queue where nobody can be asked, in milliseconds.
   * @default 0
   */
  readonly waitMs?: number;
  /** Told what was dropped or hidden, without its content. @default a warning of the process */
  readonly report?: (problem: string) => void;
  readonly clock?: Clock;
  readonly createId?: CreateId;
}

export interface Proxy {
  /**
   * Puts the stack between this client and a server of its own. Resolves when both are connected.
   */
  connect(client: Link): Promise<Relay>;
  /** Ends every connection, waits for calls to end, and closes the stack. */
  close(): Promise<void>;
}

const EXPECTED = {
  upstream: expected.required(expected.function),
  stack: expected.required({
    text: 'a list of layers, or a loaded file',
    test: (value: unknown) => typeof value === 'object' && value !== null,
  }),
  approvals: expected.object,
  prompts: expected.listOf(expected.function),
  session: expected.object,
  returnMs: expected.integer(1),
  patienceMs: expected.integer(1),
  waitMs: expected.integer(0),
  report: expected.function,
  onBadSchema: expected.oneOf('hide', 'pass'),
  trustAnnotations: expected.boolean,
  clock: expected.object,
  createId: expected.function,
  info: expected.object,
} as const;

const RETURN_MS = 600_000;
/** Clients give up after a minute. */
const PATIENCE_MS = 50_000;

/** Results go to a client that asked for all of them: cutting one is for a layer to decide. */
const WHOLE = { maxPreviewBytes: 33_554_432 };

/** Throws for what a host got wrong. */
export const checkProxyOptions = (owner: string, options: object): void =>
  checkOptions(owner, options, EXPECTED);

/** What every connection of a proxy has in common. */
export function connectionParts(options: ProxyOptions, stack: ProxyStack): ConnectionParts {
  const { clock = systemClock, createId = randomId, report = warn } = options;
  // A pending approval of the proxy is resumed when its client makes the same call again.
  const approvals = withRoute(options.approvals ?? memoryApprovals(), 'client');
  const scrubs = stack.layers.flatMap(({ scrub }) => (scrub === undefined ? [] : [scrub]));
  return {
    govern: (overrides) =>
      stack.govern({
        approvals,
        clock,
        createId,
        limits: { ...WHOLE, ...stack.limits },
        ...overrides,
      }),
    turn: { sessionId: createId(), ...stack.session, ...options.session },
    ...{ approvals, clock, createId, report, spans: proxySpans() },
    prompts: options.prompts ?? [],
    scrub: (text) => scrubs.reduce((clean, scrub) => scrub(clean), text),
    returnMs: options.returnMs ?? RETURN_MS,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    waitMs: options.waitMs ?? 0,
    onBadSchema: options.onBadSchema ?? 'hide',
    trustAnnotations: options.trustAnnotations ?? false,
  };
}

export function createProxy(options: ProxyOptions): Proxy {
  checkProxyOptions('createProxy', options);
  const { upstream, report = warn } = options;
  const stack = isList(options.stack) ? stackOf(options.stack) : options.stack;
  const parts = connectionParts(options, stack);
  const open = new Set<Relay>();
  return Object.freeze<Proxy>({
    async connect(client) {
      const server = upstream();
      const connected = await (stack.layers.length > 0
        ? governedRelay(client, server, parts)
        : client.sendChunk !== undefined && server.sendChunk !== undefined
          ? byteRelay(client, server)
          : relay(client, server, {}, report));
      open.add(connected);
      void connected.ended.then(() => open.delete(connected));
      return connected;
    },
    async close() {
      await Promise.all([...open].map((each) => each.close()));
      await stack.close();
    },
  });
}

const isList = (stack: ProxyOptions['stack']): stack is readonly (ToolLayer | ToolCaller)[] =>
  Array.isArray(stack);

const warn = (problem: string): void => process.emitWarning(problem, 'AlliumWarning');

/** The layers are shared by all connections, and closed once, when the proxy is. */
function stackOf(given: readonly (ToolLayer | ToolCaller)[]): ProxyStack {
  const { layers } = composeToolCallers(given);
  const made: GovernedTools[] = [];
  return {
    layers,
    govern(overrides) {
      const governed = governTools({ tools: [], layers, ...overrides });
      made.push(governed);
      return governed;
    },
    async close() {
      await Promise.all(made.map((governed) => governed.close()));
    },
  };
}

/** Some hundred calls, which are read in a moment. */
const MAX_UNREAD_BYTES = 32 * 1024;

/**
 * Forwards first and reads afterwards, and only to know which requests are open: when the server
 * goes away, they are answered for it. Both links must be of bytes.
 */
export async function byteRelay(client: Link, server: Link): Promise<Relay> {
  const open = pendingRequests<RequestId>();
  let finish: (end: RelayEnd) => void = () => {};
  const ended = new Promise<RelayEnd>((resolve) => void (finish = resolve));
  let isOver = false;
  let unread: (() => void)[] = [];
  let unreadBytes = 0;
  const readAll = (): void => {
    for (const read of unread) read();
    unread = [];
    unreadBytes = 0;
  };
  /** Many at a time: to read a request while its answer is on the way would keep that waiting. */
  const later =
    (read: (chunk: Uint8Array) => void) =>
    (chunk: Uint8Array): void => {
      unread.push(() => read(chunk));
      unreadBytes += chunk.length;
      if (unreadBytes >= MAX_UNREAD_BYTES) readAll();
    };
  const end = (by: RelayEnd['by'], why: string): void => {
    if (isOver) return;
    isOver = true;
    readAll();
    const unanswered = by === 'server' ? open.all() : [];
    for (const id of unanswered)
      client.send({ message: errorMessage(id, CODES.internal, `the server is gone: ${why}`) });
    void Promise.allSettled([client.close(), server.close()]).then(() => finish({ by, why }));
  };
  // Requests and responses have an id: that is how the kind is told.
  const asked = reader((message) => {
    const id = message.id as RequestId;
    if (kindOf(message) === 'request') open.add(id, id);
  });
  const answered = reader((message) => {
    if (kindOf(message) === 'response') open.take(message.id);
  });
  await server.start({
    ...carrying(server, client, later(answered)),
    onClose: (why) => end('server', why),
  });
  await client.start({
    ...carrying(client, server, later(asked)),
    onClose: (why) => end('client', why),
  });
  return {
    toClient: (message) => void client.send({ message }),
    toServer: (message) => void server.send({ message }),
    isOpen(id) {
      readAll();
      return open.get(id) !== undefined;
    },
    ended,
    async close() {
      end('close', 'closed');
      await ended;
    },
  };
}

const carrying = (from: Link, to: Link, read: (chunk: Uint8Array) => void) => ({
  onFrame: () => {},
  onGarbage: () => {},
  onChunk(chunk: Uint8Array): void {
    if (to.sendChunk?.(chunk) === false) {
      from.pause();
      to.onDrain(() => from.resume());
    }
    read(chunk);
  },
});

function reader(onMessage: (message: WireMessage) => void): (chunk: Uint8Array) => void {
  return splitLines({
    maxBytes: MAX_LINE_BYTES,
    tellLong: 'at_once',
    onLine(line) {
      const reading = readMessage(line);
      if ('message' in reading) onMessage(reading.message);
    },
    onLongLine: () => {},
  });
}
